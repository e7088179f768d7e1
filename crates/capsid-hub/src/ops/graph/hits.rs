//! What answers a question: things by their names, assets by their meaning, and what both lead to.

use super::filters::GraphFilters;
use super::walk::{GraphWalk, is_asset};
use crate::error::ApiResult;
use crate::ops::assets::names_of_signals;
use capsid_rules::graph::{EntityKey, kind};
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_rules::meaning::SemanticQuestion;
use capsid_rules::meaning::fuse::{RankingSource, by_place, fuse};
use capsid_store::db::tx::Tx;
use capsid_store::graph::{self, Entity, NameMatch, NameMatches, PathStep, Relation, WalkBounds, WalkResult};
use capsid_store::search;
use capsid_store::search::embeddings::NearAssets;
use capsid_store::search::semantic;
use capsid_store::search::semantic::SemanticHit;
use std::collections::{BTreeSet, HashMap};

/// How many things a question may name, and from how many of them the graph is walked.
const MAX_NAMED: usize = 60;
const MAX_BEGINNINGS: usize = 8;
/// How many relations of one kind a walk follows from one thing, and how many all together.
const FAN_OUT: usize = 8;
const MAX_STEPS: usize = 500;
/// How many assets are looked at where only some that have the words are asked for.
const MAX_LOOKED_AT: usize = 200;

/// What is asked.
#[derive(Debug, Clone)]
pub struct GraphQuestion {
    pub words: String,
    /// What of the graph is asked for.
    pub filters: GraphFilters,
    /// Whether what it means counts, or its words alone.
    pub by_meaning: bool,
    /// How far the graph is walked.
    pub depth: usize,
    /// How many things at most.
    pub limit: usize,
    /// Assets whose embedding lies near.
    pub near: NearAssets,
}

/// A thing that answers.
#[derive(Debug, Clone)]
pub struct GraphHit {
    pub entity: Entity,
    /// How well, the best being 1.
    pub score: f64,
    /// The words of the question that it answers, or what it was reached from.
    pub words: Vec<String>,
    pub ways: Vec<RankingSource>,
    /// The way through the graph that leads to it; empty where its name or text alone does.
    pub path: Vec<PathStep>,
}

/// Everything that answers.
#[derive(Debug, Default)]
pub struct GraphAnswer {
    pub hits: Vec<GraphHit>,
    pub assets: Vec<SemanticHit>,
    /// Relations that were met on the way.
    pub relations: Vec<Relation>,
}

/// Finds what answers a question.
pub fn find(tx: &mut dyn Tx, asked: &GraphQuestion) -> ApiResult<GraphAnswer> {
    let question = SemanticQuestion::parse(&asked.words, &[]);
    let matches = NameMatches::load(tx, &question)?;
    let named = matches.first(tx, &[], MAX_NAMED)?;
    let direct = match asked.filters.kinds.as_slice() {
        [] => named.clone(),
        kinds => matches.first(tx, kinds, MAX_NAMED)?,
    };
    let assets = assets(tx, asked, &question)?;
    let walk = if asked.by_meaning { walk(tx, asked, &named)? } else { GraphWalk::default() };
    let mut found = UnrankedHits { assets, walk, named: HashMap::new(), of_assets: HashMap::new() };
    found.named.extend(named.into_iter().map(|(entity, _, words)| (entity.id, (entity, words))));
    let direct: Vec<i64> = direct
        .into_iter()
        .map(|(entity, _, words)| {
            let id = entity.id;
            found.named.insert(id, (entity, words));
            id
        })
        .collect();
    found.load_assets(tx)?;
    found.rank_hits(tx, asked, direct)
}

/// Assets that answer. Words alone are looked for as they were before there was a graph.
fn assets(
    tx: &mut dyn Tx,
    asked: &GraphQuestion,
    question: &SemanticQuestion,
) -> ApiResult<Vec<SemanticHit>> {
    let (any, asset_type) = asked.filters.assets();
    if !any {
        return Ok(Vec::new());
    }
    if !asked.by_meaning {
        return keywords(tx, asked, asset_type);
    }
    let filters = &asked.filters;
    let wanted = semantic::SemanticQuery {
        asset_type,
        status: AssetStatus::Promoted,
        category: filters.category.clone(),
        since: filters.since,
        until: filters.until,
        environment: filters.environment.clone(),
        near: asked.near.clone(),
        names: names_of_signals(&asked.words),
        ..semantic::SemanticQuery::new(question.clone(), asked.limit)
    };
    let mut found = semantic::find(tx, &wanted)?;
    found.retain_mut(|found| {
        filters.accepts_type(found.listed.asset.asset_type) && by_ways_asked_for(found, filters)
    });
    Ok(found)
}

/// Forgets a way that goes along relations which are not asked for, and tells whether anything else led to the asset.
fn by_ways_asked_for(found: &mut SemanticHit, filters: &GraphFilters) -> bool {
    if found.path.iter().all(|hop| filters.follows(&hop.relation)) {
        return true;
    }
    found.path.clear();
    found.places.retain(|(way, _)| *way != RankingSource::Graph);
    !found.places.is_empty()
}

/// Assets that have the words, or some of them.
fn keywords(
    tx: &mut dyn Tx,
    asked: &GraphQuestion,
    asset_type: Option<AssetType>,
) -> ApiResult<Vec<SemanticHit>> {
    let filters = &asked.filters;
    let words = capsid_rules::meaning::terms::query_words(&asked.words);
    let most = if filters.narrows_assets() { MAX_LOOKED_AT } else { asked.limit };
    let query = search::SignalSearch { asset_type, ..search::SignalSearch::signals(words, most) };
    let mut hits = search::find(tx, &query)?;
    filters.retain_hits(tx, &mut hits)?;
    let mut found: Vec<SemanticHit> = hits.into_iter().map(by_words).collect();
    found.truncate(asked.limit);
    for (at, found) in found.iter_mut().enumerate() {
        found.places = vec![(RankingSource::Text, at + 1)];
    }
    Ok(found)
}

fn by_words(hit: search::SearchHit) -> SemanticHit {
    SemanticHit {
        score: hit.half_points as f64,
        places: Vec::new(),
        words: hit.matched_signals,
        path: Vec::new(),
        similarity: None,
        listed: hit.listed,
    }
}

/// Walks from the things that a question names best.
fn walk(tx: &mut dyn Tx, asked: &GraphQuestion, named: &[NameMatch]) -> ApiResult<GraphWalk> {
    let began: Vec<(i64, f64)> =
        named.iter().take(MAX_BEGINNINGS).map(|(entity, score, _)| (entity.id, *score)).collect();
    let ids: Vec<i64> = began.iter().map(|(id, _)| *id).collect();
    let bounds = WalkBounds { depth: asked.depth, fan_out: FAN_OUT, most: MAX_STEPS };
    let WalkResult { mut steps, mut entities } = graph::walk(tx, &ids, bounds)?;
    steps.retain(|step| asked.filters.follows(&step.relation));
    let mut walk = GraphWalk::new(&began, steps);
    entities.extend(named.iter().take(MAX_BEGINNINGS).map(|(entity, ..)| (entity.id, entity.clone())));
    walk.record_entities(walk.ids().iter().filter_map(|id| entities.remove(id)).collect());
    Ok(walk)
}

/// What was found, before it is put in order.
struct UnrankedHits {
    assets: Vec<SemanticHit>,
    walk: GraphWalk,
    /// Things that the question names, and the words that do.
    named: HashMap<i64, (Entity, Vec<String>)>,
    /// Assets as things, and their places among the assets.
    of_assets: HashMap<i64, (Entity, usize)>,
}

impl UnrankedHits {
    /// Looks up the things that the found assets are.
    fn load_assets(&mut self, tx: &mut dyn Tx) -> ApiResult<()> {
        let mut places: HashMap<i64, usize> = HashMap::new();
        let mut ids = Vec::new();
        for (at, found) in self.assets.iter().enumerate() {
            let asset = &found.listed.asset;
            let id = EntityKey::new(kind::kind_of_asset(asset.asset_type), asset.asset_id.to_string()).id();
            places.insert(id, at);
            ids.push(id);
        }
        for entity in graph::entities(tx, &ids)? {
            if let Some(at) = places.get(&entity.id) {
                self.of_assets.insert(entity.id, (entity, *at));
            }
        }
        Ok(())
    }

    /// The assets that were found in one way, by their place there.
    fn assets_by(&self, way: RankingSource) -> Vec<i64> {
        let mut places: Vec<(usize, i64)> = Vec::new();
        for (id, (_, at)) in &self.of_assets {
            let place = self.assets.get(*at).and_then(|found| found.places.iter().find(|(by, _)| *by == way));
            places.extend(place.map(|(_, place)| (*place, *id)));
        }
        places.sort_unstable();
        places.into_iter().map(|(_, id)| id).collect()
    }

    /// Where the walk began and what it leads to, as far as it is asked for. Of assets only those that were found where only some are asked for.
    fn ends(&self, filters: &GraphFilters) -> Vec<i64> {
        let wanted = |id: &i64| {
            let entity = self.walk.entity(*id);
            entity.is_some_and(|entity| {
                let fits = !is_asset(entity) || !filters.narrows_assets() || self.of_assets.contains_key(id);
                filters.accepts(entity) && fits
            })
        };
        self.walk.ranking().into_iter().filter(wanted).collect()
    }

    /// Joins all rankings.
    fn rank_hits(
        mut self,
        tx: &mut dyn Tx,
        asked: &GraphQuestion,
        direct: Vec<i64>,
    ) -> ApiResult<GraphAnswer> {
        // A thing that is named and an asset that says so are found by their text, each in a ranking of its own.
        let rankings = [
            (RankingSource::Text, direct),
            (RankingSource::Text, self.assets_by(RankingSource::Text)),
            (RankingSource::Graph, self.ends(&asked.filters)),
            (RankingSource::Graph, self.assets_by(RankingSource::Graph)),
            (RankingSource::Embedding, self.assets_by(RankingSource::Embedding)),
        ];
        let mut fused = fuse(&rankings.map(|(way, ids)| (way, by_place(ids))));
        fused.truncate(asked.limit);
        // Only what is shown needs a name.
        let keys = fused.iter().map(|found| found.key);
        let shown: BTreeSet<i64> = keys.flat_map(|key| self.walk.ids_on_path(key)).collect();
        self.walk.record_entities(graph::entities(tx, &shown.into_iter().collect::<Vec<_>>())?);
        let best = fused.first().map_or(1.0, |first| first.score).max(f64::MIN_POSITIVE);
        let hits = fused.into_iter().filter_map(|found| {
            let ways = found.places.iter().map(|(way, _)| *way).collect();
            self.hit(found.key, found.score / best, ways)
        });
        let hits = hits.collect();
        Ok(GraphAnswer { hits, relations: self.walk.relations().to_vec(), assets: self.assets })
    }

    fn hit(&self, id: i64, score: f64, ways: Vec<RankingSource>) -> Option<GraphHit> {
        if let Some((entity, words)) = self.named.get(&id) {
            // What the question names needs no way to be explained.
            let ways: Vec<RankingSource> =
                ways.into_iter().filter(|way| *way != RankingSource::Graph).collect();
            return Some(GraphHit {
                entity: entity.clone(),
                score,
                words: words.clone(),
                ways,
                path: Vec::new(),
            });
        }
        let asset = self.of_assets.get(&id);
        let found = asset.and_then(|(_, at)| self.assets.get(*at));
        let entity = asset.map(|(entity, _)| entity).or_else(|| self.walk.entity(id))?.clone();
        let path = match found {
            Some(found) if !found.path.is_empty() => found.path.clone(),
            _ => self.walk.path(id),
        };
        // What was reached answers the words that its way began with.
        let begun = path.first().map_or(self.walk.origin(id), |hop| hop.from.id);
        let reached = || self.named.get(&begun).map(|(_, words)| words.clone()).unwrap_or_default();
        let words = found.map(|found| found.words.clone()).filter(|words| !words.is_empty());
        Some(GraphHit { entity, score, words: words.unwrap_or_else(reached), ways, path })
    }
}
