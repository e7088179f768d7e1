//! What was told of things, and by whom.

use super::texts;
use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;
use serde_json::json;

/// What somebody told of a thing.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityNote {
    pub entity: i64,
    /// `node:…` or `user:…`.
    pub said_by: String,
    /// The name as it was told.
    pub name: String,
    pub properties: String,
    /// 0 to 1.
    pub confidence: f64,
    pub said_at: i64,
}

impl EntityNote {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            entity: row.int(0)?,
            said_by: row.string(1)?,
            name: row.string(2)?,
            properties: row.string_or(3)?.unwrap_or_else(|| "{}".to_owned()),
            confidence: row.real(4)?,
            said_at: row.int(5)?,
        })
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
    tx.all(sql, params![&json!(ids).to_string(), MAX_NOTES], EntityNote::read)
}
