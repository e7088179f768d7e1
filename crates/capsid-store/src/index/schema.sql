-- What follows from the hub's database: the knowledge graph, and how far it follows. This file may be deleted at any
-- time; the hub makes it again.

-- Things. They go when nobody names them any more.
CREATE TABLE entities (
    -- Follows from kind and key.
    id INTEGER PRIMARY KEY,
    -- signal, error, gene, capsule, event, node, environment, task, or what an ingest calls it.
    kind TEXT NOT NULL,
    -- The normalised name, or the id of an asset, a node or a task.
    key TEXT NOT NULL,
    -- The hash of how the name looks; none for what is known by an id.
    looks INTEGER,
    -- How many statements of the hub name it.
    mentions INTEGER NOT NULL,
    -- How many notes and ingested relations name it.
    told INTEGER NOT NULL
) STRICT;
CREATE INDEX entities_by_key ON entities (key);
CREATE INDEX entities_by_kind ON entities (kind, looks);

-- The terms that a thing is found by. Assets are found by the search index, nodes by their ids.
CREATE TABLE entity_terms (
    term TEXT NOT NULL,
    entity INTEGER NOT NULL,
    PRIMARY KEY (term, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_terms_by_entity ON entity_terms (entity);

-- The terms of what was told of a thing beside its name.
CREATE TABLE property_terms (
    term TEXT NOT NULL,
    entity INTEGER NOT NULL,
    -- node:… or user:….
    said_by TEXT NOT NULL,
    PRIMARY KEY (term, entity, said_by)
) STRICT, WITHOUT ROWID;
CREATE INDEX property_terms_by_teller ON property_terms (said_by, entity);

-- How two things hang together, by whose word.
CREATE TABLE relations (
    -- Follows from source, kind, target, said_by and is_told.
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target INTEGER NOT NULL,
    -- node:…, user:…, or hub.
    said_by TEXT NOT NULL,
    -- 0 for what is only counted.
    said_at INTEGER NOT NULL,
    -- The asset that says so.
    asset_id BLOB,
    confidence REAL NOT NULL,
    -- How many statements say so.
    claims INTEGER NOT NULL,
    is_told INTEGER NOT NULL,
    -- Each kind of the hub's own relations has a lane, and all that was told has one together. Walks follow so many
    -- relations of each lane, the newest first.
    lane INTEGER NOT NULL
) STRICT;
CREATE INDEX relations_by_source ON relations (source, lane, said_at, id);
CREATE INDEX relations_by_target ON relations (target, lane, said_at, id);

-- What assets, reports, tasks, notes and told relations said when they were last looked at, as JSON. Whatever they say
-- now takes its place.
CREATE TABLE said (
    subject TEXT NOT NULL PRIMARY KEY,
    facts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
