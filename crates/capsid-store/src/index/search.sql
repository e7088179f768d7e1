
-- What assets are found by: terms in the order of rank. `rowid` carries score, sequence and type in one number, so that a
-- search reads the best rows first and stops. Assets that are not given out have a table of their own, so that nobody's
-- search passes them. Terms are plain ASCII words. Four segments of one size become one.
CREATE VIRTUAL TABLE found USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE held USING fts5 (
    terms, content = '', contentless_delete = 1, detail = 'none', tokenize = "ascii tokenchars '_'"
);
INSERT INTO found (found, rank) VALUES ('automerge', 4);
INSERT INTO held (held, rank) VALUES ('automerge', 4);
INSERT INTO found (found, rank) VALUES ('usermerge', 2);
INSERT INTO held (held, rank) VALUES ('usermerge', 2);

-- Where each asset is in them: its table and its row there.
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_by_rank ON entries (rank);

-- What assets mean, each as a line of terms, and the words of their cards with spaces around them.
CREATE TABLE meanings (
    seq INTEGER PRIMARY KEY,
    line TEXT NOT NULL,
    words TEXT NOT NULL
) STRICT;

-- How many assets are in the search.
CREATE TABLE indexed (
    one INTEGER PRIMARY KEY,
    assets INTEGER NOT NULL
) STRICT;
INSERT INTO indexed (one, assets) VALUES (1, 0);

-- How far the search follows the logs of the hub's database, and which numbers were missing there.
CREATE TABLE search_positions (
    log TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    -- What stands at that place, so that an older database is told from this one.
    mark TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE search_gaps (
    log TEXT NOT NULL,
    seq INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (log, seq)
) STRICT, WITHOUT ROWID;
