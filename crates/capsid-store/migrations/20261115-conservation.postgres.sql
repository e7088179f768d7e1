-- Only the mint may owe. Whenever a transaction ends, each of its transfers adds up to zero, and each account it touched
-- holds what its newest entry says: then all accounts together are zero, without one row that everybody waits for.
ALTER TABLE accounts ADD CONSTRAINT only_the_mint_may_owe CHECK (balance >= 0 OR account = 'mint');

CREATE FUNCTION transfer_is_even() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT COALESCE(SUM(delta), 0) FROM entries WHERE transfer = NEW.transfer) <> 0 THEN
        RAISE EXCEPTION 'ledger: the entries of transfer % do not add up to zero', NEW.transfer
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER entries_are_even AFTER INSERT OR UPDATE ON entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION transfer_is_even();

CREATE FUNCTION account_is_entered() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held BIGINT;
BEGIN
    SELECT balance INTO held FROM accounts WHERE account = NEW.account;
    IF held <> COALESCE((SELECT balance_after FROM entries WHERE account = NEW.account ORDER BY seq DESC LIMIT 1), 0) THEN
        RAISE EXCEPTION 'ledger: account % holds something else than its entries say', NEW.account
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER accounts_are_entered AFTER INSERT OR UPDATE ON accounts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION account_is_entered();
