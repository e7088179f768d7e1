//! Looking at the knowledge graph: what was told of things and by whom, how much hangs together with them, and how much
//! there is of everything.

use crate::graph::Relation;
use crate::id::AssetId;
use crate::params;
use crate::tx::{Dialect, Row, Tx};
use capsid_model::problem::Result;
use std::collections::HashMap;

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

/// How many notes of one thing are told: those that were told first.
const MOST_NOTES: i64 = 20;

/// What was told of some things.
pub fn notes(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<Note>> {
    let mut found = Vec::new();
    for id in ids {
        found.extend(tx.all(
            "SELECT entity, said_by, name, properties, confidence, said_at FROM graph_notes WHERE entity = $1
             ORDER BY said_by LIMIT $2",
            params![*id, MOST_NOTES],
            Note::read,
        )?);
    }
    Ok(found)
}

/// How many relations each of some things has, either way, up to a bound. A relation of a thing with itself counts once.
pub fn degrees(tx: &mut dyn Tx, ids: &[i64], most: usize) -> Result<HashMap<i64, i64>> {
    let list = serde_json::to_string(ids).unwrap_or_default();
    let sql = match tx.dialect() {
        Dialect::Sqlite => {
            "SELECT i.value, (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations r WHERE r.source = i.value LIMIT $2))
                + (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations r WHERE r.target = i.value
                    AND r.source <> i.value LIMIT $2))
             FROM json_each($1) i"
        }
        Dialect::Postgres => {
            "SELECT i.id, (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations r WHERE r.source = i.id LIMIT $2) s)
                + (SELECT COUNT(*) FROM (SELECT 1 FROM graph_relations r WHERE r.target = i.id
                    AND r.source <> i.id LIMIT $2) t)
             FROM (SELECT CAST(value AS BIGINT) AS id FROM json_array_elements_text(CAST($1 AS JSON))) i"
        }
    };
    Ok(tx.all(sql, params![&list, most as i64], |row| Ok((row.int(0)?, row.int(1)?)))?.into_iter().collect())
}

/// How much there is of what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Things.
    pub entities: i64,
    /// Things by kind, most first.
    pub kinds: Vec<(String, i64)>,
    /// Relations.
    pub relations: i64,
}

/// The most kinds that are told apart.
const MOST_KINDS: i64 = 100;

/// Counts everything, which takes a while where there is much.
pub fn counts(tx: &mut dyn Tx) -> Result<Counts> {
    let kinds = tx.all(
        "SELECT kind, COUNT(*) FROM graph_entities GROUP BY kind ORDER BY 2 DESC, 1 LIMIT $1",
        params![MOST_KINDS],
        |row| Ok((row.string(0)?, row.int(1)?)),
    )?;
    let entities = tx.number("SELECT COUNT(*) FROM graph_entities", params![])?;
    let relations = tx.number("SELECT COUNT(*) FROM graph_relations", params![])?;
    Ok(Counts { entities, kinds, relations })
}

/// What somebody told of things, in the order of these, after one of them.
pub fn notes_by(tx: &mut dyn Tx, who: &str, after: Option<i64>, limit: usize) -> Result<Vec<Note>> {
    tx.all(
        "SELECT entity, said_by, name, properties, confidence, said_at FROM graph_notes
         WHERE said_by = $1 AND ($2 IS NULL OR entity > $2) ORDER BY entity LIMIT $3",
        params![who, after, limit as i64],
        Note::read,
    )
}

/// A relation that was told, and its number.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldRelation {
    /// Its number.
    pub id: i64,
    /// The relation.
    pub relation: Relation,
    /// A JSON object.
    pub properties: String,
}

/// The relations that somebody told, after one of them.
pub fn relations_by(
    tx: &mut dyn Tx,
    who: &str,
    after: Option<i64>,
    limit: usize,
) -> Result<Vec<ToldRelation>> {
    tx.all(
        "SELECT id, source, kind, target, said_by, said_at, asset_id, confidence, claims, properties
         FROM graph_relations WHERE said_by = $1 AND is_told = 1 AND ($2 IS NULL OR id > $2) ORDER BY id LIMIT $3",
        params![who, after, limit as i64],
        |row| {
            Ok(ToldRelation {
                id: row.int(0)?,
                relation: Relation {
                    source: row.int(1)?,
                    kind: row.string(2)?,
                    target: row.int(3)?,
                    said_by: row.string(4)?,
                    said_at: Some(row.int(5)?),
                    asset_id: AssetId::read_or(row, 6)?,
                    confidence: row.real(7)?,
                    claims: row.int(8)?,
                    is_told: true,
                },
                properties: row.string_or(9)?.unwrap_or_else(|| "{}".to_owned()),
            })
        },
    )
}
