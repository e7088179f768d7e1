//! Taking back what was told: everything that somebody told, or some of it. What others told, and what the hub itself
//! says, stays as it is. All of a call is done or nothing is; the same call again changes nothing.

use super::super::changes::{Subject, append};
use super::super::read::by_names;
use super::super::texts;
use super::resolve::ambiguous;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::graph::ingest::{IngestBatch, IngestRefusal, MAX_REFUSALS, RelationEnd};
use capsid_rules::graph::names::{entity_id, key_of};
use capsid_rules::graph::sum::relation_id;
use capsid_rules::graph::{EntityKey, names};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How many notes or relations go together.
const TOGETHER: usize = 1_000;

/// What is to be taken back.
#[derive(Debug, Clone, PartialEq)]
pub enum ForgetSelection {
    Everything,
    /// What was told of these things, and these relations. Properties and confidence do not matter.
    Some(IngestBatch),
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ForgetOutcome {
    Done(ForgetSummary),
    /// Nothing of it is, because of these.
    Refused(Vec<IngestRefusal>),
}

/// What was taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ForgetSummary {
    /// What was told of so many things.
    pub entities: usize,
    pub relations: usize,
    /// So much was named that the teller had not told.
    pub not_told: usize,
}

/// How much somebody has told.
pub fn count_statements_by(tx: &mut dyn Tx, who: &str) -> Result<ForgetSummary> {
    let notes = tx.count("SELECT COUNT(*) FROM ingested_notes WHERE said_by = $1", params![who])?;
    let relations = tx.count("SELECT COUNT(*) FROM ingested_relations WHERE said_by = $1", params![who])?;
    let count = |number: i64| usize::try_from(number).unwrap_or_default();
    Ok(ForgetSummary { entities: count(notes), relations: count(relations), not_told: 0 })
}

/// Takes back what somebody told: `user:…` or `node:…`.
pub fn forget_statements(
    tx: &mut dyn Tx,
    who: &str,
    which: &ForgetSelection,
    now: Time,
) -> Result<ForgetOutcome> {
    match which {
        ForgetSelection::Everything => everything(tx, who, now).map(ForgetOutcome::Done),
        ForgetSelection::Some(batch) => some(tx, who, batch, now),
    }
}

fn everything(tx: &mut dyn Tx, who: &str, now: Time) -> Result<ForgetSummary> {
    let mut done = ForgetSummary::default();
    loop {
        let notes =
            page(tx, "SELECT entity FROM ingested_notes WHERE said_by = $1 ORDER BY entity LIMIT $2", who)?;
        let relations =
            page(tx, "SELECT id FROM ingested_relations WHERE said_by = $1 ORDER BY id LIMIT $2", who)?;
        if notes.is_empty() && relations.is_empty() {
            return Ok(done);
        }
        let (entities, relations) = delete_statements(tx, who, &notes, &relations, now)?;
        done.entities += entities;
        done.relations += relations;
    }
}

fn page(tx: &mut dyn Tx, sql: &'static str, who: &str) -> Result<Vec<i64>> {
    tx.query_all::<i64>(sql, params![who, TOGETHER as i64])
}

fn some(tx: &mut dyn Tx, who: &str, batch: &IngestBatch, now: Time) -> Result<ForgetOutcome> {
    let notes: BTreeSet<i64> = batch.entities.iter().map(|entity| entity.thing.id()).collect();
    let (relations, unknown) = match relations_meant(tx, who, batch)? {
        Ok(meant) => meant,
        Err(refusals) => return Ok(ForgetOutcome::Refused(refusals)),
    };
    let (notes, ids): (Vec<i64>, Vec<i64>) = (notes.into_iter().collect(), relations.into_iter().collect());
    let (entities, relations) = delete_statements(tx, who, &notes, &ids, now)?;
    let not_told = unknown + notes.len() + ids.len() - entities - relations;
    Ok(ForgetOutcome::Done(ForgetSummary { entities, relations, not_told }))
}

/// The numbers of relations, and how many join what is not there.
type RelationSelection = (BTreeSet<i64>, usize);

/// The numbers that the named relations have, if the teller told them. Whether their ends are still to be seen does not
/// matter: what was said of a withdrawn asset can be taken back as well.
fn relations_meant(
    tx: &mut dyn Tx,
    who: &str,
    batch: &IngestBatch,
) -> Result<Result<RelationSelection, Vec<IngestRefusal>>> {
    let ends = || batch.relations.iter().flat_map(|relation| [&relation.source, &relation.target]);
    let open: HashSet<&str> = ends().filter(|end| end.kind.is_none()).map(|end| end.name.as_str()).collect();
    let open: Vec<&str> = open.into_iter().collect();
    let mut existing: HashMap<String, Vec<EntityKey>> = HashMap::new();
    for (_, kind, key) in by_names(tx, &open)? {
        existing.entry(key.clone()).or_default().push(EntityKey { kind, key });
    }
    let (mut meant, mut unknown, mut refusals) = (BTreeSet::new(), 0, Vec::new());
    for (at, relation) in batch.relations.iter().enumerate() {
        let end = |end: &RelationEnd, which: &str| one(end, &format!("relations[{at}].{which}"), &existing);
        match (end(&relation.source, "source_name"), end(&relation.target, "target_name")) {
            (Ok(Some(source)), Ok(Some(target))) => {
                meant.insert(relation_id(source, &relation.kind, target, who, true));
            }
            (Ok(_), Ok(_)) => unknown += 1,
            (source, target) => refusals.extend([source.err(), target.err()].into_iter().flatten()),
        }
    }
    refusals.truncate(MAX_REFUSALS);
    Ok(if refusals.is_empty() { Ok((meant, unknown)) } else { Err(refusals) })
}

/// The thing that an end means; nothing where nothing is called so.
fn one(
    end: &RelationEnd,
    field: &str,
    existing: &HashMap<String, Vec<EntityKey>>,
) -> Result<Option<i64>, IngestRefusal> {
    if let Some(kind) = &end.kind {
        return Ok(Some(entity_id(kind, &key_of(kind, &end.name))));
    }
    let keys: BTreeSet<String> = names::RULES.map(|rule| key_of(rule, &end.name)).into_iter().collect();
    let matches: Vec<&EntityKey> =
        keys.iter().filter_map(|key| existing.get(key)).flatten().filter(|thing| end.means(thing)).collect();
    match matches.as_slice() {
        [] => Ok(None),
        [thing] => Ok(Some(thing.id())),
        several => Err(ambiguous(field, several.iter().copied())),
    }
}

/// Takes away notes and relations of a teller by their numbers. Tells how many of both there were.
fn delete_statements(
    tx: &mut dyn Tx,
    who: &str,
    notes: &[i64],
    relations: &[i64],
    now: Time,
) -> Result<(usize, usize)> {
    let texts = texts(tx);
    let list = |ids: &[i64]| json!(ids).to_string();
    let notes = tx.query_all::<i64>(texts.forget_notes, params![who, &list(notes)])?;
    let relations = tx.query_all::<i64>(texts.forget_told, params![who, &list(relations)])?;
    let mut changed: Vec<Subject> =
        notes.iter().map(|entity| Subject::Note(*entity, who.to_owned())).collect();
    changed.extend(relations.iter().map(|id| Subject::Relation(*id)));
    append(tx, &changed, now)?;
    Ok((notes.len(), relations.len()))
}
