//! What an asset comes from and what came of it, ready to be drawn.

use super::id_in_path;
use super::revoke::not_found;
use super::view::rounded;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::text::cut;
use capsid_rules::assets::lineage::{LineageColumn, layout};
use capsid_rules::assets::traits::card_members;
use capsid_rules::lifecycle::AssetType;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::lineage;
use capsid_store::assets::lineage::LineageNode;
use capsid_store::assets::list;
use capsid_store::assets::list::{BundleRow, ListedAsset};
use capsid_store::db::tx::Tx;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use utoipa::ToSchema;

/// How many bundles, relatives of the same chain, and users are drawn at most.
const MAX_BUNDLES: usize = 12;
const MAX_IN_CHAIN: usize = 8;
const MAX_USERS: usize = 12;
/// How much of a summary is told.
const LABEL: usize = 120;

/// What a point of a lineage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineageKind {
    Gene,
    Capsule,
    Event,
    Node,
}

/// Why two points of a lineage are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineageLink {
    MadeBy,
    Implements,
    InEvent,
    ReusedBy,
    Follows,
}

/// What an asset comes from, what came of it, and where each of it is drawn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lineage)]
pub struct LineageResponse {
    #[schema(value_type = String)]
    asset_id: AssetId,
    nodes: Vec<LineagePointView>,
    edges: Vec<LineageEdgeView>,
    /// How many nodes of other owners fetched the asset. Those that reported or reviewed are drawn.
    reuse_count: i64,
    /// There is more than is drawn.
    truncated: bool,
}

/// A point of the drawing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LineageNode)]
pub struct LineagePointView {
    id: String,
    kind: LineageKind,
    /// The beginning of a summary, or the name that a node gave itself.
    label: String,
    status: String,
    is_focus: bool,
    /// 0 to 1, from left to right.
    x: f64,
    /// 0 to 1, from top to bottom.
    y: f64,
}

/// A line of the drawing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LineageEdge)]
pub struct LineageEdgeView {
    from: String,
    to: String,
    kind: LineageLink,
}

/// What an asset comes from and what came of it: genes, capsules, events and nodes, each with its place in a drawing.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id)))]
pub async fn asset_lineage(
    hub: &SharedHub,
    credentials: &Credentials,
    id: &str,
) -> ApiResult<LineageResponse> {
    hub.limit_reads(credentials).await?;
    let id = id_in_path(id)?;
    hub.store
        .find_replicated::<_, ApiError, _>(move |tx| {
            let Some(focus) = list::by_id(tx, &[id])?.pop() else { return Ok(None) };
            Ok(Some(gather(tx, &focus)?.into_response(&focus)))
        })
        .await?
        .ok_or_else(not_found)
}

/// A point before it has a place.
struct LineagePoint {
    id: String,
    kind: LineageKind,
    label: String,
    status: String,
    column: LineageColumn,
}

/// All points and lines. Each point is there once.
#[derive(Default)]
struct LineageDrawing {
    points: Vec<LineagePoint>,
    known: HashMap<String, usize>,
    lines: Vec<(usize, usize, LineageLink)>,
    truncated: bool,
}

impl LineageDrawing {
    fn insert_point(&mut self, point: LineagePoint) {
        if !self.known.contains_key(&point.id) {
            self.known.insert(point.id.clone(), self.points.len());
            self.points.push(point);
        }
    }

    fn asset(&mut self, listed: &ListedAsset) {
        let asset = &listed.asset;
        let (kind, column) = match asset.asset_type {
            AssetType::Gene => (LineageKind::Gene, LineageColumn::Genes),
            AssetType::Capsule => (LineageKind::Capsule, LineageColumn::Capsules),
            AssetType::EvolutionEvent => (LineageKind::Event, LineageColumn::Events),
        };
        self.insert_point(LineagePoint {
            id: asset.asset_id.to_string(),
            kind,
            label: cut(&summary(listed), LABEL).to_owned(),
            status: asset.status.as_str().to_owned(),
            column,
        });
    }

    fn node(&mut self, who: LineageNode, column: LineageColumn) {
        let label = who.name.unwrap_or_else(|| who.node_id.clone());
        let label = cut(&label, LABEL).to_owned();
        self.insert_point(LineagePoint {
            id: who.node_id,
            kind: LineageKind::Node,
            label,
            status: who.status,
            column,
        });
    }

    /// Joins two points that are both there.
    fn join(&mut self, from: &str, to: &str, kind: LineageLink) {
        let (Some(from), Some(to)) = (self.known.get(from), self.known.get(to)) else { return };
        let line = (*from, *to, kind);
        if from != to && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    fn into_response(self, focus: &ListedAsset) -> LineageResponse {
        let asset_id = focus.asset.asset_id;
        let id = asset_id.to_string();
        let columns: Vec<LineageColumn> = self.points.iter().map(|point| point.column).collect();
        let lines: Vec<(usize, usize)> = self.lines.iter().map(|(from, to, _)| (*from, *to)).collect();
        let places = layout(&columns, &lines);
        let edges = self.lines.iter().filter_map(|(from, to, kind)| {
            let [from, to] = [from, to].map(|at| self.points.get(*at).map(|point| point.id.clone()));
            Some(LineageEdgeView { from: from?, to: to?, kind: *kind })
        });
        let edges = edges.collect();
        let nodes = self.points.into_iter().zip(places).map(|(point, (x, y))| LineagePointView {
            is_focus: point.id == id,
            id: point.id,
            kind: point.kind,
            label: point.label,
            status: point.status,
            x: rounded(x),
            y: rounded(y),
        });
        LineageResponse {
            asset_id,
            nodes: nodes.collect(),
            edges,
            reuse_count: focus.asset.reuse_count,
            truncated: self.truncated,
        }
    }
}

fn gather(tx: &mut dyn Tx, focus: &ListedAsset) -> ApiResult<LineageDrawing> {
    let mut drawing = LineageDrawing::default();
    drawing.asset(focus);
    let bundles = bundles(tx, focus, &mut drawing)?;
    let mut ids: Vec<AssetId> = bundles
        .iter()
        .flat_map(|bundle| [Some(bundle.gene), Some(bundle.capsule), bundle.event])
        .flatten()
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let mut members = list::by_id(tx, &ids)?;
    members.sort_by_key(|listed| listed.asset.seq);
    members.iter().for_each(|listed| drawing.asset(listed));
    for bundle in &bundles {
        let (gene, capsule) = (bundle.gene.to_string(), bundle.capsule.to_string());
        drawing.join(&capsule, &gene, LineageLink::Implements);
        if let Some(event) = bundle.event {
            drawing.join(&capsule, &event.to_string(), LineageLink::InEvent);
        }
    }
    chain(tx, focus, &mut drawing)?;
    makers(tx, focus, &members, &mut drawing)?;
    let users = lineage::users(tx, &focus.asset.asset_id, MAX_USERS + 1)?;
    drawing.truncated |= users.len() > MAX_USERS;
    for who in users.into_iter().take(MAX_USERS) {
        let node_id = who.node_id.clone();
        drawing.node(who, LineageColumn::Users);
        drawing.join(&focus.asset.asset_id.to_string(), &node_id, LineageLink::ReusedBy);
    }
    Ok(drawing)
}

/// The bundles that the asset is in, and the others of its gene.
fn bundles(tx: &mut dyn Tx, focus: &ListedAsset, drawing: &mut LineageDrawing) -> ApiResult<Vec<BundleRow>> {
    let asset = &focus.asset;
    let mut found = Vec::new();
    // The first bundle is always drawn, and the only one that an event is found by.
    let first = list::bundle(tx, &asset.bundle_id)?;
    let gene = first.as_ref().map_or(asset.asset_id, |bundle| bundle.gene);
    found.extend(first);
    for id in [asset.asset_id, gene] {
        let more = list::bundles_of(tx, &id, MAX_BUNDLES + 1)?;
        found.extend(more.into_iter().filter(|bundle| bundle.gene == gene || id == asset.asset_id));
    }
    let mut seen = Vec::new();
    found.retain(|bundle: &BundleRow| {
        let new = !seen.contains(&bundle.bundle_id);
        seen.push(bundle.bundle_id.clone());
        new
    });
    drawing.truncated |= found.len() > MAX_BUNDLES;
    found.truncate(MAX_BUNDLES);
    Ok(found)
}

/// Others of the same chain, each after the one before it, and what the asset says it was made from.
fn chain(tx: &mut dyn Tx, focus: &ListedAsset, drawing: &mut LineageDrawing) -> ApiResult<()> {
    let asset = &focus.asset;
    if let Some(chain) = &asset.traits.chain_id {
        let mut others = list::chain(tx, chain, asset.seq, MAX_IN_CHAIN + 1)?;
        drawing.truncated |= others.len() > MAX_IN_CHAIN;
        others.truncate(MAX_IN_CHAIN);
        others.push(focus.clone());
        others.retain(|listed| listed.asset.asset_type == asset.asset_type);
        others.sort_by_key(|listed| listed.asset.seq);
        others.iter().for_each(|listed| drawing.asset(listed));
        for pair in others.windows(2) {
            if let [earlier, later] = pair {
                let (earlier, later) = (earlier.asset.asset_id.to_string(), later.asset.asset_id.to_string());
                drawing.join(&later, &earlier, LineageLink::Follows);
            }
        }
    }
    let card = card(focus);
    let named = ["reused_asset_id", "parent"].map(|key| card[key].as_str().and_then(AssetId::parse));
    let origins: Vec<AssetId> = named.into_iter().flatten().collect();
    for origin in list::by_id(tx, &origins)? {
        drawing.asset(&origin);
        drawing.join(&asset.asset_id.to_string(), &origin.asset.asset_id.to_string(), LineageLink::Follows);
    }
    Ok(())
}

/// Who published the asset and what it came with.
fn makers(
    tx: &mut dyn Tx,
    focus: &ListedAsset,
    members: &[ListedAsset],
    drawing: &mut LineageDrawing,
) -> ApiResult<()> {
    for listed in std::iter::once(focus).chain(members) {
        let asset = &listed.asset;
        // An event is told by its capsule; a line of its own would only cross others.
        if asset.asset_type == AssetType::EvolutionEvent && asset.asset_id != focus.asset.asset_id {
            continue;
        }
        if let Some(who) = lineage::find_lineage_node(tx, &asset.node_id)? {
            drawing.node(who, LineageColumn::Makers);
            drawing.join(&asset.asset_id.to_string(), &asset.node_id, LineageLink::MadeBy);
        }
    }
    Ok(())
}

fn card(listed: &ListedAsset) -> Value {
    card_members(&listed.asset.card).into()
}

/// What an asset says of itself; an event its intent.
fn summary(listed: &ListedAsset) -> String {
    let card = if listed.asset.is_scanned() { card(listed) } else { Value::Null };
    let texts = ["summary", "intent"].map(|key| card[key].as_str().unwrap_or_default().to_owned());
    let filled = texts.into_iter().find(|text| !text.is_empty());
    filled.unwrap_or_else(|| listed.asset.asset_type.as_str().to_owned())
}
