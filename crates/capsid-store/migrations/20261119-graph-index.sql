-- The knowledge graph moves into a file of its own, `index.db`, which follows from what the hub holds. What accounts and
-- nodes told it stays here.

-- What was told of a thing.
CREATE TABLE ingested_notes (
    -- Follows from kind and key.
    entity {int} NOT NULL,
    -- node:… or user:….
    said_by {text} NOT NULL,
    kind {text} NOT NULL,
    key {text} NOT NULL,
    -- The name as it was told.
    name {text} NOT NULL,
    -- A JSON object.
    properties {text},
    confidence {real} NOT NULL,
    said_at {int} NOT NULL,
    PRIMARY KEY (entity, said_by)
){keyed};
CREATE INDEX ingested_notes_by_teller ON ingested_notes (said_by, entity);
INSERT INTO ingested_notes (entity, said_by, kind, key, name, properties, confidence, said_at)
    SELECT n.entity, n.said_by, e.kind, e.key, n.name, n.properties, n.confidence, n.said_at
    FROM graph_notes n JOIN graph_entities e ON e.id = n.entity;

-- What was told of how two things hang together.
CREATE TABLE ingested_relations (
    -- Follows from source, kind, target and said_by.
    id {int} NOT NULL PRIMARY KEY,
    source {int} NOT NULL,
    source_kind {text} NOT NULL,
    source_key {text} NOT NULL,
    kind {text} NOT NULL,
    target {int} NOT NULL,
    target_kind {text} NOT NULL,
    target_key {text} NOT NULL,
    -- node:… or user:….
    said_by {text} NOT NULL,
    -- A JSON object.
    properties {text},
    confidence {real} NOT NULL,
    said_at {int} NOT NULL
){strict};
CREATE INDEX ingested_relations_by_teller ON ingested_relations (said_by, id);
INSERT INTO ingested_relations (id, source, source_kind, source_key, kind, target, target_kind, target_key, said_by,
        properties, confidence, said_at)
    SELECT r.id, r.source, s.kind, s.key, r.kind, r.target, t.kind, t.key, r.said_by, r.properties, r.confidence,
        r.said_at
    FROM graph_relations r JOIN graph_entities s ON s.id = r.source JOIN graph_entities t ON t.id = r.target
    WHERE r.is_told = 1;

DROP TABLE graph_property_words;
DROP TABLE graph_words;
DROP TABLE graph_relations;
DROP TABLE graph_notes;
DROP TABLE graph_entities;

-- What may say something else than before, in the order in which it changed. New assets, reports and tasks are not named
-- here: their numbers tell that they are new. Every hub follows this with an index of its own.
CREATE TABLE changes (
    seq {serial},
    -- A JSON list: assets, reports, tasks, notes and relations.
    subjects {text} NOT NULL,
    created_at {int} NOT NULL
){strict};
