-- Only the mint may owe. Whenever a transaction ends, each of its transfers adds up to zero, each of its entries goes on
-- from the one before, and each account it touched holds what its newest entry says. Then every account is the sum of
-- its entries and all accounts together are zero, without one row that everybody waits for.
ALTER TABLE accounts ADD CONSTRAINT only_the_mint_may_owe CHECK (balance >= 0 OR account = 'mint');

CREATE FUNCTION account_is_entered(which TEXT) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT balance FROM accounts WHERE account = which) <>
        COALESCE((SELECT balance_after FROM entries WHERE account = which ORDER BY seq DESC LIMIT 1), 0) THEN
        RAISE EXCEPTION 'ledger: account % holds something else than its entries say', which
            USING ERRCODE = 'check_violation';
    END IF;
END $$;

CREATE FUNCTION check_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT COALESCE(SUM(delta), 0) FROM entries WHERE transfer = NEW.transfer) <> 0 THEN
        RAISE EXCEPTION 'ledger: the entries of transfer % do not add up to zero', NEW.transfer
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.balance_after <> NEW.delta + COALESCE((SELECT balance_after FROM entries
            WHERE account = NEW.account AND seq < NEW.seq ORDER BY seq DESC LIMIT 1), 0) THEN
        RAISE EXCEPTION 'ledger: entry % does not go on from the one before', NEW.seq
            USING ERRCODE = 'check_violation';
    END IF;
    PERFORM account_is_entered(NEW.account);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER entries_are_even AFTER INSERT ON entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_entry();

CREATE FUNCTION check_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_is_entered(NEW.account);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER accounts_are_entered AFTER INSERT OR UPDATE ON accounts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_account();
