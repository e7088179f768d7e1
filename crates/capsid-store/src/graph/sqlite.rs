//! The statements over what was told, and over what the graph names, in SQLite. Lists come as JSON.

use super::GraphSql;

pub const TEXTS: GraphSql = GraphSql {
    assets: "SELECT a.asset_id, a.status, a.trust_tier, a.card FROM assets a
        WHERE a.asset_id IN (SELECT unhex(j.value) FROM json_each($1) j) AND a.scan_version > 0",
    asset_states: "SELECT a.asset_id, a.status, a.trust_tier FROM assets a
        WHERE a.asset_id IN (SELECT unhex(j.value) FROM json_each($1) j) AND a.scan_version > 0",
    node_ids: "SELECT n.node_id FROM nodes n WHERE n.node_id IN (SELECT j.value FROM json_each($1) j)",
    task_ids: "SELECT t.task_id FROM tasks t WHERE t.task_id IN (SELECT j.value FROM json_each($1) j)",
    nodes: "SELECT n.node_id, n.name FROM nodes n WHERE n.node_id IN (SELECT j.value FROM json_each($1) j)",
    titles: "SELECT t.task_id, t.title, t.status FROM tasks t
        WHERE t.task_id IN (SELECT j.value FROM json_each($1) j)",
    told_names: "SELECT n.entity, n.name FROM json_each($1) j CROSS JOIN ingested_notes n
        WHERE n.entity = j.value
            AND n.said_by = (SELECT MIN(x.said_by) FROM ingested_notes x WHERE x.entity = j.value)",
    changed_notes: "SELECT n.entity, n.said_by, n.kind, n.key, n.properties
        FROM json_each($1) j CROSS JOIN ingested_notes n
        WHERE n.entity = j.value ->> 0 AND n.said_by = j.value ->> 1",
    changed_relations:
        "SELECT r.id, r.source_kind, r.source_key, r.kind, r.target_kind, r.target_key, r.said_by, r.said_at,
            r.confidence
        FROM json_each($1) j CROSS JOIN ingested_relations r WHERE r.id = j.value",
    own_notes: "SELECT n.entity, n.name, n.properties, n.confidence FROM ingested_notes n
        WHERE n.said_by = $1 AND n.entity IN (SELECT j.value FROM json_each($2) j)",
    own_relations: "SELECT r.id, r.properties, r.confidence FROM ingested_relations r
        WHERE r.id IN (SELECT j.value FROM json_each($1) j)",
    add_notes:
        "INSERT INTO ingested_notes (entity, kind, key, name, properties, confidence, said_by, said_at)
        SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4,
            CAST(j.value ->> 5 AS REAL), $2, $3
        FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING",
    change_notes: "UPDATE ingested_notes SET name = j.value ->> 3, properties = j.value ->> 4,
            confidence = CAST(j.value ->> 5 AS REAL), said_at = $3
        FROM json_each($1) j WHERE ingested_notes.entity = j.value ->> 0 AND ingested_notes.said_by = $2",
    add_told:
        "INSERT INTO ingested_relations (id, source, source_kind, source_key, kind, target, target_kind,
            target_key, confidence, properties, said_by, said_at)
        SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5,
            j.value ->> 6, j.value ->> 7, CAST(j.value ->> 8 AS REAL), j.value ->> 9, $2, $3
        FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING",
    change_told:
        "UPDATE ingested_relations SET confidence = CAST(j.value ->> 8 AS REAL), properties = j.value ->> 9,
            said_at = $2
        FROM json_each($1) j WHERE ingested_relations.id = j.value ->> 0",
    forget_notes: "DELETE FROM ingested_notes WHERE said_by = $1
        AND entity IN (SELECT j.value FROM json_each($2) j) RETURNING entity",
    forget_told: "DELETE FROM ingested_relations WHERE said_by = $1
        AND id IN (SELECT j.value FROM json_each($2) j) RETURNING id",
    notes: "SELECT n.entity, n.said_by, n.name, COALESCE(n.properties, '{}'), n.confidence, n.said_at
        FROM json_each($1) j CROSS JOIN ingested_notes n WHERE n.entity = j.value AND n.said_by IN
            (SELECT x.said_by FROM ingested_notes x WHERE x.entity = j.value
                ORDER BY x.confidence DESC, x.said_at, x.said_by LIMIT $2)
        ORDER BY n.entity, n.confidence DESC, n.said_at, n.said_by",
};
