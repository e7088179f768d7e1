-- Found by terms, in the order of rank. `rowid` carries the rank, score and sequence in one number, so that a search
-- can stop at the first rows it meets. Each type has its own table, and so have assets that are not given out, because
-- a search begins at the end of a table. `ranks` tells where an asset is now. Terms are plain ASCII words.
CREATE VIRTUAL TABLE found_genes USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE found_capsules USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE found_events USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE held_genes USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE held_capsules USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE held_events USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE TABLE ranks (
    seq INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL
) STRICT;
-- How far the index reaches, and over how many assets.
CREATE TABLE indexed (
    one INTEGER NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    assets INTEGER NOT NULL
) STRICT;
INSERT INTO indexed (one, seq, assets) VALUES (1, 0, 0);
CREATE INDEX assets_featured ON assets (status, asset_type, gdi, seq) WHERE trust_tier = 'featured';
CREATE INDEX nodes_overridden ON nodes (reputation_override, node_id) WHERE reputation_override IS NOT NULL;
-- Nothing may change what was audited.
CREATE TRIGGER audit_is_kept BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER entries_are_kept BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
