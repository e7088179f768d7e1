-- The knowledge graph. Entities have numbers of this file alone, in the order in which they were first named, so what is
-- new lies at the end of every table. Clients know them by `wire_id`.

-- They go when nobody names them any more.
CREATE TABLE entities (
    id INTEGER PRIMARY KEY,
    -- Follows from kind and key.
    wire_id INTEGER NOT NULL,
    -- signal, error, gene, capsule, event, node, environment, task, or what an ingest calls it.
    kind TEXT NOT NULL,
    -- The normalised name, or the id of an asset, a node or a task.
    key TEXT NOT NULL,
    -- The hash of how the name looks; none for what is known by an id.
    skeleton INTEGER,
    -- How many statements of the hub name it.
    mentions INTEGER NOT NULL,
    -- How many notes and ingested relations name it.
    told INTEGER NOT NULL,
    -- The terms of its name. None for assets, which the search index finds, and nodes, which have ids.
    terms TEXT
) STRICT;
CREATE UNIQUE INDEX entities_by_wire_id ON entities (wire_id);
CREATE INDEX entities_by_key ON entities (key) WHERE kind NOT IN ('gene', 'capsule', 'event');
CREATE INDEX entities_by_skeleton ON entities (kind, skeleton) WHERE skeleton IS NOT NULL;

-- The entities that a term finds, those that are named most first.
CREATE TABLE entity_terms (
    term TEXT NOT NULL,
    -- How many binary digits the number of those has that name it.
    mentions_class INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    PRIMARY KEY (term, mentions_class DESC, entity)
) STRICT, WITHOUT ROWID;

-- The terms of what was told of an entity beside its name.
CREATE TABLE property_terms (
    term TEXT NOT NULL,
    entity INTEGER NOT NULL,
    said_by INTEGER NOT NULL,
    PRIMARY KEY (term, entity, said_by)
) STRICT, WITHOUT ROWID;
CREATE INDEX property_terms_by_source ON property_terms (said_by, entity);

-- Whose word something is: node:…, user:…, or hub.
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- How entities hang together. Each relation has two rows, one seen from each of its ends.
CREATE TABLE edges (
    entity INTEGER NOT NULL,
    -- Twice the lane of the relation, and one more in the row that is seen from the target. Each kind of the hub's own
    -- relations has a lane, and all that was told has one together. Walks follow so many relations of each lane.
    lane INTEGER NOT NULL,
    -- Negative, so that the newest come first; 0 for what is only counted.
    asserted_at INTEGER NOT NULL,
    other INTEGER NOT NULL,
    -- Of what was told; empty where the lane says it.
    kind TEXT NOT NULL,
    asserted_by INTEGER NOT NULL,
    -- The asset that says so, as an entity.
    asset INTEGER,
    -- In millionths.
    confidence INTEGER NOT NULL,
    -- How many statements say so.
    claims INTEGER NOT NULL,
    PRIMARY KEY (entity, lane, asserted_at, other, kind, asserted_by)
) STRICT, WITHOUT ROWID;

-- How many entities and relations of each kind there are. The kind '' has all of them.
CREATE TABLE kind_counts (
    is_relation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (is_relation, kind)
) STRICT, WITHOUT ROWID;

-- What assets, reports, tasks, notes and told relations said when they were last looked at, as JSON. Whatever they say
-- now takes its place.
CREATE TABLE said (
    subject TEXT NOT NULL PRIMARY KEY,
    facts TEXT NOT NULL
) STRICT, WITHOUT ROWID;
