-- The knowledge graph. The hub's part of it is a sum of statements: what assets, bundles, reports and tasks say. It can be
-- made again from them. The rest was told by accounts and nodes.

-- Things. They go when nobody names them any more.
CREATE TABLE graph_entities (
    -- Follows from kind and key.
    id {int} NOT NULL PRIMARY KEY,
    -- signal, error, gene, capsule, event, node, environment, task, or what an ingest calls it.
    kind {text} NOT NULL,
    -- The normalised name, or the id of an asset, a node or a task.
    key {text} NOT NULL,
    -- The hash of how the name looks; none for what is known by an id.
    looks {int},
    -- How many statements of the hub name it.
    mentions {int} NOT NULL,
    -- How many notes and ingested relations name it.
    told {int} NOT NULL
){strict};
CREATE INDEX graph_entities_by_key ON graph_entities (key);
CREATE INDEX graph_entities_by_kind ON graph_entities (kind, looks);

-- The terms that a thing is found by. Assets are found by the search index, nodes by their ids.
CREATE TABLE graph_words (
    term {text} NOT NULL,
    entity {int} NOT NULL,
    PRIMARY KEY (term, entity)
){keyed};
CREATE INDEX graph_words_by_entity ON graph_words (entity);

-- How two things hang together, by whose word.
CREATE TABLE graph_relations (
    -- Follows from source, kind, target, said_by and is_told.
    id {int} NOT NULL PRIMARY KEY,
    source {int} NOT NULL,
    kind {text} NOT NULL,
    target {int} NOT NULL,
    -- node:…, user:…, or hub.
    said_by {text} NOT NULL,
    -- 0 for what is only counted.
    said_at {int} NOT NULL,
    -- The asset that says so.
    asset_id {blob},
    confidence {real} NOT NULL,
    -- How many statements say so.
    claims {int} NOT NULL,
    is_told {int} NOT NULL,
    -- Each kind of the hub's own relations has a lane, and all that was told has one together. Walks follow so many
    -- relations of each lane, the newest first.
    lane {int} NOT NULL,
    -- A JSON object, for what was told.
    properties {text}
){strict};
CREATE INDEX graph_relations_by_source ON graph_relations (source, lane, said_at, id);
CREATE INDEX graph_relations_by_target ON graph_relations (target, lane, said_at, id);
CREATE INDEX graph_relations_told ON graph_relations (said_by, id) WHERE is_told = 1;

-- What an ingest says of a thing.
CREATE TABLE graph_notes (
    entity {int} NOT NULL,
    -- node:… or user:….
    said_by {text} NOT NULL,
    -- The name as it was told.
    name {text} NOT NULL,
    -- A JSON object.
    properties {text},
    confidence {real} NOT NULL,
    said_at {int} NOT NULL,
    PRIMARY KEY (entity, said_by)
){keyed};
CREATE INDEX graph_notes_by_teller ON graph_notes (said_by, entity);
