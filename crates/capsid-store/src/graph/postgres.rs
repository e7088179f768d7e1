//! The statements over what was told, and over what the graph names, in PostgreSQL. Lists come as JSON, in the order of
//! the numbers: whoever writes the same rows locks them in the same order.

use super::GraphSql;

/// A list of numbers or texts.
macro_rules! list {
    ($param:literal) => {
        concat!("json_array_elements_text(CAST(", $param, " AS json)) AS j (v)")
    };
}

/// Numbers in a list.
macro_rules! numbers {
    ($param:literal) => {
        concat!("(SELECT CAST(j.v AS BIGINT) FROM ", list!($param), ")")
    };
}

pub const TEXTS: GraphSql = GraphSql {
    assets: concat!(
        "SELECT a.asset_id, a.status, a.trust_tier, a.card FROM assets a
        WHERE a.asset_id IN (SELECT decode(j.v, 'hex') FROM ",
        list!("$1"),
        ") AND a.scan_version > 0"
    ),
    asset_states: concat!(
        "SELECT a.asset_id, a.status, a.trust_tier FROM assets a
        WHERE a.asset_id IN (SELECT decode(j.v, 'hex') FROM ",
        list!("$1"),
        ") AND a.scan_version > 0"
    ),
    node_ids: concat!("SELECT n.node_id FROM nodes n WHERE n.node_id IN (SELECT j.v FROM ", list!("$1"), ")"),
    task_ids: concat!("SELECT t.task_id FROM tasks t WHERE t.task_id IN (SELECT j.v FROM ", list!("$1"), ")"),
    nodes: concat!(
        "SELECT n.node_id, n.name FROM nodes n WHERE n.node_id IN (SELECT j.v FROM ",
        list!("$1"),
        ")"
    ),
    titles: concat!(
        "SELECT t.task_id, t.title, t.status FROM tasks t WHERE t.task_id IN (SELECT j.v FROM ",
        list!("$1"),
        ")"
    ),
    told_names: concat!(
        "SELECT DISTINCT ON (n.entity) n.entity, n.name FROM ingested_notes n WHERE n.entity IN ",
        numbers!("$1"),
        " ORDER BY n.entity, n.said_by"
    ),
    changed_notes: "SELECT n.entity, n.said_by, n.kind, n.key, n.properties
        FROM json_array_elements(CAST($1 AS json)) AS j (v) JOIN ingested_notes n
            ON n.entity = CAST(j.v ->> 0 AS BIGINT) AND n.said_by = j.v ->> 1",
    changed_relations: concat!(
        "SELECT r.id, r.source_kind, r.source_key, r.kind, r.target_kind, r.target_key, r.said_by, r.said_at,
            r.confidence
        FROM ingested_relations r WHERE r.id IN ",
        numbers!("$1")
    ),
    own_notes: concat!(
        "SELECT n.entity, n.name, n.properties, n.confidence FROM ingested_notes n
        WHERE n.said_by = $1 AND n.entity IN ",
        numbers!("$2")
    ),
    own_relations: concat!(
        "SELECT r.id, r.properties, r.confidence FROM ingested_relations r WHERE r.id IN ",
        numbers!("$1")
    ),
    add_notes: "INSERT INTO ingested_notes (entity, kind, key, name, properties, confidence, said_by, said_at)
        SELECT CAST(j.v ->> 0 AS BIGINT), j.v ->> 1, j.v ->> 2, j.v ->> 3, j.v ->> 4,
            CAST(j.v ->> 5 AS DOUBLE PRECISION), $2, $3
        FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1 ON CONFLICT DO NOTHING",
    change_notes: "UPDATE ingested_notes SET name = j.v ->> 3, properties = j.v ->> 4,
            confidence = CAST(j.v ->> 5 AS DOUBLE PRECISION), said_at = $3
        FROM json_array_elements(CAST($1 AS json)) AS j (v)
        WHERE ingested_notes.entity = CAST(j.v ->> 0 AS BIGINT) AND ingested_notes.said_by = $2",
    add_told: "INSERT INTO ingested_relations (id, source, source_kind, source_key, kind, target, target_kind,
            target_key, confidence, properties, said_by, said_at)
        SELECT CAST(j.v ->> 0 AS BIGINT), CAST(j.v ->> 1 AS BIGINT), j.v ->> 2, j.v ->> 3, j.v ->> 4,
            CAST(j.v ->> 5 AS BIGINT), j.v ->> 6, j.v ->> 7, CAST(j.v ->> 8 AS DOUBLE PRECISION), j.v ->> 9, $2, $3
        FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1 ON CONFLICT DO NOTHING",
    change_told: "UPDATE ingested_relations SET confidence = CAST(j.v ->> 8 AS DOUBLE PRECISION),
            properties = j.v ->> 9, said_at = $2
        FROM json_array_elements(CAST($1 AS json)) AS j (v) WHERE ingested_relations.id = CAST(j.v ->> 0 AS BIGINT)",
    forget_notes: concat!(
        "DELETE FROM ingested_notes WHERE said_by = $1 AND entity IN ",
        numbers!("$2"),
        " RETURNING entity"
    ),
    forget_told: concat!(
        "DELETE FROM ingested_relations WHERE said_by = $1 AND id IN ",
        numbers!("$2"),
        " RETURNING id"
    ),
    notes: concat!(
        "SELECT n.entity, n.said_by, n.name, COALESCE(n.properties, '{}'), n.confidence, n.said_at
        FROM (SELECT CAST(j.v AS BIGINT) AS id FROM ",
        list!("$1"),
        ") t CROSS JOIN LATERAL (SELECT * FROM ingested_notes x WHERE x.entity = t.id
            ORDER BY x.confidence DESC, x.said_at, x.said_by LIMIT $2) n
        ORDER BY n.entity, n.confidence DESC, n.said_at, n.said_by"
    ),
};
