//! A part of the graph as a drawing.

use super::caller::GraphSender;
use super::drawing::{DrawGraphResponse, GraphDrawing, MAX_LINES, MAX_THINGS};
use super::filters::{GraphFilters, listed};
use super::hits::{self, GraphHit, GraphQuestion};
use super::price::{AnonymousAccess, admit};
use super::query::MAX_QUERY_LEN;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::query;
use crate::http::traced_id;
use crate::http::validate;
use crate::state::SharedHub;
use capsid_rules::graph::names::read_id;
use capsid_rules::graph::{EntityKey, kind};
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::{AssetFilter, AssetSort, ListPosition};
use capsid_store::db::tx::Tx;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, Entity, WalkBounds, WalkResult, WalkStep};
use capsid_store::search::embeddings::NearAssets;
use serde::Deserialize;
use std::collections::HashSet;

/// How many things are drawn where nobody says how many, and how many of them answer a question.
const DEFAULT: i64 = 80;
const MAX_HITS: usize = 20;
/// From how many things at once a drawing begins.
const MAX_BEGINNINGS: usize = 50;
/// How many relations of one kind are drawn from one thing.
const FAN_OUT: usize = 12;
/// How many of the latest assets a drawing of nothing in particular begins with.
const LATEST: usize = 6;
/// How many of them are looked at where only some are asked for.
const MAX_LOOKED_AT: usize = 200;

/// What is to be drawn.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DrawGraphParams {
    /// A question: what answers it is drawn, with the ways that lead there.
    q: Option<String>,
    /// Things by their ids or those of assets, with commas between them: what they hang together with is drawn.
    around: Option<String>,
    /// How many steps away from where the drawing begins: 1 to 3, usually 1.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 3)]
    depth: Option<String>,
    /// Only things of these kinds, with commas between them, such as `signal,gene`.
    kinds: Option<String>,
    /// Only assets for this kind of change: repair, optimize, innovate, explore or regulatory.
    category: Option<String>,
    /// Only what was said from this time or day on.
    since: Option<String>,
    /// Only what was said before this time or day.
    until: Option<String>,
    /// Only assets that are known to work there, such as `linux_x64`.
    environment: Option<String>,
    /// How many things: 1 to 300, usually 80.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 300)]
    limit: Option<String>,
    /// The node that asks, where no account does.
    node_id: Option<String>,
}

/// Draws a part of the graph: what answers a question, what some things hang together with, or what was published
/// last.
#[tracing::instrument(skip_all, fields(node.id = wanted.node_id.as_deref().map(traced_id)))]
pub async fn draw_graph(
    hub: &SharedHub,
    credentials: Credentials,
    wanted: DrawGraphParams,
) -> ApiResult<DrawGraphResponse> {
    let sender = GraphSender::from_request(credentials, None, wanted.node_id.as_deref(), None)?;
    let order = DrawingPlan::read(&wanted)?;
    let charge = admit(hub, &sender, GraphUseKind::Query, AnonymousAccess::Welcome).await?;
    let near = hub.embedder.find_near(&order.words).await;
    let lag = match order.around.is_empty() {
        true => hub.index.wait_for_read().await?,
        false => hub.index.wait_for_names().await?,
    };
    let mut drawing = hub.store.read::<_, ApiError, _>(move |tx| order.draw(tx, near.clone())).await?;
    drawing.set_index_lag(lag);
    drawing.pay(hub, charge).await
}

/// The same, read and checked.
#[derive(Debug, Clone)]
struct DrawingPlan {
    words: String,
    /// Each thing as it was named, with the numbers that it may have.
    around: Vec<(String, Vec<i64>)>,
    depth: usize,
    filters: GraphFilters,
    most: usize,
}

impl DrawingPlan {
    fn read(wanted: &DrawGraphParams) -> ApiResult<Self> {
        validate::text_or(wanted.q.as_deref(), "q", MAX_QUERY_LEN)?;
        let around: Vec<(String, Vec<i64>)> = listed(wanted.around.as_deref())
            .map(|name| {
                let ids = numbers(name).ok_or_else(|| {
                    let expected = "ids of things, such as e_00ff00ff00ff00ff, or of assets";
                    ApiError::field("around", expected, "something else")
                })?;
                Ok((name.to_owned(), ids))
            })
            .collect::<ApiResult<_>>()?;
        if around.len() > MAX_BEGINNINGS {
            let received = format!("{} ids", around.len());
            return Err(ApiError::field("around", format!("at most {MAX_BEGINNINGS} ids"), received));
        }
        let filters = GraphFilters::from_query(
            wanted.kinds.as_deref(),
            wanted.category.as_deref(),
            (wanted.since.as_deref(), wanted.until.as_deref()),
            wanted.environment.as_deref(),
        )?;
        Ok(Self {
            words: wanted.q.as_deref().unwrap_or_default().trim().to_owned(),
            around,
            depth: query::limit(wanted.depth.as_deref(), 1, 3) as usize,
            filters,
            most: query::limit(wanted.limit.as_deref(), DEFAULT, MAX_THINGS as i64) as usize,
        })
    }

    fn draw(&self, tx: &mut dyn Tx, near: NearAssets) -> ApiResult<DrawGraphResponse> {
        let mut picture = GraphDrawing::default();
        let mut hits = Vec::new();
        if !self.words.is_empty() {
            let asked = GraphQuestion {
                words: self.words.clone(),
                filters: self.filters.clone(),
                by_meaning: true,
                depth: self.depth.max(2),
                limit: self.most.min(MAX_HITS),
                near,
            };
            hits = hits::find(tx, &asked)?.hits;
        }
        let mut begun = self.beginnings(tx)?;
        begun.extend(hits.iter().map(|hit| hit.entity.clone()));
        // What is asked for by its id is drawn whatever its kind.
        let is_named = !self.around.is_empty();
        for entity in begun.iter().filter(|entity| is_named || self.filters.accepts(entity)) {
            picture.put(entity, self.most);
        }
        self.expand_paths(&mut picture, &hits);
        let begun: Vec<i64> = begun.iter().map(|entity| entity.id).collect();
        self.expand(tx, &mut picture, &begun)?;
        picture.into_response(tx, &hits, &[])
    }

    /// What is asked for by its id; where nothing is asked for at all, what was published last.
    fn beginnings(&self, tx: &mut dyn Tx) -> ApiResult<Vec<Entity>> {
        if self.around.is_empty() {
            return if self.words.is_empty() { latest(tx, &self.filters) } else { Ok(Vec::new()) };
        }
        let ids: Vec<i64> = self.around.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
        let found = graph::entities(tx, &ids)?;
        let is_there = |ids: &[i64]| found.iter().any(|entity| ids.contains(&entity.id));
        match self.around.iter().find(|(_, ids)| !is_there(ids)) {
            Some((name, _)) => Err(unknown(name)),
            None => Ok(found),
        }
    }

    /// The ways that led to what answers, as long as there is room.
    fn expand_paths(&self, picture: &mut GraphDrawing, hits: &[GraphHit]) {
        for hop in hits.iter().flat_map(|hit| &hit.path) {
            picture.insert_hop(hop, self.most);
        }
    }

    /// What hangs together with what the drawing begins with, the nearest first.
    fn expand(&self, tx: &mut dyn Tx, picture: &mut GraphDrawing, begun: &[i64]) -> ApiResult<()> {
        let bounds = WalkBounds { depth: self.depth, fan_out: FAN_OUT, most: MAX_LINES };
        let WalkResult { mut steps, entities } = graph::walk(tx, begun, bounds)?;
        picture.truncated |= steps.len() >= MAX_LINES;
        steps.retain(|step| self.filters.follows(&step.relation));
        let mut wanted: Vec<Entity> = Vec::new();
        let mut seen = HashSet::new();
        for WalkStep { relation, .. } in &steps {
            let ends = [relation.source, relation.target].into_iter().filter(|id| seen.insert(*id));
            wanted.extend(ends.filter_map(|id| entities.get(&id)).cloned());
        }
        wanted.retain(|entity| self.filters.accepts(entity));
        self.filters.retain_assets(tx, &mut wanted)?;
        for entity in &wanted {
            picture.put(entity, self.most);
        }
        picture.name_entities(tx)?;
        let relations: Vec<_> = steps.into_iter().map(|step| step.relation).collect();
        picture.join(&relations);
        Ok(())
    }
}

/// The numbers that a thing may have by its own id, or by that of an asset, which does not tell of what type it is.
fn numbers(name: &str) -> Option<Vec<i64>> {
    if let Some(id) = read_id(name) {
        return Some(vec![id]);
    }
    let key = AssetId::parse(name)?.to_string();
    Some(AssetType::ALL.map(|of| EntityKey::new(kind::kind_of_asset(of), key.clone()).id()).to_vec())
}

/// The assets that were promoted last, or published, where none is, as far as they are asked for. Where other things than
/// assets are, a drawing still begins with some, for they lead there.
fn latest(tx: &mut dyn Tx, filters: &GraphFilters) -> ApiResult<Vec<Entity>> {
    let types = Some(filters.types()).filter(|types| !types.is_empty());
    let types = types.unwrap_or_else(|| vec![AssetType::Capsule]);
    let of_any_kind = GraphFilters { kinds: Vec::new(), ..filters.clone() };
    let most = if filters.narrows_assets() { MAX_LOOKED_AT } else { LATEST };
    for status in [AssetStatus::Promoted, AssetStatus::Candidate] {
        let category = filters.category.clone();
        let filter = AssetFilter { types: types.clone(), category, ..AssetFilter::with_status(status) };
        let mut found = list::list(tx, &filter, AssetSort::Newest, ListPosition::START, most)?;
        of_any_kind.retain_listed(tx, &mut found)?;
        found.truncate(LATEST);
        let ids: Vec<i64> = found
            .iter()
            .map(|listed| {
                EntityKey::new(
                    kind::kind_of_asset(listed.asset.asset_type),
                    listed.asset.asset_id.to_string(),
                )
                .id()
            })
            .collect();
        let found = graph::entities(tx, &ids)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The refusal of a thing that is not there.
pub fn unknown(name: &str) -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        format!("The graph has nothing that is called `{}`.", crate::error::truncate_for_client(name)),
        "Search with GET /kg/graph?q=…; its nodes have the ids.",
    )
}
