//! The statements over the graph in PostgreSQL. Lists come as JSON, in the order of the numbers: whoever counts the same
//! things locks them in the same order.

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

/// Relations of a thing in a lane, either way.
macro_rules! near {
    ($thing:literal) => {
        concat!(
            "((SELECT * FROM graph_relations x WHERE x.source = ",
            $thing,
            " AND x.lane = l.lane ORDER BY x.said_at DESC, x.id DESC LIMIT $3)
            UNION ALL (SELECT * FROM graph_relations x WHERE x.target = ",
            $thing,
            " AND x.lane = l.lane ORDER BY x.said_at DESC, x.id DESC LIMIT $3)) r"
        )
    };
}

/// The statements.
pub const TEXTS: GraphSql = GraphSql {
    count_things: "INSERT INTO graph_entities (id, kind, key, looks, mentions, told)
        SELECT CAST(j.v ->> 0 AS BIGINT), j.v ->> 1, j.v ->> 2, CAST(j.v ->> 3 AS BIGINT), CAST(j.v ->> 4 AS BIGINT),
            CAST(j.v ->> 5 AS BIGINT)
        FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1
        ON CONFLICT (id) DO UPDATE SET mentions = graph_entities.mentions + excluded.mentions,
            told = graph_entities.told + excluded.told
        RETURNING id, mentions, told",
    count_relations: "INSERT INTO graph_relations (id, source, kind, target, said_by, said_at, asset_id, confidence,
            claims, is_told, lane)
        SELECT CAST(j.v ->> 0 AS BIGINT), CAST(j.v ->> 1 AS BIGINT), j.v ->> 2, CAST(j.v ->> 3 AS BIGINT), j.v ->> 4,
            CAST(j.v ->> 5 AS BIGINT), decode(j.v ->> 6, 'hex'), CAST(j.v ->> 7 AS DOUBLE PRECISION),
            CAST(j.v ->> 8 AS BIGINT), 0, CAST(j.v ->> 9 AS BIGINT)
        FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1
        ON CONFLICT (id) DO UPDATE SET claims = graph_relations.claims + excluded.claims
        RETURNING id, claims",
    add_words: "INSERT INTO graph_words (term, entity)
        SELECT j.v ->> 0, CAST(j.v ->> 1 AS BIGINT) FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1, 2
        ON CONFLICT DO NOTHING",
    forget_things: concat!(
        "DELETE FROM graph_entities WHERE mentions <= 0 AND told <= 0 AND id IN ",
        numbers!("$1")
    ),
    forget_words: concat!("DELETE FROM graph_words WHERE entity IN ", numbers!("$1")),
    forget_relations: concat!("DELETE FROM graph_relations WHERE claims <= 0 AND id IN ", numbers!("$1")),
    things: concat!(
        "SELECT e.id, e.kind, e.key, e.mentions, e.told, CASE WHEN e.told > 0 THEN
            (SELECT n.name FROM graph_notes n WHERE n.entity = e.id ORDER BY n.said_by LIMIT 1) END
        FROM graph_entities e WHERE e.id IN ",
        numbers!("$1")
    ),
    by_key: concat!(
        "SELECT e.id, e.kind, e.key FROM graph_entities e WHERE e.key IN (SELECT j.v FROM ",
        list!("$1"),
        ") ORDER BY e.id LIMIT 4000"
    ),
    by_looks: "SELECT e.kind, e.key FROM json_array_elements(CAST($1 AS json)) AS j (v)
            JOIN graph_entities e ON e.kind = j.v ->> 0 AND e.looks = CAST(j.v ->> 1 AS BIGINT)
        ORDER BY e.id LIMIT 4000",
    assets: concat!(
        "SELECT a.asset_id, a.status, a.trust_tier, a.card FROM assets a
        WHERE a.asset_id IN (SELECT decode(j.v, 'hex') FROM ",
        list!("$1"),
        ") AND a.scan_version > 0"
    ),
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
    degrees: concat!(
        "SELECT t.id,
            (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations x WHERE x.source = t.id LIMIT $2) s),
            (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations x WHERE x.target = t.id LIMIT $2) s)
        FROM (SELECT CAST(j.v AS BIGINT) AS id FROM ",
        list!("$1"),
        ") t"
    ),
    beside: concat!(
        "SELECT r.source, r.kind, r.target, r.said_by, r.said_at, r.asset_id, r.confidence, r.claims, r.is_told, r.id
        FROM (SELECT CAST(j.v AS BIGINT) AS id FROM ",
        list!("$1"),
        ") t CROSS JOIN (SELECT CAST(j.v AS BIGINT) AS lane FROM ",
        list!("$2"),
        ") l CROSS JOIN LATERAL ",
        near!("t.id")
    ),
    around: concat!(
        "WITH RECURSIVE lanes (lane) AS (SELECT CAST(j.v AS BIGINT) FROM ",
        list!("$2"),
        "), walk (thing, depth) AS (
            SELECT CAST(j.v AS BIGINT), CAST(0 AS BIGINT) FROM ",
        list!("$1"),
        "   UNION
            SELECT CASE r.source WHEN w.thing THEN r.target ELSE r.source END, w.depth + 1
            FROM walk w CROSS JOIN lanes l CROSS JOIN LATERAL ",
        near!("w.thing"),
        " WHERE w.depth < $4)
        SELECT r.source, r.kind, r.target, r.said_by, r.said_at, r.asset_id, r.confidence, r.claims, r.is_told, r.id
        FROM (SELECT f.thing FROM (SELECT w.thing, w.depth FROM walk w LIMIT $5) f
                GROUP BY f.thing HAVING MIN(f.depth) < $4) m
            CROSS JOIN lanes l CROSS JOIN LATERAL ",
        near!("m.thing")
    ),
    having: concat!(
        "SELECT t.term, w.entity FROM (SELECT j.v AS term FROM ",
        list!("$1"),
        ") t CROSS JOIN LATERAL
            (SELECT x.entity FROM graph_words x WHERE x.term = t.term ORDER BY x.entity LIMIT $2) w"
    ),
    having_properties: concat!(
        "SELECT t.term, w.entity FROM (SELECT j.v AS term FROM ",
        list!("$1"),
        ") t CROSS JOIN LATERAL (SELECT DISTINCT x.entity FROM graph_property_words x WHERE x.term = t.term
            ORDER BY x.entity LIMIT $2) w"
    ),
    add_property_words: "INSERT INTO graph_property_words (term, entity, said_by)
        SELECT j.v ->> 0, CAST(j.v ->> 1 AS BIGINT), $2 FROM json_array_elements(CAST($1 AS json)) AS j (v)
        ORDER BY 1, 2 ON CONFLICT DO NOTHING",
    forget_property_words: concat!(
        "DELETE FROM graph_property_words WHERE said_by = $1 AND entity IN ",
        numbers!("$2")
    ),
    own_notes: concat!(
        "SELECT n.entity, n.name, n.properties, n.confidence FROM graph_notes n WHERE n.said_by = $1 AND n.entity IN ",
        numbers!("$2")
    ),
    own_relations: concat!(
        "SELECT r.id, r.properties, r.confidence FROM graph_relations r WHERE r.id IN ",
        numbers!("$1")
    ),
    add_notes: "INSERT INTO graph_notes (entity, said_by, name, properties, confidence, said_at)
        SELECT CAST(j.v ->> 0 AS BIGINT), $2, j.v ->> 1, j.v ->> 2, CAST(j.v ->> 3 AS DOUBLE PRECISION), $3
        FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1 ON CONFLICT DO NOTHING RETURNING entity",
    change_notes: "UPDATE graph_notes SET name = j.v ->> 1, properties = j.v ->> 2,
            confidence = CAST(j.v ->> 3 AS DOUBLE PRECISION), said_at = $3
        FROM json_array_elements(CAST($1 AS json)) AS j (v)
        WHERE graph_notes.entity = CAST(j.v ->> 0 AS BIGINT) AND graph_notes.said_by = $2",
    add_told: "INSERT INTO graph_relations (id, source, kind, target, said_by, said_at, confidence, claims, is_told, lane,
            properties)
        SELECT CAST(j.v ->> 0 AS BIGINT), CAST(j.v ->> 1 AS BIGINT), j.v ->> 2, CAST(j.v ->> 3 AS BIGINT), $2, $3,
            CAST(j.v ->> 4 AS DOUBLE PRECISION), 1, 1, CAST(j.v ->> 5 AS BIGINT), j.v ->> 6
        FROM json_array_elements(CAST($1 AS json)) AS j (v) ORDER BY 1 ON CONFLICT DO NOTHING RETURNING id",
    change_told: "UPDATE graph_relations SET confidence = CAST(j.v ->> 4 AS DOUBLE PRECISION), properties = j.v ->> 6,
            said_at = $2
        FROM json_array_elements(CAST($1 AS json)) AS j (v) WHERE graph_relations.id = CAST(j.v ->> 0 AS BIGINT)",
    forget_notes: concat!(
        "DELETE FROM graph_notes WHERE said_by = $1 AND entity IN ",
        numbers!("$2"),
        " RETURNING entity"
    ),
    forget_told: concat!(
        "DELETE FROM graph_relations WHERE said_by = $1 AND is_told = 1 AND id IN ",
        numbers!("$2"),
        " RETURNING source, target"
    ),
    notes: concat!(
        "SELECT n.entity, n.said_by, n.name, COALESCE(n.properties, '{}'), n.confidence, n.said_at
        FROM (SELECT CAST(j.v AS BIGINT) AS id FROM ",
        list!("$1"),
        ") t CROSS JOIN LATERAL (SELECT * FROM graph_notes x WHERE x.entity = t.id
            ORDER BY x.confidence DESC, x.said_at, x.said_by LIMIT $2) n
        ORDER BY n.entity, n.confidence DESC, n.said_at, n.said_by"
    ),
};
