//! Things as they are shown: what they are called, and whether they are to be seen at all.

use super::{Entity, index_sql, texts};
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
/// How many relations of a thing are counted at most, for each direction, and how many of all things together.
const COUNTED: usize = 1_000;
const COUNTED_TOGETHER: usize = 100_000;

/// Things by their numbers, in the order of these. Those that are not there are left out, and so are assets that were
/// withdrawn, refused or held back.
pub fn entities(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<Entity>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    type Columns = (i64, String, String, i64, i64);
    let rows = tx.index()?.query_all::<Columns>(index_sql::THINGS, params![&json!(ids).to_string()])?;
    let entity = |(id, kind, key, mentions, told): Columns| Entity {
        id,
        name: key.clone(),
        kind,
        key,
        mentions,
        told,
        status: None,
    };
    let mut rows: Vec<Entity> = rows.into_iter().map(entity).collect();
    name_as_told(tx, &mut rows)?;
    let seen = EntityLookup::load(tx, &rows)?;
    let mut by_id: HashMap<i64, Entity> =
        rows.into_iter().filter_map(|thing| seen.show(thing)).map(|thing| (thing.id, thing)).collect();
    Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
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
        let keys = |wanted: &dyn Fn(&str) -> bool| -> Vec<&str> {
            things.iter().filter(|thing| wanted(&thing.kind)).map(|thing| thing.key.as_str()).collect()
        };
        let mut seen = HashMap::new();
        let ids: Vec<&str> =
            keys(&kind::is_asset).into_iter().filter_map(|key| key.strip_prefix("sha256:")).collect();
        if !ids.is_empty() {
            let sql = texts(tx).assets;
            let assets = tx
                .query_all::<(AssetId, AssetStatus, String, String)>(sql, params![&json!(ids).to_string()])?;
            for (id, status, tier, card) in assets {
                if is_in_graph(status) && tier != "delisted" {
                    let known = (name_of_card(&card), Some(status.as_str().to_owned()));
                    seen.insert(("asset", id.to_string()), known);
                }
            }
        }
        let nodes = keys(&|kind| kind == kind::NODE);
        if !nodes.is_empty() {
            let sql = texts(tx).nodes;
            for (node_id, name) in tx.query_all(sql, params![&json!(nodes).to_string()])? {
                seen.insert((kind::NODE, node_id), (name, None));
            }
        }
        let tasks = keys(&|kind| kind == kind::TASK);
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

/// The numbers of those things that are to be seen.
pub(super) fn find_visible(tx: &mut dyn Tx, ids: &HashSet<i64>) -> Result<HashMap<i64, Entity>> {
    let mut sorted: Vec<i64> = ids.iter().copied().collect();
    sorted.sort_unstable();
    Ok(entities(tx, &sorted)?.into_iter().map(|thing| (thing.id, thing)).collect())
}

/// The things with a name, of one kind where it is given.
pub fn named(tx: &mut dyn Tx, kind: Option<&str>, name: &str) -> Result<Vec<Entity>> {
    if let Some(kind) = kind {
        return entities(tx, &[names::entity_id(kind, &names::key_of(kind, name))]);
    }
    let ids = by_names(tx, &[name])?;
    entities(tx, &ids.iter().map(|(id, ..)| *id).collect::<Vec<_>>())
}

/// Numbers, kinds and keys of the things that one of some names may mean.
pub(super) fn by_names(tx: &mut dyn Tx, wanted: &[&str]) -> Result<Vec<(i64, String, String)>> {
    let mut by_rule: HashMap<&str, HashSet<String>> = HashMap::new();
    for rule in names::RULES {
        by_rule.insert(rule, wanted.iter().map(|name| names::key_of(rule, name)).collect());
    }
    let keys: BTreeSet<&String> = by_rule.values().flatten().filter(|key| !key.is_empty()).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let rows = tx
        .index()?
        .query_all::<(i64, String, String)>(index_sql::BY_KEY, params![&json!(keys).to_string()])?;
    let is_meant = |(_, kind, key): &(i64, String, String)| {
        by_rule.get(names::rule_of(kind)).is_some_and(|keys| keys.contains(key))
    };
    Ok(rows.into_iter().filter(is_meant).collect())
}

/// How many relations things have, counted up to 1,000 for each direction; where many things are asked for, up to fewer.
pub fn degrees(tx: &mut dyn Tx, ids: &[i64]) -> Result<HashMap<i64, i64>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let each = (COUNTED_TOGETHER / (2 * ids.len())).clamp(1, COUNTED) as i64;
    let counted = tx
        .index()?
        .query_all::<(i64, i64, i64)>(index_sql::DEGREES, params![&json!(ids).to_string(), each])?;
    Ok(counted.into_iter().map(|(id, outgoing, incoming)| (id, outgoing + incoming)).collect())
}

/// How much there is of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GraphCounts {
    pub entities: BTreeMap<String, i64>,
    pub relations: BTreeMap<String, i64>,
}

/// Counts all there is. It looks at everything, so its answer should be kept for a while.
pub fn counts(tx: &mut dyn Tx) -> Result<GraphCounts> {
    let index = tx.index()?;
    let mut count = |sql: &'static str| -> Result<BTreeMap<String, i64>> {
        Ok(index.query_all::<(String, i64)>(sql, params![])?.into_iter().collect())
    };
    Ok(GraphCounts {
        entities: count("SELECT kind, COUNT(*) FROM entities GROUP BY kind")?,
        relations: count("SELECT kind, COUNT(*) FROM relations GROUP BY kind")?,
    })
}
