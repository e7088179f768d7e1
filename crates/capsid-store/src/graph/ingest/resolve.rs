//! What the names of a call mean, and whether they may be used.

use super::super::read::{by_names, entities};
use super::super::texts;
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
pub fn resolve(tx: &mut dyn Tx, told: &IngestBatch) -> Result<Result<ResolvedNames, Vec<IngestRefusal>>> {
    let there = there(tx, told)?;
    let mut refusals = unknown_ids(told, &there);
    refusals.extend(find_look_alikes(tx, told, &there)?);
    let mut things: HashMap<i64, EntityKey> = there.things.clone();
    let mut own: BTreeMap<&str, Vec<&EntityKey>> = BTreeMap::new();
    for entity in &told.entities {
        things.insert(entity.thing.id(), entity.thing.clone());
        own.entry(&entity.thing.key).or_default().push(&entity.thing);
    }
    let mut ends = Vec::with_capacity(told.relations.len());
    for (at, relation) in told.relations.iter().enumerate() {
        let end =
            |end: &RelationEnd, which: &str| one(end, &format!("relations[{at}].{which}"), &own, &there);
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
fn there(tx: &mut dyn Tx, told: &IngestBatch) -> Result<ExistingNames> {
    let ends = || told.relations.iter().flat_map(|relation| [&relation.source, &relation.target]);
    let mut ids: BTreeSet<i64> = told.entities.iter().map(|entity| entity.thing.id()).collect();
    let of_kind = |end: &RelationEnd| end.kind.as_ref().map(|kind| entity_id(kind, &key_of(kind, &end.name)));
    ids.extend(ends().filter_map(of_kind));
    let open: HashSet<&str> = ends().filter(|end| end.kind.is_none()).map(|end| end.name.as_str()).collect();
    let open: Vec<&str> = open.into_iter().collect();
    ids.extend(by_names(tx, &open)?.into_iter().map(|(id, ..)| id));
    let ids: Vec<i64> = ids.into_iter().collect();
    let mut there = ExistingNames { things: HashMap::new(), by_key: HashMap::new() };
    for found in entities(tx, &ids)? {
        there.by_key.entry(found.key.clone()).or_default().push(found.id);
        there.things.insert(found.id, EntityKey { kind: found.kind, key: found.key });
    }
    Ok(there)
}

/// What the hub knows by an id cannot be invented.
fn unknown_ids(told: &IngestBatch, there: &ExistingNames) -> Vec<IngestRefusal> {
    let mut refusals = Vec::new();
    for (at, entity) in told.entities.iter().enumerate() {
        let kind = &entity.thing.kind;
        if kind::is_known_by_id(kind) && !there.things.contains_key(&entity.thing.id()) {
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
    told: &IngestBatch,
    there: &ExistingNames,
) -> Result<Vec<IngestRefusal>> {
    let is_new =
        |thing: &EntityKey| !kind::is_known_by_id(&thing.kind) && !there.things.contains_key(&thing.id());
    let new: Vec<_> = told.entities.iter().enumerate().filter(|(_, entity)| is_new(&entity.thing)).collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<_> =
        new.iter().map(|(_, entity)| json!([entity.thing.kind, look_alike_key(&entity.thing.key)])).collect();
    let sql = texts(tx).by_looks;
    let mut found: HashMap<(String, i64), BTreeSet<String>> = HashMap::new();
    for (kind, key) in tx.query_all::<(String, String)>(sql, params![&json!(wanted).to_string()])? {
        found.entry((kind, look_alike_key(&key))).or_default().insert(key);
    }
    let mut refusals = Vec::new();
    for (at, entity) in new {
        let EntityKey { kind, key } = &entity.thing;
        // Plain letters look like nothing else, so that nobody takes a name from others by a likeness that came first.
        if key.is_ascii() {
            continue;
        }
        let alike = found.get(&(kind.clone(), look_alike_key(key))).into_iter().flatten();
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
    there: &ExistingNames,
) -> Result<i64, IngestRefusal> {
    let mut found: BTreeMap<i64, &EntityKey> = BTreeMap::new();
    let keys: BTreeSet<String> = match &end.kind {
        Some(kind) => BTreeSet::from([key_of(kind, &end.name)]),
        None => RULES.map(|rule| key_of(rule, &end.name)).into_iter().collect(),
    };
    for key in &keys {
        let told = own.get(key.as_str()).into_iter().flatten().copied();
        let known = there.by_key.get(key).into_iter().flatten().filter_map(|id| there.things.get(id));
        found.extend(told.chain(known).filter(|thing| end.means(thing)).map(|thing| (thing.id(), thing)));
    }
    match found.keys().next() {
        Some(id) if found.len() == 1 => Ok(*id),
        Some(_) => Err(ambiguous(field, found.values().copied())),
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
