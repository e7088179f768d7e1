//! The graph as text, so that two of them can be compared: by the ids that clients know, for each index has numbers of its
//! own.

use super::edges::{Edge, EdgeRow};
use super::link_name;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use std::collections::HashMap;

/// Every row of the graph, a line each, in the order of the lines.
pub fn dump(tx: &mut dyn Tx) -> Result<String> {
    let index = tx.index()?;
    let mut lines = Vec::new();
    let mut ids: HashMap<i64, i64> = HashMap::new();
    let columns = "SELECT id, wire_id, kind, key, skeleton, mentions, told, terms FROM entities";
    type Columns = (i64, i64, String, String, Option<i64>, i64, i64, Option<String>);
    index.query_each::<Columns>(columns, params![], |(number, id, kind, key, looks, mentions, told, terms)| {
        ids.insert(number, id);
        lines.push(format!(
            "entity id={id} kind={kind:?} key={key:?} looks={looks:?} mentions={mentions} told={told} terms={terms:?}"
        ));
        Ok(())
    })?;
    let sources: HashMap<i64, String> =
        index.query_all("SELECT id, name FROM sources", params![])?.into_iter().collect();
    let id = |number: i64| ids.get(&number).copied().unwrap_or_default();
    let columns =
        "SELECT entity, lane, asserted_at, other, kind, asserted_by, asset, confidence, claims FROM edges";
    index.query_each::<(i64, EdgeRow)>(columns, params![], |(entity, row)| {
        let seen_from = if row.0 % 2 == 0 { "source" } else { "target" };
        let edge = Edge::from_row(entity, row);
        lines.push(format!(
            "relation from={seen_from} source={} kind={:?} target={} said_by={:?} said_at={} asset={:?} \
             confidence={} claims={} lane={}",
            id(edge.source),
            link_name(edge.lane, &edge.kind),
            id(edge.target),
            sources.get(&edge.said_by),
            edge.said_at,
            edge.asset.map(id),
            edge.confidence,
            edge.claims,
            edge.lane,
        ));
        Ok(())
    })?;
    let columns = "SELECT term, mentions_class, entity FROM entity_terms";
    index.query_each::<(String, i64, i64)>(columns, params![], |(term, class, entity)| {
        lines.push(format!("term {term} {class} {}", id(entity)));
        Ok(())
    })?;
    let columns = "SELECT term, entity, said_by FROM property_terms";
    index.query_each::<(String, i64, i64)>(columns, params![], |(term, entity, said_by)| {
        lines.push(format!("property {term} {} {:?}", id(entity), sources.get(&said_by)));
        Ok(())
    })?;
    let columns = "SELECT is_relation, kind, count FROM kind_counts WHERE count <> 0";
    index.query_each::<(bool, String, i64)>(columns, params![], |(is_relation, kind, count)| {
        lines.push(format!("count is_relation={is_relation} kind={kind:?} {count}"));
        Ok(())
    })?;
    lines.sort_unstable();
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}
