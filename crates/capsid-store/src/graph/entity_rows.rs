//! Entities as the index holds them, by its own numbers and by the ids that clients know. They are called by their keys
//! here; what they are shown as is looked up for the few that are shown.

use super::{Entity, index_sql};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use serde_json::json;
use std::collections::HashMap;

/// An entity with its number in this index.
pub(super) type NumberedEntity = (i64, Entity);

/// Entities by their ids, in no order.
pub(super) fn by_wire_ids(index: &mut dyn Tx, ids: &[i64]) -> Result<Vec<NumberedEntity>> {
    load(index, index_sql::ENTITIES_BY_WIRE_ID, ids)
}

/// Entities by their numbers, in no order.
pub(super) fn by_numbers(index: &mut dyn Tx, numbers: &[i64]) -> Result<Vec<NumberedEntity>> {
    load(index, index_sql::ENTITIES_BY_ID, numbers)
}

fn load(index: &mut dyn Tx, sql: &'static str, list: &[i64]) -> Result<Vec<NumberedEntity>> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut found = Vec::with_capacity(sorted.len());
    index.query_each::<(i64, i64, String, String, i64, i64)>(
        sql,
        params![&json!(sorted).to_string()],
        |(number, id, kind, key, mentions, told)| {
            found.push((number, Entity { id, name: key.clone(), kind, key, mentions, told, status: None }));
            Ok(())
        },
    )?;
    Ok(found)
}

/// The names of sources by their numbers.
pub(super) fn source_names(index: &mut dyn Tx, numbers: &[i64]) -> Result<HashMap<i64, String>> {
    Ok(index.query_all(index_sql::SOURCES, params![&json!(numbers).to_string()])?.into_iter().collect())
}

/// The number of a source, which is new where it has none.
pub(super) fn source_number(index: &mut dyn Tx, name: &str) -> Result<i64> {
    if let Some(number) = index.query_first(index_sql::FIND_SOURCE, params![name])? {
        return Ok(number);
    }
    index.run(index_sql::ADD_SOURCE, params![name])?;
    index.query_one(index_sql::FIND_SOURCE, params![name])
}
