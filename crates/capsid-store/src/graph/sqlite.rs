//! The statements over the graph in SQLite. Lists come as JSON.

use super::GraphSql;

/// Relations of a thing in a lane, either way: a correlated list of their numbers.
macro_rules! near {
    ($thing:literal) => {
        concat!(
            "r.id IN (SELECT o.id FROM (SELECT x.id FROM graph_relations x WHERE x.source = ",
            $thing,
            " AND x.lane = l.value ORDER BY x.said_at DESC, x.id DESC LIMIT $3) o
            UNION ALL SELECT i.id FROM (SELECT x.id FROM graph_relations x WHERE x.target = ",
            $thing,
            " AND x.lane = l.value ORDER BY x.said_at DESC, x.id DESC LIMIT $3) i)"
        )
    };
}

/// The statements.
pub const TEXTS: GraphSql = GraphSql {
    count_things: "INSERT INTO graph_entities (id, kind, key, looks, mentions, told)
        SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5
        FROM json_each($1) j WHERE TRUE
        ON CONFLICT (id) DO UPDATE SET mentions = mentions + excluded.mentions, told = told + excluded.told
        RETURNING id, mentions, told",
    count_relations:
        "INSERT INTO graph_relations (id, source, kind, target, said_by, said_at, asset_id, confidence,
            claims, is_told, lane)
        SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5,
            unhex(j.value ->> 6), CAST(j.value ->> 7 AS REAL), j.value ->> 8, 0, j.value ->> 9
        FROM json_each($1) j WHERE TRUE
        ON CONFLICT (id) DO UPDATE SET claims = claims + excluded.claims
        RETURNING id, claims",
    add_words: "INSERT INTO graph_words (term, entity)
        SELECT j.value ->> 0, j.value ->> 1 FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING",
    forget_things: "DELETE FROM graph_entities WHERE mentions <= 0 AND told <= 0
        AND id IN (SELECT j.value FROM json_each($1) j)",
    forget_words: "DELETE FROM graph_words WHERE entity IN (SELECT j.value FROM json_each($1) j)",
    forget_relations: "DELETE FROM graph_relations WHERE claims <= 0
        AND id IN (SELECT j.value FROM json_each($1) j)",
    things: "SELECT e.id, e.kind, e.key, e.mentions, e.told, CASE WHEN e.told > 0 THEN
            (SELECT n.name FROM graph_notes n WHERE n.entity = e.id ORDER BY n.said_by LIMIT 1) END
        FROM graph_entities e WHERE e.id IN (SELECT j.value FROM json_each($1) j)",
    by_key: "SELECT e.id, e.kind, e.key FROM graph_entities e
        WHERE e.key IN (SELECT j.value FROM json_each($1) j) ORDER BY e.id LIMIT 4000",
    by_looks: "SELECT e.kind, e.key FROM json_each($1) j CROSS JOIN graph_entities e
        WHERE e.kind = j.value ->> 0 AND e.looks = j.value ->> 1 ORDER BY e.id LIMIT 4000",
    assets: "SELECT a.asset_id, a.status, a.trust_tier, a.card FROM assets a
        WHERE a.asset_id IN (SELECT unhex(j.value) FROM json_each($1) j) AND a.scan_version > 0",
    nodes: "SELECT n.node_id, n.name FROM nodes n WHERE n.node_id IN (SELECT j.value FROM json_each($1) j)",
    titles: "SELECT t.task_id, t.title, t.status FROM tasks t
        WHERE t.task_id IN (SELECT j.value FROM json_each($1) j)",
    degrees: "SELECT t.value,
            (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations x WHERE x.source = t.value LIMIT $2)),
            (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations x WHERE x.target = t.value LIMIT $2))
        FROM json_each($1) t",
    beside: concat!(
        "SELECT r.source, r.kind, r.target, r.said_by, r.said_at, r.asset_id, r.confidence, r.claims, r.is_told, r.id
        FROM json_each($1) t CROSS JOIN json_each($2) l CROSS JOIN graph_relations r WHERE ",
        near!("t.value")
    ),
    around: concat!(
        "WITH RECURSIVE walk (thing, depth) AS (
            SELECT t.value, 0 FROM json_each($1) t
            UNION
            SELECT CASE r.source WHEN w.thing THEN r.target ELSE r.source END, w.depth + 1
            FROM walk w CROSS JOIN json_each($2) l CROSS JOIN graph_relations r
            WHERE w.depth < $4 AND ",
        near!("w.thing"),
        " ORDER BY 2, 1 LIMIT $5)
        SELECT r.source, r.kind, r.target, r.said_by, r.said_at, r.asset_id, r.confidence, r.claims, r.is_told, r.id
        FROM (SELECT thing, MIN(depth) AS depth FROM walk GROUP BY thing HAVING MIN(depth) < $4) m
            CROSS JOIN json_each($2) l CROSS JOIN graph_relations r WHERE ",
        near!("m.thing")
    ),
    having: "SELECT t.value, w.entity FROM json_each($1) t CROSS JOIN graph_words w
        WHERE w.term = t.value AND w.entity IN
            (SELECT x.entity FROM graph_words x WHERE x.term = t.value ORDER BY x.entity LIMIT $2)",
    having_properties: "SELECT t.value, p.entity FROM json_each($1) t CROSS JOIN graph_property_words p
        WHERE p.term = t.value AND p.entity IN (SELECT DISTINCT x.entity FROM graph_property_words x
            WHERE x.term = t.value ORDER BY x.entity LIMIT $2) GROUP BY t.value, p.entity",
    add_property_words: "INSERT INTO graph_property_words (term, entity, said_by)
        SELECT j.value ->> 0, j.value ->> 1, $2 FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING",
    forget_property_words: "DELETE FROM graph_property_words WHERE said_by = $1
        AND entity IN (SELECT j.value FROM json_each($2) j)",
    own_notes: "SELECT n.entity, n.name, n.properties, n.confidence FROM graph_notes n
        WHERE n.said_by = $1 AND n.entity IN (SELECT j.value FROM json_each($2) j)",
    own_relations: "SELECT r.id, r.properties, r.confidence FROM graph_relations r
        WHERE r.id IN (SELECT j.value FROM json_each($1) j)",
    add_notes: "INSERT INTO graph_notes (entity, said_by, name, properties, confidence, said_at)
        SELECT j.value ->> 0, $2, j.value ->> 1, j.value ->> 2, CAST(j.value ->> 3 AS REAL), $3
        FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING RETURNING entity",
    change_notes: "UPDATE graph_notes SET name = j.value ->> 1, properties = j.value ->> 2,
            confidence = CAST(j.value ->> 3 AS REAL), said_at = $3
        FROM json_each($1) j WHERE graph_notes.entity = j.value ->> 0 AND graph_notes.said_by = $2",
    add_told: "INSERT INTO graph_relations (id, source, kind, target, said_by, said_at, confidence, claims, is_told, lane,
            properties)
        SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, $2, $3, CAST(j.value ->> 4 AS REAL), 1, 1,
            j.value ->> 5, j.value ->> 6
        FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING RETURNING id",
    change_told: "UPDATE graph_relations SET confidence = CAST(j.value ->> 4 AS REAL), properties = j.value ->> 6,
            said_at = $2
        FROM json_each($1) j WHERE graph_relations.id = j.value ->> 0",
    forget_notes: "DELETE FROM graph_notes WHERE said_by = $1
        AND entity IN (SELECT j.value FROM json_each($2) j) RETURNING entity",
    forget_told: "DELETE FROM graph_relations WHERE said_by = $1 AND is_told = 1
        AND id IN (SELECT j.value FROM json_each($2) j) RETURNING source, target",
    notes: "SELECT n.entity, n.said_by, n.name, COALESCE(n.properties, '{}'), n.confidence, n.said_at
        FROM json_each($1) j CROSS JOIN graph_notes n WHERE n.entity = j.value AND n.said_by IN
            (SELECT x.said_by FROM graph_notes x WHERE x.entity = j.value
                ORDER BY x.confidence DESC, x.said_at, x.said_by LIMIT $2)
        ORDER BY n.entity, n.confidence DESC, n.said_at, n.said_by",
};

#[cfg(test)]
mod tests {
    use super::TEXTS;
    use crate::{Store, StoreOptions, params};
    use capsid_model::time::Time;

    /// However large the graph is, a step looks up relations by an index and never goes through all of them.
    #[test]
    fn no_step_goes_through_all_relations() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        for sql in [
            TEXTS.beside,
            TEXTS.around,
            TEXTS.degrees,
            TEXTS.things,
            TEXTS.having,
            TEXTS.having_properties,
            TEXTS.by_looks,
            TEXTS.by_key,
        ] {
            let explained: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
            let plan = store
                .read_now(move |tx| {
                    let all = params!["[1]", "[1]", 5_i64, 2_i64, 9_i64];
                    let count = (1..=5).filter(|n| explained.contains(&format!("${n}"))).count();
                    tx.query_all::<(i64, i64, i64, String)>(explained, &all[..count])
                })
                .unwrap();
            let plan: Vec<String> = plan.into_iter().map(|(.., line)| line).collect();
            let whole = ["SCAN r", "SCAN x", "SCAN e", "SCAN p"];
            let goes_through = |line: &String| whole.iter().any(|scan| line.starts_with(scan));
            assert!(!plan.iter().any(goes_through), "{sql}\n{plan:#?}");
        }
    }
}
