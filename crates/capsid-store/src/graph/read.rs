//! Things as they are shown: what they are called, and whether they are to be seen at all.

use super::{Entity, entity_rows, index_sql, texts};
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::graph::membership::is_in_graph;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::assets::traits;
use capsid_rules::graph::{kind, names};
use capsid_rules::lifecycle::AssetStatus;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// How much of a summary is a name, in characters.
const MAX_NAME: usize = 120;
/// How many relations of a thing are counted at most, and how many of all things together.
const COUNTED: usize = 1_000;
const COUNTED_TOGETHER: usize = 30_000;

/// Things by their ids, in the order of these. Those that are not there are left out, and so are assets that were
/// withdrawn, refused or held back.
pub fn entities(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<Entity>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows: Vec<Entity> =
        entity_rows::by_wire_ids(tx.index()?, ids)?.into_iter().map(|(_, thing)| thing).collect();
    name_as_told(tx, &mut rows)?;
    let seen = EntityLookup::load(tx, &rows)?;
    let mut by_id: HashMap<i64, Entity> =
        rows.into_iter().filter_map(|thing| seen.show(thing)).map(|thing| (thing.id, thing)).collect();
    Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
}

/// Leaves out what is not to be seen. What the others are called is not looked up.
pub(super) fn retain_visible(tx: &mut dyn Tx, things: &mut Vec<Entity>) -> Result<()> {
    let mut seen: HashSet<String> = HashSet::new();
    let ids = keys(things, &kind::is_asset);
    let ids: Vec<&str> = ids.into_iter().filter_map(|key| key.strip_prefix("sha256:")).collect();
    if !ids.is_empty() {
        let sql = texts(tx).asset_states;
        let states = tx.query_all::<(AssetId, AssetStatus, String)>(sql, params![&json!(ids).to_string()])?;
        let shown = states.into_iter().filter(|(_, status, tier)| is_shown(*status, tier));
        seen.extend(shown.map(|(id, ..)| id.to_string()));
    }
    for (of, sql) in [(kind::NODE, texts(tx).node_ids), (kind::TASK, texts(tx).task_ids)] {
        let ids = keys(things, &|kind| kind == of);
        if !ids.is_empty() {
            seen.extend(tx.query_all::<String>(sql, params![&json!(ids).to_string()])?);
        }
    }
    things.retain(|thing| !kind::is_known_by_id(&thing.kind) || seen.contains(&thing.key));
    Ok(())
}

/// Whether an asset in a state is to be seen.
fn is_shown(status: AssetStatus, tier: &str) -> bool {
    is_in_graph(status) && tier != "delisted"
}

fn keys<'t>(things: &'t [Entity], wanted: &dyn Fn(&str) -> bool) -> Vec<&'t str> {
    things.iter().filter(|thing| wanted(&thing.kind)).map(|thing| thing.key.as_str()).collect()
}

/// Calls things that only were told of as the first teller does.
fn name_as_told(tx: &mut dyn Tx, things: &mut [Entity]) -> Result<()> {
    let is_told = |thing: &Entity| thing.told > 0 && !kind::ALL.contains(&thing.kind.as_str());
    let ids: Vec<i64> = things.iter().filter(|thing| is_told(thing)).map(|thing| thing.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let sql = texts(tx).told_names;
    let names: HashMap<i64, String> =
        tx.query_all(sql, params![&json!(ids).to_string()])?.into_iter().collect();
    for thing in things {
        if let Some(name) = names.get(&thing.id) {
            thing.name.clone_from(name);
        }
    }
    Ok(())
}

/// What the hub knows of things by their ids: what they are called, and how they stand.
struct EntityLookup(HashMap<(&'static str, String), EntityLabel>);

/// A name and a status, as far as there are any.
type EntityLabel = (Option<String>, Option<String>);

impl EntityLookup {
    fn load(tx: &mut dyn Tx, things: &[Entity]) -> Result<Self> {
        let mut seen = HashMap::new();
        let ids: Vec<&str> =
            keys(things, &kind::is_asset).into_iter().filter_map(|key| key.strip_prefix("sha256:")).collect();
        if !ids.is_empty() {
            let sql = texts(tx).assets;
            let assets = tx
                .query_all::<(AssetId, AssetStatus, String, String)>(sql, params![&json!(ids).to_string()])?;
            for (id, status, tier, card) in assets {
                if is_shown(status, &tier) {
                    let known = (name_of_card(&card), Some(status.as_str().to_owned()));
                    seen.insert(("asset", id.to_string()), known);
                }
            }
        }
        let nodes = keys(things, &|kind| kind == kind::NODE);
        if !nodes.is_empty() {
            let sql = texts(tx).nodes;
            for (node_id, name) in tx.query_all(sql, params![&json!(nodes).to_string()])? {
                seen.insert((kind::NODE, node_id), (name, None));
            }
        }
        let tasks = keys(things, &|kind| kind == kind::TASK);
        if !tasks.is_empty() {
            let sql = texts(tx).titles;
            for (task_id, title, status) in tx.query_all(sql, params![&json!(tasks).to_string()])? {
                seen.insert((kind::TASK, task_id), (Some(title), Some(status)));
            }
        }
        Ok(Self(seen))
    }

    /// A thing with its name, if it is to be seen.
    fn show(&self, mut thing: Entity) -> Option<Entity> {
        let table = match thing.kind.as_str() {
            kind if kind::is_asset(kind) => "asset",
            kind::NODE => kind::NODE,
            kind::TASK => kind::TASK,
            _ => return Some(thing),
        };
        let (name, status) = self.0.get(&(table, thing.key.clone()))?;
        if let Some(name) = name.as_ref().filter(|name| !name.trim().is_empty()) {
            thing.name = shortened(name);
        }
        thing.status.clone_from(status);
        Some(thing)
    }
}

fn name_of_card(card: &str) -> Option<String> {
    let card = traits::card_members(card);
    let text = |key: &str| card.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    text("summary").or_else(|| text("local_id")).map(str::to_owned)
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(MAX_NAME - 1).collect();
    format!("{}…", start.trim_end())
}

/// The things with a name, of one kind where it is given.
pub fn named(tx: &mut dyn Tx, kind: Option<&str>, name: &str) -> Result<Vec<Entity>> {
    if let Some(kind) = kind {
        return entities(tx, &[names::entity_id(kind, &names::key_of(kind, name))]);
    }
    let ids = by_names(tx, &[name])?;
    entities(tx, &ids.iter().map(|(id, ..)| *id).collect::<Vec<_>>())
}

/// Ids, kinds and keys of the things that one of some names may mean.
pub(super) fn by_names(tx: &mut dyn Tx, wanted: &[&str]) -> Result<Vec<(i64, String, String)>> {
    let mut by_rule: HashMap<&str, HashSet<String>> = HashMap::new();
    for rule in names::RULES {
        by_rule.insert(rule, wanted.iter().map(|name| names::key_of(rule, name)).collect());
    }
    let keys: BTreeSet<&String> = by_rule.values().flatten().filter(|key| !key.is_empty()).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let index = tx.index()?;
    let mut rows =
        index.query_all::<(i64, String, String)>(index_sql::BY_KEY, params![&json!(keys).to_string()])?;
    // Assets are many and have no names of their own: what is called like one is found by the id that follows from it.
    let assets: Vec<i64> = keys
        .iter()
        .filter(|key| key.starts_with("sha256:"))
        .flat_map(|key| [kind::GENE, kind::CAPSULE, kind::EVENT].map(|kind| names::entity_id(kind, key)))
        .collect();
    let assets = entity_rows::by_wire_ids(index, &assets)?;
    rows.extend(assets.into_iter().map(|(_, asset)| (asset.id, asset.kind, asset.key)));
    let is_meant = |(_, kind, key): &(i64, String, String)| {
        by_rule.get(names::rule_of(kind)).is_some_and(|keys| keys.contains(key))
    };
    Ok(rows.into_iter().filter(is_meant).collect())
}

/// How many relations things have, counted up to 1,000; where many things are asked for, up to fewer.
pub fn degrees(tx: &mut dyn Tx, ids: &[i64]) -> Result<HashMap<i64, i64>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let each = (COUNTED_TOGETHER / ids.len()).clamp(1, COUNTED) as i64;
    let counted =
        tx.index()?.query_all::<(i64, i64)>(index_sql::DEGREES, params![&json!(ids).to_string(), each])?;
    Ok(counted.into_iter().collect())
}

/// How much there is of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GraphCounts {
    pub entities: BTreeMap<String, i64>,
    pub relations: BTreeMap<String, i64>,
}

/// How much there is.
pub fn counts(tx: &mut dyn Tx) -> Result<GraphCounts> {
    let index = tx.index()?;
    let mut count = |is_relation: bool| -> Result<BTreeMap<String, i64>> {
        Ok(index.query_all::<(String, i64)>(index_sql::KINDS, params![is_relation])?.into_iter().collect())
    };
    Ok(GraphCounts { entities: count(false)?, relations: count(true)? })
}

/// How many entities there are, or relations.
pub(super) fn count_all(index: &mut dyn Tx, is_relation: bool) -> Result<i64> {
    Ok(index.query_first(index_sql::ALL_OF_A_KIND, params![is_relation])?.unwrap_or_default())
}
