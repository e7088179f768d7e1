//! Ingesting: what accounts and nodes tell. All of a call is kept or nothing is; the same call again changes nothing.

pub mod forget;
pub mod list_own;
mod resolve;

use super::changes::{Subject, append};
use super::texts;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::graph::EntityKey;
use capsid_rules::graph::ingest::{IngestBatch, IngestRefusal};
use capsid_rules::graph::sum::relation_id;
use resolve::ResolvedNames;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// How many notes and relations one account or node may have told, where nothing else is set.
pub const MAX_TOLD: i64 = 100_000;

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum IngestOutcome {
    Done(IngestSummary),
    /// Nothing of it is, because of these.
    Refused(Vec<IngestRefusal>),
}

/// What a call changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct IngestSummary {
    /// How many things it told of.
    pub entities: usize,
    pub relations: usize,
    /// How many notes and relations are new.
    pub added: usize,
    /// How many took the place of what the same teller had told.
    pub changed: usize,
    /// How many were known already.
    pub unchanged: usize,
}

/// Keeps what somebody tells: `user:…` or `node:…`, who may have told `most` notes and relations in all.
pub fn ingest(
    tx: &mut dyn Tx,
    who: &str,
    batch: &IngestBatch,
    most: i64,
    now: Time,
) -> Result<IngestOutcome> {
    let resolved = match resolve::resolve(tx, batch)? {
        Ok(resolved) => resolved,
        Err(refusals) => return Ok(IngestOutcome::Refused(refusals)),
    };
    let notes = record_changes(tx, who, batch)?;
    let relations = match relation_changes(tx, who, batch, &resolved)? {
        Ok(changes) => changes,
        Err(refusal) => return Ok(IngestOutcome::Refused(vec![refusal])),
    };
    let new = notes.new.len() + relations.new.len();
    if new > 0
        && let Some(refusal) = too_much(tx, who, new, most)?
    {
        return Ok(IngestOutcome::Refused(vec![refusal]));
    }
    let done = IngestSummary {
        entities: batch.entities.len(),
        relations: batch.relations.len(),
        added: new,
        changed: notes.changed.len() + relations.changed.len(),
        unchanged: notes.unchanged + relations.unchanged,
    };
    let mut changed: Vec<Subject> =
        notes.written().map(|entity| Subject::Note(*entity, who.to_owned())).collect();
    changed.extend(relations.written().map(|id| Subject::Relation(*id)));
    write_notes(tx, who, notes, now)?;
    write_relations(tx, who, relations, now)?;
    append(tx, &changed, now)?;
    Ok(IngestOutcome::Done(done))
}

/// Rows to be written, as JSON, by their numbers.
#[derive(Default)]
struct IngestChanges {
    new: BTreeMap<i64, Value>,
    changed: BTreeMap<i64, Value>,
    unchanged: usize,
}

impl IngestChanges {
    /// The numbers of the rows that are new or other than before.
    fn written(&self) -> impl Iterator<Item = &i64> {
        self.new.keys().chain(self.changed.keys())
    }
}

fn record_changes(tx: &mut dyn Tx, who: &str, batch: &IngestBatch) -> Result<IngestChanges> {
    let ids: Vec<i64> = batch.entities.iter().map(|entity| entity.thing.id()).collect();
    let sql = texts(tx).own_notes;
    let known: HashMap<i64, (String, Option<String>, f64)> =
        tx.query_all(sql, params![who, &json!(ids).to_string()])?.into_iter().collect();
    let mut changes = IngestChanges::default();
    for (id, entity) in ids.iter().zip(&batch.entities) {
        let EntityKey { kind, key } = &entity.thing;
        let row = json!([id, kind, key, entity.name, entity.properties, entity.confidence]);
        match known.get(id) {
            None => drop(changes.new.insert(*id, row)),
            Some((name, properties, confidence))
                if *name == entity.name
                    && *properties == entity.properties
                    && *confidence == entity.confidence =>
            {
                changes.unchanged += 1;
            }
            Some(_) => drop(changes.changed.insert(*id, row)),
        }
    }
    Ok(changes)
}

fn relation_changes(
    tx: &mut dyn Tx,
    who: &str,
    batch: &IngestBatch,
    resolved: &ResolvedNames,
) -> Result<Result<IngestChanges, IngestRefusal>> {
    let mut rows: BTreeMap<i64, (Value, &Option<String>, f64)> = BTreeMap::new();
    let mut repeated = 0;
    for (at, (relation, (source, target))) in batch.relations.iter().zip(&resolved.ends).enumerate() {
        let id = relation_id(*source, &relation.kind, *target, who, true);
        let key = |id: &i64| resolved.things.get(id).map(|thing| (&thing.kind, &thing.key)).unzip();
        let ((source_kind, source_key), (target_kind, target_key)) = (key(source), key(target));
        let row = json!([
            id,
            source,
            source_kind,
            source_key,
            relation.kind,
            target,
            target_kind,
            target_key,
            relation.confidence,
            relation.properties
        ]);
        match rows.get(&id) {
            Some((known, ..)) if *known == row => repeated += 1,
            Some(_) => {
                return Ok(Err(IngestRefusal::new(
                    "duplicate_relation",
                    format!("relations[{at}]"),
                    "It is told twice in this call, with different content.",
                    "Tell of each relation once.",
                )));
            }
            None => drop(rows.insert(id, (row, &relation.properties, relation.confidence))),
        }
    }
    let sql = texts(tx).own_relations;
    let ids: Vec<i64> = rows.keys().copied().collect();
    let known: HashMap<i64, (Option<String>, f64)> =
        tx.query_all(sql, params![&json!(ids).to_string()])?.into_iter().collect();
    let mut changes = IngestChanges { unchanged: repeated, ..IngestChanges::default() };
    for (id, (row, properties, confidence)) in rows {
        match known.get(&id) {
            None => drop(changes.new.insert(id, row)),
            Some((known, as_sure)) if known == properties && *as_sure == confidence => changes.unchanged += 1,
            Some(_) => drop(changes.changed.insert(id, row)),
        }
    }
    Ok(Ok(changes))
}

/// Whether somebody would have told more than one may. No more is counted than matters.
fn too_much(tx: &mut dyn Tx, who: &str, new: usize, most: i64) -> Result<Option<IngestRefusal>> {
    let room = most.saturating_sub(new as i64).max(0);
    let known = tx.count(
        "SELECT COUNT(*) FROM (SELECT 1 FROM ingested_notes WHERE said_by = $1
            UNION ALL SELECT 1 FROM ingested_relations WHERE said_by = $1 LIMIT $2) t",
        params![who, room + 1],
    )?;
    Ok((known > room || new as i64 > most).then(|| {
        IngestRefusal::new(
            "graph_full",
            "entities",
            format!(
                "At most {most} things and relations are kept for each account and node, and with the {new} new ones \
                 of this call you would have told more."
            ),
            "Take back what is no longer needed with POST /kg/forget, or ask the hub's operator to raise \
             `graph.most_told`.",
        )
    }))
}

fn rows(of: BTreeMap<i64, Value>) -> String {
    Value::Array(of.into_values().collect()).to_string()
}

fn write_notes(tx: &mut dyn Tx, who: &str, changes: IngestChanges, now: Time) -> Result<()> {
    let texts = texts(tx);
    if !changes.new.is_empty() {
        tx.run(texts.add_notes, params![&rows(changes.new), who, now])?;
    }
    if !changes.changed.is_empty() {
        tx.run(texts.change_notes, params![&rows(changes.changed), who, now])?;
    }
    Ok(())
}

fn write_relations(tx: &mut dyn Tx, who: &str, changes: IngestChanges, now: Time) -> Result<()> {
    let texts = texts(tx);
    if !changes.new.is_empty() {
        tx.run(texts.add_told, params![&rows(changes.new), who, now])?;
    }
    if !changes.changed.is_empty() {
        tx.run(texts.change_told, params![&rows(changes.changed), now])?;
    }
    Ok(())
}
