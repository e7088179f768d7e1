-- Questions to validators whose answer the hub knows. Each is a copy of a capsule that the runner reproduced, as it is or
-- with its change emptied, made for one node. It is no asset: nothing that lists or searches assets finds it.
CREATE TABLE audits (
    audit_id {blob} NOT NULL PRIMARY KEY,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    -- The candidate that the node would have been asked about.
    candidate {blob} NOT NULL,
    -- What was copied.
    original {blob} NOT NULL,
    -- Whether its validation passes.
    passes {int} NOT NULL,
    body {text} NOT NULL,
    created_at {int} NOT NULL,
    -- What the node reported, how strong its evidence was, and when.
    overall_ok {int},
    grade {text},
    report {text},
    reported_at {int},
    -- When the report was rewarded, or cost a part of the stake.
    settled_at {int},
    UNIQUE (candidate, node_id)
){strict};
CREATE INDEX audits_by_node ON audits (node_id, reported_at);
CREATE INDEX audits_by_report ON audits (reported_at) WHERE settled_at IS NULL;
