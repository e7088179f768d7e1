//! The statements over the graph in the index. Lists come as JSON. Each tells how many rows it may read; those that write
//! read the one row that they write.

/// A row.
pub const FIND_ENTITY: &str = "SELECT id, mentions, told FROM entities WHERE wire_id = $1";

pub const ADD_ENTITY: &str = "INSERT INTO entities (id, wire_id, kind, key, skeleton, mentions, told, terms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub const COUNT_ENTITY: &str = "UPDATE entities SET mentions = $2, told = $3 WHERE id = $1";

pub const DELETE_ENTITY: &str = "DELETE FROM entities WHERE id = $1";

pub const ADD_TERM: &str = "INSERT INTO entity_terms (term, mentions_class, entity) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING";

pub const DELETE_TERM: &str =
    "DELETE FROM entity_terms WHERE term = $1 AND mentions_class = $2 AND entity = $3";

pub const ADD_SOURCE: &str = "INSERT INTO sources (name) VALUES ($1) ON CONFLICT DO NOTHING";

/// A row.
pub const FIND_SOURCE: &str = "SELECT id FROM sources WHERE name = $1";

/// A row for each source that is asked for.
pub const SOURCES: &str =
    "SELECT s.id, s.name FROM json_each($1) j CROSS JOIN sources s WHERE s.id = j.value";

pub const ADD_EDGE: &str =
    "INSERT INTO edges (entity, lane, asserted_at, other, kind, asserted_by, asset, confidence, claims)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";

pub const COUNT_EDGE: &str =
    "UPDATE edges SET claims = claims + $7 WHERE entity = $1 AND lane = $2 AND asserted_at = $3
    AND other = $4 AND kind = $5 AND asserted_by = $6";

pub const DELETE_EDGE: &str =
    "DELETE FROM edges WHERE entity = $1 AND lane = $2 AND asserted_at = $3 AND other = $4
    AND kind = $5 AND asserted_by = $6 AND claims <= 0";

pub const COUNT_KIND: &str = "INSERT INTO kind_counts (is_relation, kind, count) VALUES ($1, $2, $3)
    ON CONFLICT (is_relation, kind) DO UPDATE SET count = count + excluded.count";

/// A row for each kind.
pub const KINDS: &str =
    "SELECT kind, count FROM kind_counts WHERE is_relation = $1 AND kind > '' AND count > 0";

/// A row.
pub const ALL_OF_A_KIND: &str = "SELECT count FROM kind_counts WHERE is_relation = $1 AND kind = ''";

pub const ADD_PROPERTY_TERMS: &str = "INSERT INTO property_terms (term, entity, said_by)
    SELECT j.value, $2, $3 FROM json_each($1) j WHERE TRUE ON CONFLICT DO NOTHING";

/// A row for each entity that is asked for.
pub const ENTITIES_BY_ID: &str =
    "SELECT e.id, e.wire_id, e.kind, e.key, e.mentions, e.told FROM json_each($1) j CROSS JOIN entities e
    WHERE e.id = j.value";

/// A row for each entity that is asked for.
pub const ENTITIES_BY_WIRE_ID: &str =
    "SELECT e.id, e.wire_id, e.kind, e.key, e.mentions, e.told FROM json_each($1) j CROSS JOIN entities e
    WHERE e.wire_id = j.value";

/// A row for each entity that is asked for, with the terms of its name.
pub const TERMS: &str =
    "SELECT e.id, e.terms FROM json_each($1) j CROSS JOIN entities e WHERE e.id = j.value";

/// Entities by their keys, whatever they are except assets: at most 4,000.
pub const BY_KEY: &str = "SELECT e.wire_id, e.kind, e.key FROM entities e
    WHERE e.key IN (SELECT j.value FROM json_each($1) j) AND e.kind NOT IN ('gene', 'capsule', 'event')
    ORDER BY e.wire_id LIMIT 4000";

/// Entities of a kind whose names look so: at most 4,000.
pub const BY_SKELETON: &str = "SELECT e.kind, e.key FROM json_each($1) j CROSS JOIN entities e
    WHERE e.kind = j.value ->> 0 AND e.skeleton = j.value ->> 1 AND e.skeleton IS NOT NULL
    ORDER BY e.wire_id LIMIT 4000";

/// How many relations an entity has, up to a bound.
pub const DEGREES: &str =
    "SELECT e.wire_id, (SELECT COUNT(*) FROM (SELECT 1 FROM edges x WHERE x.entity = e.id LIMIT $2))
    FROM json_each($1) j CROSS JOIN entities e WHERE e.wire_id = j.value";

/// The edges of an entity from one lane to another, at most so many.
pub const EDGES: &str =
    "SELECT x.lane, x.asserted_at, x.other, x.kind, x.asserted_by, x.asset, x.confidence, x.claims
    FROM edges x WHERE x.entity = $1 AND x.lane >= $2 AND x.lane <= $3
    ORDER BY x.lane, x.asserted_at, x.other, x.kind, x.asserted_by LIMIT $4";

/// The entities that have a term, those that are named most first, at most so many.
pub const HAVING: &str = "SELECT x.entity FROM entity_terms x WHERE x.term = $1
    ORDER BY x.mentions_class DESC, x.entity LIMIT $2";

/// The same by what was told of them. Of each it reads a row for each that told it.
pub const HAVING_PROPERTIES: &str = "SELECT DISTINCT x.entity FROM property_terms x WHERE x.term = $1
    ORDER BY x.entity LIMIT $2";

/// How much is deleted before the index is made again: everything.
pub const CLEAR: [&str; 9] = [
    "DELETE FROM entities",
    "DELETE FROM entity_terms",
    "DELETE FROM property_terms",
    "DELETE FROM sources",
    "DELETE FROM edges",
    "DELETE FROM kind_counts",
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

    /// However large the graph is, a step looks up rows by an index and never goes through all of a table.
    #[test]
    fn no_statement_goes_through_a_whole_table() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        let statements = [
            FIND_ENTITY,
            COUNT_ENTITY,
            DELETE_ENTITY,
            DELETE_TERM,
            FIND_SOURCE,
            SOURCES,
            COUNT_EDGE,
            DELETE_EDGE,
            KINDS,
            ALL_OF_A_KIND,
            ENTITIES_BY_ID,
            ENTITIES_BY_WIRE_ID,
            TERMS,
            BY_KEY,
            BY_SKELETON,
            DEGREES,
            EDGES,
            HAVING,
            HAVING_PROPERTIES,
        ];
        for sql in statements {
            let explained: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
            let plan = store
                .read_now(move |tx| {
                    let all = params!["[1]", 1_i64, 5_i64, 2_i64, "x", 9_i64, 1_i64];
                    let count = (1..=7).filter(|n| explained.contains(&format!("${n}"))).count();
                    tx.index()?.query_all::<(i64, i64, i64, String)>(explained, &all[..count])
                })
                .unwrap();
            let plan: Vec<String> = plan.into_iter().map(|(.., line)| line).collect();
            let whole =
                ["SCAN x", "SCAN e", "SCAN s", "SCAN edges", "SCAN entit", "SCAN sources", "SCAN kind"];
            let goes_through = |line: &String| whole.iter().any(|scan| line.starts_with(scan));
            assert!(!plan.iter().any(goes_through), "{sql}\n{plan:#?}");
            // What comes in the order of a table is not sorted once more.
            let is_sorted = |line: &String| line.contains("USE TEMP B-TREE");
            let may_sort = [BY_KEY, BY_SKELETON].contains(&sql);
            assert!(may_sort || !plan.iter().any(is_sorted), "{sql}\n{plan:#?}");
        }
    }
}
