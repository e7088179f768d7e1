//! What was told of things, and by whom.

use crate::params;
use crate::tx::{Row, Tx};
use capsid_model::problem::Result;

/// What somebody told of a thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The thing.
    pub entity: i64,
    /// `node:…` or `user:…`.
    pub said_by: String,
    /// The name as it was told.
    pub name: String,
    /// A JSON object.
    pub properties: String,
    /// 0 to 1.
    pub confidence: f64,
    /// When.
    pub said_at: i64,
}

impl Note {
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
const MOST_NOTES: i64 = 20;

/// What was told of some things.
pub fn notes(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<Note>> {
    let mut found = Vec::new();
    for id in ids {
        found.extend(tx.all(
            "SELECT entity, said_by, name, properties, confidence, said_at FROM graph_notes WHERE entity = $1
             ORDER BY confidence DESC, said_at, said_by LIMIT $2",
            params![*id, MOST_NOTES],
            Note::read,
        )?);
    }
    Ok(found)
}
