//! A part of the graph, ready to be drawn: each thing with its place, and each line once.

use super::hits::GraphHit;
use super::price::GraphCharge;
use super::walk::is_asset;
use crate::error::ApiResult;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::graph::layout::force;
use capsid_rules::graph::names::shown_id;
use capsid_rules::meaning::fuse::RankingSource;
use capsid_store::db::tx::Tx;
use capsid_store::graph::{self, Entity, PathStep, Relation};
use serde::Serialize;
use serde_json::Number;
use std::collections::{HashMap, HashSet};
use utoipa::ToSchema;

/// The most things and lines of a drawing.
pub const MAX_THINGS: usize = 300;
pub const MAX_LINES: usize = 900;
/// Where the places of a drawing come from; any number does, but always the same.
const SEED: u64 = 20_261_116;

/// What is drawn.
#[derive(Debug, Default)]
pub struct GraphDrawing {
    things: Vec<Entity>,
    known: HashMap<i64, usize>,
    lines: Vec<Relation>,
    /// How many relations of each thing are drawn, before those that say the same are made one.
    drawn: HashMap<i64, i64>,
    /// There is more than is drawn.
    pub truncated: bool,
}

impl GraphDrawing {
    /// Draws a thing, unless there are as many as asked for.
    pub fn put(&mut self, entity: &Entity, most: usize) -> bool {
        if self.known.contains_key(&entity.id) {
            return true;
        }
        if self.things.len() >= most.min(MAX_THINGS) {
            self.truncated = true;
            return false;
        }
        self.known.insert(entity.id, self.things.len());
        self.things.push(entity.clone());
        true
    }

    /// Draws a step of a way with both its ends.
    pub fn insert_hop(&mut self, hop: &PathStep, most: usize) {
        if self.put(&hop.from, most) && self.put(&hop.to, most) {
            self.join(std::slice::from_ref(&hop.relation));
        }
    }

    /// Calls everything as it is shown.
    pub fn name_entities(&mut self, tx: &mut dyn Tx) -> ApiResult<()> {
        for entity in graph::entities(tx, &self.ids())? {
            if let Some(known) = self.known.get(&entity.id).and_then(|at| self.things.get_mut(*at)) {
                *known = entity;
            }
        }
        Ok(())
    }

    /// The numbers of what is drawn.
    pub fn ids(&self) -> Vec<i64> {
        self.things.iter().map(|entity| entity.id).collect()
    }

    /// Draws those relations that have both ends in the drawing. Where several say the same, it is one line, by the word of
    /// the hub rather than of others, and then of who said it last.
    pub fn join(&mut self, relations: &[Relation]) {
        for relation in relations {
            let ends = [relation.source, relation.target];
            if !ends.iter().all(|id| self.known.contains_key(id)) || self.lines.contains(relation) {
                continue;
            }
            self.lines.push(relation.clone());
            for id in ends.iter().collect::<HashSet<_>>() {
                *self.drawn.entry(*id).or_default() += 1;
            }
        }
    }

    fn merged(&mut self) -> Vec<Relation> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(|line| (line.is_told, std::cmp::Reverse(line.said_at)));
        let mut at: HashMap<(i64, String, i64), usize> = HashMap::new();
        let mut merged: Vec<Relation> = Vec::new();
        for line in lines {
            let key = (line.source, line.kind.clone(), line.target);
            match at.get(&key).and_then(|at| merged.get_mut(*at)) {
                // What was told lends no weight to what the hub saw.
                Some(known) if line.is_told && !known.is_told => {}
                Some(known) => {
                    known.claims += line.claims;
                    known.confidence = known.confidence.max(line.confidence);
                }
                None => {
                    at.insert(key, merged.len());
                    merged.push(line);
                }
            }
        }
        self.truncated |= merged.len() > MAX_LINES;
        merged.truncate(MAX_LINES);
        merged
    }

    /// The drawing, with places, states of assets, and how much more there is to each thing.
    pub fn into_response(
        mut self,
        tx: &mut dyn Tx,
        hits: &[GraphHit],
        path: &[i64],
    ) -> ApiResult<DrawGraphResponse> {
        let ids = self.ids();
        let all = graph::degrees(tx, &ids)?;
        let lines = self.merged();
        let place = |id: i64| self.known.get(&id).copied().unwrap_or_default();
        let pairs: Vec<(usize, usize)> =
            lines.iter().map(|line| (place(line.source), place(line.target))).collect();
        let places = force(self.things.len(), &pairs, SEED);
        let hit_by: HashMap<i64, &GraphHit> = hits.iter().map(|hit| (hit.entity.id, hit)).collect();
        let nodes = self
            .things
            .iter()
            .zip(places)
            .map(|(entity, (x, y))| {
                let hit = hit_by.get(&entity.id);
                let hidden = all.get(&entity.id).unwrap_or(&0) - self.drawn.get(&entity.id).unwrap_or(&0);
                DrawnEntityView {
                    id: shown_id(entity.id),
                    kind: entity.kind.clone(),
                    name: entity.name.clone(),
                    key: entity.key.clone(),
                    x,
                    y,
                    score: hit.map(|hit| rounded(hit.score)),
                    is_hit: hit.is_some(),
                    mentions: entity.mentions,
                    told: entity.told,
                    asset_id: is_asset(entity).then(|| entity.key.clone()),
                    status: entity.status.clone(),
                    hidden_relations: hidden.max(0),
                }
            })
            .collect();
        let drawn = |hit: &&GraphHit| self.known.contains_key(&hit.entity.id);
        Ok(DrawGraphResponse {
            nodes,
            edges: lines.iter().map(DrawnRelationView::from).collect(),
            hits: hits.iter().filter(drawn).map(GraphHitView::from).collect(),
            path: path.iter().map(|id| shown_id(*id)).collect(),
            truncated: self.truncated,
            credits_charged: credits::to_decimal(0),
            index_lag: None,
        })
    }
}

/// A part of the graph, ready to be drawn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphDrawing)]
pub struct DrawGraphResponse {
    nodes: Vec<DrawnEntityView>,
    edges: Vec<DrawnRelationView>,
    /// What answers the question, the best first.
    hits: Vec<GraphHitView>,
    /// The ids on the way from one thing to another, for `/kg/path`; empty where there is none.
    path: Vec<String>,
    /// There is more than is drawn.
    truncated: bool,
    #[schema(value_type = f64)]
    credits_charged: Number,
    /// How many of the newest changes the graph does not hold yet; absent where it holds all.
    #[serde(skip_serializing_if = "Option::is_none")]
    index_lag: Option<i64>,
}

impl DrawGraphResponse {
    /// Says how far the graph is behind, where it is.
    pub(super) fn set_index_lag(&mut self, lag: i64) {
        self.index_lag = Some(lag).filter(|lag| *lag > 0);
    }

    /// Pays for the drawing and says in it what it cost.
    pub(super) async fn pay(mut self, hub: &SharedHub, charge: GraphCharge) -> ApiResult<Self> {
        self.credits_charged = credits::to_decimal(charge.charge(hub).await?);
        Ok(self)
    }
}

/// A thing of a drawing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DrawnThing)]
struct DrawnEntityView {
    id: String,
    kind: String,
    name: String,
    key: String,
    /// 0 to 1, from left to right.
    x: f64,
    /// 0 to 1, from top to bottom.
    y: f64,
    #[schema(required)]
    score: Option<f64>,
    is_hit: bool,
    mentions: i64,
    told: i64,
    #[schema(required)]
    asset_id: Option<String>,
    /// Where an asset stands.
    #[schema(required)]
    status: Option<String>,
    /// How many more relations it has, counted up to a bound.
    hidden_relations: i64,
}

/// A line of a drawing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DrawnLine)]
struct DrawnRelationView {
    from: String,
    to: String,
    kind: String,
    confidence: f64,
    claims: i64,
    said_by: String,
    #[schema(required)]
    said_at: Option<String>,
    #[schema(required)]
    asset_id: Option<String>,
    is_told: bool,
}

impl From<&Relation> for DrawnRelationView {
    fn from(line: &Relation) -> Self {
        Self {
            from: shown_id(line.source),
            to: shown_id(line.target),
            kind: line.kind.clone(),
            confidence: rounded(line.confidence),
            claims: line.claims,
            said_by: line.said_by.clone(),
            said_at: line.said_at.map(|at| Time(at).iso()),
            asset_id: line.asset_id.map(|id| id.to_string()),
            is_told: line.is_told,
        }
    }
}

/// What answers a question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphHit)]
struct GraphHitView {
    id: String,
    score: f64,
    words: Vec<String>,
    ways: Vec<RankingSource>,
    path: Vec<DrawnStepView>,
}

impl From<&GraphHit> for GraphHitView {
    fn from(hit: &GraphHit) -> Self {
        Self {
            id: shown_id(hit.entity.id),
            score: rounded(hit.score),
            words: hit.words.clone(),
            ways: hit.ways.clone(),
            path: hit.path.iter().map(DrawnStepView::from).collect(),
        }
    }
}

/// A step on the way to what answers, as its relation points.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DrawnStep)]
struct DrawnStepView {
    from: String,
    to: String,
    kind: String,
}

impl From<&PathStep> for DrawnStepView {
    fn from(step: &PathStep) -> Self {
        Self {
            from: shown_id(step.relation.source),
            to: shown_id(step.relation.target),
            kind: step.relation.kind.clone(),
        }
    }
}
