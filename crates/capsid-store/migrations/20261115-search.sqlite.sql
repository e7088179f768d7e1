-- Found by terms, in the order of rank. `rowid` carries the rank: class, score and sequence in one number, so that a
-- search can stop at the first rows it meets. `ranks` tells which rowid an asset has now.
CREATE VIRTUAL TABLE found USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none',
    tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE TABLE ranks (
    seq INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL UNIQUE
) STRICT;
-- Nothing may change what was audited.
CREATE TRIGGER audit_is_kept BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER entries_are_kept BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
