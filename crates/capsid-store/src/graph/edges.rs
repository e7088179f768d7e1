//! How some entities are directly connected: the first rows of each lane that an entity has.

use super::{Entity, Relation, entity_rows, index_sql, link_name};
use crate::assets::id::AssetId;
use crate::damaged;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::link;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A relation as the index holds it: its ends, its source and the asset that says so by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Edge {
    pub source: i64,
    pub lane: i64,
    pub kind: String,
    pub target: i64,
    pub said_by: i64,
    pub said_at: i64,
    pub asset: Option<i64>,
    pub confidence: i64,
    pub claims: i64,
}

/// A row of an edge: lane, moment, other end, kind, source, asset, confidence, claims.
pub(super) type EdgeRow = (i64, i64, i64, String, i64, Option<i64>, i64, i64);

impl Edge {
    /// The edge that a row of an entity stands for.
    pub fn from_row(entity: i64, row: EdgeRow) -> Self {
        let (lane, asserted_at, other, kind, said_by, asset, confidence, claims) = row;
        let (source, target) = if lane % 2 == 0 { (entity, other) } else { (other, entity) };
        Self {
            source,
            lane: lane / 2,
            kind,
            target,
            said_by,
            said_at: -asserted_at,
            asset,
            confidence,
            claims,
        }
    }
}

/// What some entities are connected with.
#[derive(Debug, Default)]
pub(super) struct Neighbourhood {
    /// Each once, the newest first.
    pub relations: Vec<Relation>,
    /// Both ends of each, whether they are to be seen or not.
    pub entities: HashMap<i64, Entity>,
}

/// Which edges of each entity are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeSelection<'a> {
    pub lanes: &'a [i64],
    /// How many of each lane and direction, the newest first.
    pub fan_out: usize,
    /// How many of these in all, those that are said the most often first.
    pub strongest: usize,
}

impl<'a> EdgeSelection<'a> {
    /// So many of each lane and direction.
    pub fn new(lanes: &'a [i64], fan_out: usize) -> Self {
        Self { lanes, fan_out, strongest: usize::MAX }
    }
}

/// How some entities are directly connected. Of each entity it reads at most twice as many rows of each lane and
/// direction as are wanted.
pub(super) fn neighbourhood(
    index: &mut dyn Tx,
    ids: &[i64],
    selection: EdgeSelection<'_>,
) -> Result<Neighbourhood> {
    let EdgeSelection { lanes, fan_out, strongest } = selection;
    if ids.is_empty() || fan_out == 0 {
        return Ok(Neighbourhood::default());
    }
    let wanted: BTreeSet<i64> = lanes.iter().flat_map(|lane| [2 * lane, 2 * lane + 1]).collect();
    let mut entities: HashMap<i64, Entity> = entity_rows::by_wire_ids(index, ids)?.into_iter().collect();
    let mut numbers: Vec<i64> = entities.keys().copied().collect();
    numbers.sort_unstable();
    let mut edges = HashSet::new();
    for entity in numbers {
        let mut own = read_edges(index, entity, &wanted, fan_out)?;
        if own.len() > strongest {
            own.sort_by_key(|edge| Reverse(edge.claims));
            own.truncate(strongest);
        }
        edges.extend(own);
    }
    let edges: Vec<Edge> = edges.into_iter().collect();
    let mut named: HashSet<i64> = edges.iter().flat_map(|edge| [edge.source, edge.target]).collect();
    named.extend(edges.iter().filter_map(|edge| edge.asset));
    named.retain(|number| !entities.contains_key(number));
    entities.extend(entity_rows::by_numbers(index, &named.into_iter().collect::<Vec<_>>())?);
    let sources: HashSet<i64> = edges.iter().map(|edge| edge.said_by).collect();
    let sources = entity_rows::source_names(index, &sources.into_iter().collect::<Vec<_>>())?;
    let mut relations =
        edges.iter().map(|edge| relation(edge, &entities, &sources)).collect::<Result<Vec<_>>>()?;
    relations.sort_by(|a, b| order(a).cmp(&order(b)));
    let entities = entities.into_values().map(|entity| (entity.id, entity)).collect();
    Ok(Neighbourhood { relations, entities })
}

/// Reads the first edges of each lane that is wanted and that an entity has. A lane that is not there costs nothing, and
/// an entity that has few edges is read at once.
fn read_edges(index: &mut dyn Tx, entity: i64, wanted: &BTreeSet<i64>, most: usize) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    let last = wanted.last().copied().unwrap_or_default();
    let mut next = wanted.first().copied();
    while let Some(from) = next {
        let rows = index.query_all::<EdgeRow>(index_sql::EDGES, params![entity, from, last, most as i64])?;
        let is_all = rows.len() < most;
        let lanes = rows.first().map(|row| row.0).zip(rows.last().map(|row| row.0));
        // The last lane of several may go on behind what was read, so it is read again from its beginning.
        let cut = lanes.filter(|(first, last)| !is_all && first < last).map(|(_, last)| last);
        next = match (is_all, cut, lanes) {
            (false, Some(cut), _) => wanted.range(cut..).next().copied(),
            (false, None, Some((lane, _))) => wanted.range(lane + 1..).next().copied(),
            _ => None,
        };
        let rows = rows.into_iter().filter(|row| wanted.contains(&row.0) && Some(row.0) != cut);
        edges.extend(rows.map(|row| Edge::from_row(entity, row)));
    }
    Ok(edges)
}

fn relation(
    edge: &Edge,
    entities: &HashMap<i64, Entity>,
    sources: &HashMap<i64, String>,
) -> Result<Relation> {
    let missing = || damaged("The index names an entity or a source that it does not hold.");
    let end = |number: i64| entities.get(&number).ok_or_else(missing);
    let asset = |number: i64| AssetId::parse(&end(number)?.key).ok_or_else(missing);
    Ok(Relation {
        source: end(edge.source)?.id,
        kind: link_name(edge.lane, &edge.kind).to_owned(),
        target: end(edge.target)?.id,
        said_by: sources.get(&edge.said_by).ok_or_else(missing)?.clone(),
        said_at: Some(edge.said_at).filter(|said_at| *said_at > 0),
        asset_id: edge.asset.map(asset).transpose()?,
        confidence: edge.confidence as f64 / 1e6,
        claims: edge.claims,
        is_told: edge.lane == link::OTHER_LANE,
    })
}

/// An order without ties, the newest first; of what is only counted, what is said the most often.
pub(super) fn order(relation: &Relation) -> (Reverse<(i64, i64)>, &str, i64, i64, &str, bool) {
    let Relation { kind, source, target, said_by, is_told, claims, .. } = relation;
    let newest = Reverse((relation.said_at.unwrap_or_default(), *claims));
    (newest, kind, *source, *target, said_by, *is_told)
}
