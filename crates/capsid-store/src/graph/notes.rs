//! What was told of things, and by whom.

use super::texts;
use crate::db::row::row;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use serde_json::json;

row! {
    /// What somebody told of a thing.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EntityNote {
        pub entity: i64 = "n.entity",
        /// `node:…` or `user:…`.
        pub said_by: String = "n.said_by",
        /// The name as it was told.
        pub name: String = "n.name",
        pub properties: String = "COALESCE(n.properties, '{}')",
        /// 0 to 1.
        pub confidence: f64 = "n.confidence",
        pub said_at: i64 = "n.said_at",
    }
}

/// How many notes of one thing are told: the surest, and of equals those that were told first.
const MAX_NOTES: i64 = 20;

/// What was told of some things, thing by thing.
pub fn notes(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<EntityNote>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = texts(tx).notes;
    tx.query_all(sql, params![&json!(ids).to_string(), MAX_NOTES])
}
