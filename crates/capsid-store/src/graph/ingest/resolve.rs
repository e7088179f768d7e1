//! What the names of a call mean, and whether they may be used.

use super::super::index_sql;
use super::super::read::{by_names, entities};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::ingest::{IngestBatch, IngestRefusal, MAX_REFUSALS, RelationEnd, confusable};
use capsid_rules::graph::names::{RULES, are_confusable, entity_id, key_of, look_alike_key};
use capsid_rules::graph::{EntityKey, kind};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// How many types are told that a name may mean.
const MAX_KINDS: usize = 20;

/// The things of a call, and the two ends of each of its relations.
pub struct ResolvedNames {
    pub things: HashMap<i64, EntityKey>,
    /// In the order of the relations.
    pub ends: Vec<(i64, i64)>,
}

/// What is there already, by the names of a call.
struct ExistingNames {
    /// Things that may be referred to.
    things: HashMap<i64, EntityKey>,
    /// Their keys, whatever kinds they are.
    by_key: HashMap<String, Vec<i64>>,
}

/// Finds what every name means.
pub fn resolve(tx: &mut dyn Tx, batch: &IngestBatch) -> Result<Result<ResolvedNames, Vec<IngestRefusal>>> {
    let existing = load_existing(tx, batch)?;
    let mut refusals = unknown_ids(batch, &existing);
    refusals.extend(find_look_alikes(tx, batch, &existing)?);
    let mut things: HashMap<i64, EntityKey> = existing.things.clone();
    let mut own: BTreeMap<&str, Vec<&EntityKey>> = BTreeMap::new();
    for entity in &batch.entities {
        things.insert(entity.thing.id(), entity.thing.clone());
        own.entry(&entity.thing.key).or_default().push(&entity.thing);
    }
    let mut ends = Vec::with_capacity(batch.relations.len());
    for (at, relation) in batch.relations.iter().enumerate() {
        let end =
            |end: &RelationEnd, which: &str| one(end, &format!("relations[{at}].{which}"), &own, &existing);
        match (end(&relation.source, "source_name"), end(&relation.target, "target_name")) {
            (Ok(source), Ok(target)) if source == target => refusals.push(IngestRefusal::new(
                "self_relation",
                format!("relations[{at}]"),
                "It joins a thing with itself.",
                "Name two different things.",
            )),
            (Ok(source), Ok(target)) => ends.push((source, target)),
            (source, target) => refusals.extend([source.err(), target.err()].into_iter().flatten()),
        }
        if refusals.len() >= MAX_REFUSALS {
            break;
        }
    }
    refusals.truncate(MAX_REFUSALS);
    Ok(if refusals.is_empty() { Ok(ResolvedNames { things, ends }) } else { Err(refusals) })
}

/// Looks up all names of a call at once.
fn load_existing(tx: &mut dyn Tx, batch: &IngestBatch) -> Result<ExistingNames> {
    let ends = || batch.relations.iter().flat_map(|relation| [&relation.source, &relation.target]);
    let mut ids: BTreeSet<i64> = batch.entities.iter().map(|entity| entity.thing.id()).collect();
    let of_kind = |end: &RelationEnd| end.kind.as_ref().map(|kind| entity_id(kind, &key_of(kind, &end.name)));
    ids.extend(ends().filter_map(of_kind));
    let open: HashSet<&str> = ends().filter(|end| end.kind.is_none()).map(|end| end.name.as_str()).collect();
    let open: Vec<&str> = open.into_iter().collect();
    ids.extend(by_names(tx, &open)?.into_iter().map(|(id, ..)| id));
    let ids: Vec<i64> = ids.into_iter().collect();
    let mut existing = ExistingNames { things: HashMap::new(), by_key: HashMap::new() };
    for entity in entities(tx, &ids)? {
        existing.by_key.entry(entity.key.clone()).or_default().push(entity.id);
        existing.things.insert(entity.id, EntityKey { kind: entity.kind, key: entity.key });
    }
    Ok(existing)
}

/// What the hub knows by an id cannot be invented.
fn unknown_ids(batch: &IngestBatch, existing: &ExistingNames) -> Vec<IngestRefusal> {
    let mut refusals = Vec::new();
    for (at, entity) in batch.entities.iter().enumerate() {
        let kind = &entity.thing.kind;
        if kind::is_known_by_id(kind) && !existing.things.contains_key(&entity.thing.id()) {
            refusals.push(IngestRefusal::new(
                "unknown_thing",
                format!("entities[{at}].name"),
                format!("The hub knows no such {kind}."),
                format!("Use the id of a {kind} that is there, or another entity_type."),
            ));
        }
    }
    refusals
}

/// A new name must not look like another thing's of its kind.
fn find_look_alikes(
    tx: &mut dyn Tx,
    batch: &IngestBatch,
    existing: &ExistingNames,
) -> Result<Vec<IngestRefusal>> {
    let is_new =
        |thing: &EntityKey| !kind::is_known_by_id(&thing.kind) && !existing.things.contains_key(&thing.id());
    let new: Vec<_> = batch.entities.iter().enumerate().filter(|(_, entity)| is_new(&entity.thing)).collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<_> =
        new.iter().map(|(_, entity)| json!([entity.thing.kind, look_alike_key(&entity.thing.key)])).collect();
    let mut keys: HashMap<(String, i64), BTreeSet<String>> = HashMap::new();
    let alike = tx
        .index()?
        .query_all::<(String, String)>(index_sql::BY_SKELETON, params![&json!(wanted).to_string()])?;
    for (kind, key) in alike {
        keys.entry((kind, look_alike_key(&key))).or_default().insert(key);
    }
    let mut refusals = Vec::new();
    for (at, entity) in new {
        let EntityKey { kind, key } = &entity.thing;
        // Plain letters look like nothing else, so that nobody takes a name from others by a likeness that came first.
        if key.is_ascii() {
            continue;
        }
        let alike = keys.get(&(kind.clone(), look_alike_key(key))).into_iter().flatten();
        if let Some(other) = alike.into_iter().find(|other| are_confusable(other, key)) {
            refusals.push(confusable(&format!("entities[{at}].name"), &entity.name, other, kind));
        }
    }
    Ok(refusals)
}

/// The one thing that an end means.
fn one(
    end: &RelationEnd,
    field: &str,
    own: &BTreeMap<&str, Vec<&EntityKey>>,
    existing: &ExistingNames,
) -> Result<i64, IngestRefusal> {
    let mut matches: BTreeMap<i64, &EntityKey> = BTreeMap::new();
    let keys: BTreeSet<String> = match &end.kind {
        Some(kind) => BTreeSet::from([key_of(kind, &end.name)]),
        None => RULES.map(|rule| key_of(rule, &end.name)).into_iter().collect(),
    };
    for key in &keys {
        let named = own.get(key.as_str()).into_iter().flatten().copied();
        let known = existing.by_key.get(key).into_iter().flatten().filter_map(|id| existing.things.get(id));
        matches.extend(named.chain(known).filter(|thing| end.means(thing)).map(|thing| (thing.id(), thing)));
    }
    match matches.keys().next() {
        Some(id) if matches.len() == 1 => Ok(*id),
        Some(_) => Err(ambiguous(field, matches.values().copied())),
        None => Err(IngestRefusal::new(
            "unknown_name",
            field,
            "Nothing is called so, neither in this call nor in the graph.",
            "Tell of it in `entities` of the same call, or use the name of something that is there.",
        )),
    }
}

/// A name that means several things.
pub fn ambiguous<'t>(field: &str, things: impl Iterator<Item = &'t EntityKey>) -> IngestRefusal {
    let kinds: BTreeSet<String> = things.map(|thing| format!("`{}`", thing.kind)).collect();
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).take(MAX_KINDS).collect();
    IngestRefusal::new(
        "ambiguous_name",
        field,
        format!("The name means several things, of the types {}.", kinds.join(", ")),
        format!("Say which by `{}`.", field.rsplit('.').next().unwrap_or_default().replace("name", "type")),
    )
}
