-- What follows from the hub's database: the knowledge graph, and how far it follows. This file may be deleted at any
-- time; the hub makes it again.

-- How far each log of the hub's database was followed.
CREATE TABLE positions (
    log TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    -- What stands at that place, so that an older database is told from this one.
    mark TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Numbers that were missing when their log was followed: another hub may still write them.
CREATE TABLE gaps (
    log TEXT NOT NULL,
    seq INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (log, seq)
) STRICT, WITHOUT ROWID;
