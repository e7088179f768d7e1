-- An account's granted part is what its newest entry says, and each entry goes on from the one before by what its
-- transfer moved of it. Both sides of a transfer move the same, so all of it together is zero.
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;

CREATE FUNCTION granted_before(which TEXT, place BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT COALESCE(
        (SELECT granted_after FROM entries WHERE account = which AND seq < place ORDER BY seq DESC LIMIT 1),
        (SELECT granted FROM granted_openings WHERE account = which), 0)
$$;

CREATE OR REPLACE FUNCTION account_is_entered(which TEXT) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT balance FROM accounts WHERE account = which) <>
        COALESCE((SELECT balance_after FROM entries WHERE account = which ORDER BY seq DESC LIMIT 1), 0) THEN
        RAISE EXCEPTION 'ledger: account % holds something else than its entries say', which
            USING ERRCODE = 'check_violation';
    END IF;
    IF (SELECT granted FROM accounts WHERE account = which) <> granted_before(which, 9223372036854775807) THEN
        RAISE EXCEPTION 'ledger: account % has another granted part than its entries say', which
            USING ERRCODE = 'check_violation';
    END IF;
END $$;

CREATE FUNCTION check_granted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved BIGINT := (SELECT granted * SIGN(NEW.delta) FROM transfers WHERE seq = NEW.transfer);
BEGIN
    IF NEW.granted_after IS DISTINCT FROM granted_before(NEW.account, NEW.seq) + moved THEN
        RAISE EXCEPTION 'ledger: the granted part of entry % does not go on from the one before', NEW.seq
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER entries_go_on_granted AFTER INSERT ON entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_granted();
