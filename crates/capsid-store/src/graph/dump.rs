//! The graph as text, so that two of them can be compared.

use super::Relation;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use std::fmt::Write as _;

/// Every row of the graph, in the order of the keys, a line each.
pub fn dump(tx: &mut dyn Tx) -> Result<String> {
    let index = tx.index()?;
    let mut text = String::new();
    index.query_each::<(i64, String, String, Option<i64>, i64, i64)>(
        "SELECT id, kind, key, looks, mentions, told FROM entities ORDER BY id",
        params![],
        |(id, kind, key, looks, mentions, told)| {
            let _ = writeln!(
                text,
                "entity id={id} kind={kind:?} key={key:?} looks={looks:?} mentions={mentions} told={told}"
            );
            Ok(())
        },
    )?;
    index.query_each::<(Relation, i64, i64)>(
        "SELECT source, kind, target, said_by, said_at, asset_id, confidence, claims, is_told, id, lane
         FROM relations ORDER BY id",
        params![],
        |(r, id, lane)| {
            let asset = r.asset_id.map(|id| id.to_string());
            let _ = writeln!(
                text,
                "relation id={id} source={} kind={:?} target={} said_by={:?} said_at={:?} asset={asset:?} \
                 confidence={} claims={} is_told={} lane={lane}",
                r.source, r.kind, r.target, r.said_by, r.said_at, r.confidence, r.claims, r.is_told
            );
            Ok(())
        },
    )?;
    index.query_each::<(String, i64)>(
        "SELECT term, entity FROM entity_terms ORDER BY term, entity",
        params![],
        |(term, entity)| {
            let _ = writeln!(text, "term {term} {entity}");
            Ok(())
        },
    )?;
    index.query_each::<(String, i64, String)>(
        "SELECT term, entity, said_by FROM property_terms ORDER BY term, entity, said_by",
        params![],
        |(term, entity, said_by)| {
            let _ = writeln!(text, "property {term} {entity} {said_by}");
            Ok(())
        },
    )?;
    Ok(text)
}
