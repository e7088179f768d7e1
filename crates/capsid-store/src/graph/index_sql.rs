//! The statements over the graph in the index. Lists come as JSON. Each tells how many rows it may read.

/// Relations of a thing in a lane, either way: a correlated list of their numbers.
macro_rules! near {
    ($thing:literal) => {
        concat!(
            "r.id IN (SELECT o.id FROM (SELECT x.id FROM relations x WHERE x.source = ",
            $thing,
            " AND x.lane = l.value ORDER BY x.said_at DESC, x.id DESC LIMIT $3) o
            UNION ALL SELECT i.id FROM (SELECT x.id FROM relations x WHERE x.target = ",
            $thing,
            " AND x.lane = l.value ORDER BY x.said_at DESC, x.id DESC LIMIT $3) i)"
        )
    };
}

/// A row for each thing.
pub const COUNT_THINGS: &str = "INSERT INTO entities (id, kind, key, looks, mentions, told)
    SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5
    FROM json_each($1) j WHERE TRUE
    ON CONFLICT (id) DO UPDATE SET mentions = mentions + excluded.mentions, told = told + excluded.told
    RETURNING id, mentions, told";

/// A row for each relation.
pub const COUNT_RELATIONS: &str =
    "INSERT INTO relations (id, source, kind, target, said_by, said_at, asset_id, confidence, claims, is_told, lane)
    SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3, j.value ->> 4, j.value ->> 5,
        unhex(j.value ->> 6), CAST(j.value ->> 7 AS REAL), j.value ->> 8, 0, j.value ->> 9
    FROM json_each($1) j WHERE TRUE
    ON CONFLICT (id) DO UPDATE SET claims = claims + excluded.claims
    RETURNING id, claims";

/// A relation that was told.
pub const ADD_TOLD: &str =
    "INSERT INTO relations (id, source, kind, target, said_by, said_at, confidence, claims, is_told, lane)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 1, 1, $8) ON CONFLICT DO NOTHING";

pub const ADD_TERMS: &str = "INSERT INTO entity_terms (term, entity)
    SELECT j.value ->> 0, j.value ->> 1 FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING";

pub const DELETE_THINGS: &str = "DELETE FROM entities WHERE mentions <= 0 AND told <= 0
    AND id IN (SELECT j.value FROM json_each($1) j)";

pub const DELETE_TERMS: &str =
    "DELETE FROM entity_terms WHERE entity IN (SELECT j.value FROM json_each($1) j)";

pub const DELETE_RELATIONS: &str =
    "DELETE FROM relations WHERE claims <= 0 AND id IN (SELECT j.value FROM json_each($1) j)";

pub const ADD_PROPERTY_TERMS: &str = "INSERT INTO property_terms (term, entity, said_by)
    SELECT j.value, $2, $3 FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING";

/// A row for each thing that is asked for.
pub const THINGS: &str = "SELECT e.id, e.kind, e.key, e.mentions, e.told FROM entities e
    WHERE e.id IN (SELECT j.value FROM json_each($1) j)";

/// Things by their keys, whatever they are: at most 4,000.
pub const BY_KEY: &str = "SELECT e.id, e.kind, e.key FROM entities e
    WHERE e.key IN (SELECT j.value FROM json_each($1) j) ORDER BY e.id LIMIT 4000";

/// Things of a kind whose names look so: at most 4,000.
pub const BY_LOOKS: &str = "SELECT e.kind, e.key FROM json_each($1) j CROSS JOIN entities e
    WHERE e.kind = j.value ->> 0 AND e.looks = j.value ->> 1 ORDER BY e.id LIMIT 4000";

/// How many relations things have, up to a bound each way.
pub const DEGREES: &str = "SELECT t.value,
        (SELECT COUNT(*) FROM (SELECT 1 FROM relations x WHERE x.source = t.value LIMIT $2)),
        (SELECT COUNT(*) FROM (SELECT 1 FROM relations x WHERE x.target = t.value LIMIT $2))
    FROM json_each($1) t";

/// What is related to some things: things, lanes, how many of each lane and direction.
pub const NEIGHBOURS: &str = concat!(
    "SELECT r.source, r.kind, r.target, r.said_by, r.said_at, r.asset_id, r.confidence, r.claims, r.is_told, r.id
    FROM json_each($1) t CROSS JOIN json_each($2) l CROSS JOIN relations r WHERE ",
    near!("t.value")
);

/// The same over several steps: also how many steps, and how many things at most.
pub const WALK: &str = concat!(
    "WITH RECURSIVE walk (thing, depth) AS (
        SELECT t.value, 0 FROM json_each($1) t
        UNION
        SELECT CASE r.source WHEN w.thing THEN r.target ELSE r.source END, w.depth + 1
        FROM walk w CROSS JOIN json_each($2) l CROSS JOIN relations r
        WHERE w.depth < $4 AND ",
    near!("w.thing"),
    " ORDER BY 2, 1 LIMIT $5)
    SELECT r.source, r.kind, r.target, r.said_by, r.said_at, r.asset_id, r.confidence, r.claims, r.is_told, r.id
    FROM (SELECT thing, MIN(depth) AS depth FROM walk GROUP BY thing HAVING MIN(depth) < $4) m
        CROSS JOIN json_each($2) l CROSS JOIN relations r WHERE ",
    near!("m.thing")
);

/// The things that have some terms: terms, how many of each.
pub const HAVING: &str = "SELECT t.value, w.entity FROM json_each($1) t CROSS JOIN entity_terms w
    WHERE w.term = t.value AND w.entity IN
        (SELECT x.entity FROM entity_terms x WHERE x.term = t.value ORDER BY x.entity LIMIT $2)";

/// The same by what was told of them.
pub const HAVING_PROPERTIES: &str =
    "SELECT t.value, p.entity FROM json_each($1) t CROSS JOIN property_terms p
    WHERE p.term = t.value AND p.entity IN (SELECT DISTINCT x.entity FROM property_terms x
        WHERE x.term = t.value ORDER BY x.entity LIMIT $2) GROUP BY t.value, p.entity";

/// How much is deleted before the index is made again: everything.
pub const CLEAR: [&str; 7] = [
    "DELETE FROM entities",
    "DELETE FROM entity_terms",
    "DELETE FROM property_terms",
    "DELETE FROM relations",
    "DELETE FROM said",
    "DELETE FROM positions",
    "DELETE FROM gaps",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;

    /// However large the graph is, a step looks up relations by an index and never goes through all of them.
    #[test]
    fn no_step_goes_through_all_relations() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        for sql in [NEIGHBOURS, WALK, DEGREES, THINGS, HAVING, HAVING_PROPERTIES, BY_LOOKS, BY_KEY] {
            let explained: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
            let plan = store
                .read_now(move |tx| {
                    let all = params!["[1]", "[1]", 5_i64, 2_i64, 9_i64];
                    let count = (1..=5).filter(|n| explained.contains(&format!("${n}"))).count();
                    tx.index()?.query_all::<(i64, i64, i64, String)>(explained, &all[..count])
                })
                .unwrap();
            let plan: Vec<String> = plan.into_iter().map(|(.., line)| line).collect();
            let whole = ["SCAN r", "SCAN x", "SCAN e", "SCAN p"];
            let goes_through = |line: &String| whole.iter().any(|scan| line.starts_with(scan));
            assert!(!plan.iter().any(goes_through), "{sql}\n{plan:#?}");
        }
    }
}
