-- Only the mint may owe, and all accounts together are zero whenever a transaction ends. SQLite has no checks that wait
-- for the end, but its foreign keys can: the sum points to the only number there is.
CREATE TABLE ledger_zero (
    value INTEGER NOT NULL PRIMARY KEY CHECK (value = 0)
) STRICT;
INSERT INTO ledger_zero (value) VALUES (0);
CREATE TABLE ledger_sum (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    value INTEGER NOT NULL REFERENCES ledger_zero (value) DEFERRABLE INITIALLY DEFERRED
) STRICT;
INSERT INTO ledger_sum (id, value) SELECT 1, COALESCE(SUM(balance), 0) FROM accounts;

CREATE TRIGGER accounts_made AFTER INSERT ON accounts BEGIN
    SELECT RAISE(ABORT, 'ledger: only the mint may owe') WHERE NEW.balance < 0 AND NEW.account <> 'mint';
    UPDATE ledger_sum SET value = value + NEW.balance WHERE NEW.balance <> 0;
END;
CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts BEGIN
    SELECT RAISE(ABORT, 'ledger: only the mint may owe') WHERE NEW.balance < 0 AND NEW.account <> 'mint';
    UPDATE ledger_sum SET value = value + NEW.balance - OLD.balance;
END;
CREATE TRIGGER accounts_gone AFTER DELETE ON accounts BEGIN
    UPDATE ledger_sum SET value = value - OLD.balance WHERE OLD.balance <> 0;
END;
