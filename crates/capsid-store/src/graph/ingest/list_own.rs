//! What somebody told, page by page.

use super::super::{Entity, Relation, entities};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use serde::Serialize;
use std::collections::BTreeSet;

/// Where a page ended, in both lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnGraphCursor {
    /// The number of the last thing.
    pub entity: Option<i64>,
    /// The number of the last relation.
    pub relation: Option<i64>,
}

row! {
    /// What somebody told of a thing.
    #[derive(Debug, Clone, PartialEq, Serialize)]
    pub struct OwnEntity {
        /// The number of the thing.
        pub entity: i64 = "entity",
        /// Its name as it was told.
        pub name: String = "name",
        /// What was told of it, as a JSON object.
        pub properties: Option<String> = "properties",
        /// 0 to 1.
        pub confidence: f64 = "confidence",
        pub said_at: i64 = "said_at",
    }
}

/// A relation that somebody told of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnRelation {
    pub relation: Relation,
    /// What was told of it, as a JSON object.
    pub properties: Option<String>,
}

row! {
    struct OwnRelationRow {
        id: i64 = "id",
        source: i64 = "source",
        kind: String = "kind",
        target: i64 = "target",
        said_by: String = "said_by",
        said_at: i64 = "said_at",
        confidence: f64 = "confidence",
        properties: Option<String> = "properties",
    }
}

impl OwnRelationRow {
    fn into_own(self) -> OwnRelation {
        let relation = Relation {
            source: self.source,
            kind: self.kind,
            target: self.target,
            said_by: self.said_by,
            said_at: Some(self.said_at),
            asset_id: None,
            confidence: self.confidence,
            claims: 1,
            is_told: true,
        };
        OwnRelation { relation, properties: self.properties }
    }
}

/// A page of what somebody told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnGraphPage {
    pub notes: Vec<OwnEntity>,
    pub relations: Vec<OwnRelation>,
    /// The things that these name, as far as they are to be seen.
    pub entities: Vec<Entity>,
    /// Where the next page begins; nothing after the last.
    pub next: Option<OwnGraphCursor>,
}

/// A page of what somebody told, at most so many of each.
pub fn mine(tx: &mut dyn Tx, who: &str, after: OwnGraphCursor, limit: usize) -> Result<OwnGraphPage> {
    let notes = tx.query_all::<OwnEntity>(
        select!(
            OwnEntity,
            "FROM ingested_notes
         WHERE said_by = $1 AND entity > $2 ORDER BY entity LIMIT $3"
        ),
        params![who, after.entity.unwrap_or(i64::MIN), limit as i64],
    )?;
    let relations = tx.query_all::<OwnRelationRow>(
        select!(
            OwnRelationRow,
            "FROM ingested_relations WHERE said_by = $1 AND id > $2 ORDER BY id LIMIT $3"
        ),
        params![who, after.relation.unwrap_or(i64::MIN), limit as i64],
    )?;
    let is_full = notes.len() == limit || relations.len() == limit;
    let next = OwnGraphCursor {
        entity: notes.last().map(|note| note.entity).or(after.entity),
        relation: relations.last().map(|row| row.id).or(after.relation),
    };
    let relations: Vec<OwnRelation> = relations.into_iter().map(OwnRelationRow::into_own).collect();
    let mut ids: BTreeSet<i64> = notes.iter().map(|note| note.entity).collect();
    ids.extend(relations.iter().flat_map(|own| [own.relation.source, own.relation.target]));
    let entities = entities(tx, &ids.into_iter().collect::<Vec<_>>())?;
    Ok(OwnGraphPage { notes, relations, entities, next: (is_full && limit > 0).then_some(next) })
}
