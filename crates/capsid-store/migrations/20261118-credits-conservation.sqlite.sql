-- What was granted adds up to zero over all accounts, as all credits do.
CREATE TABLE granted_sum (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    value INTEGER NOT NULL REFERENCES ledger_zero (value) DEFERRABLE INITIALLY DEFERRED
) STRICT;
INSERT INTO granted_sum (id, value) SELECT 1, COALESCE(SUM(granted), 0) FROM accounts;

CREATE TRIGGER accounts_granted_made AFTER INSERT ON accounts WHEN NEW.granted <> 0 BEGIN
    UPDATE granted_sum SET value = value + NEW.granted;
END;
CREATE TRIGGER accounts_granted_changed AFTER UPDATE OF granted ON accounts WHEN NEW.granted <> OLD.granted BEGIN
    UPDATE granted_sum SET value = value + NEW.granted - OLD.granted;
END;
CREATE TRIGGER accounts_granted_gone AFTER DELETE ON accounts WHEN OLD.granted <> 0 BEGIN
    UPDATE granted_sum SET value = value - OLD.granted;
END;
