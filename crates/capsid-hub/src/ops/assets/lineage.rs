//! `GET /a2a/assets/{asset_id}/lineage`: what an asset comes from and what came of it, ready to be drawn.

use super::id_in_path;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::PathId;
use crate::ops::assets::revoke::not_found;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use axum::extract::State;
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
use serde_json::{Value, json};
use std::collections::HashMap;

/// How many bundles, relatives of the same chain, and users are drawn at most.
const MAX_BUNDLES: usize = 12;
const MAX_IN_CHAIN: usize = 8;
const MAX_USERS: usize = 12;
/// How much of a summary is told.
const LABEL: usize = 120;

/// What an asset comes from and what came of it: genes, capsules, events and nodes, each with its place in a drawing.
///
/// Of the nodes that used it, those are told that reported on it or reviewed it.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/lineage", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits")),
    responses((status = 200, body = crate::http::openapi::lineage::Lineage),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn lineage(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let id = id_in_path(&id)?;
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let focus = list::by_id(tx, &[id])?.pop().ok_or_else(not_found)?;
            Ok(gather(tx, &focus)?.to_view(&focus))
        })
        .await?;
    Ok(JsonReply::json(&told))
}

/// A point before it has a place.
struct LineagePoint {
    id: String,
    kind: &'static str,
    label: String,
    status: String,
    column: LineageColumn,
}

/// All points and lines. Each point is there once.
#[derive(Default)]
struct LineageDrawing {
    points: Vec<LineagePoint>,
    known: HashMap<String, usize>,
    lines: Vec<(usize, usize, &'static str)>,
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
            AssetType::Gene => ("gene", LineageColumn::Genes),
            AssetType::Capsule => ("capsule", LineageColumn::Capsules),
            AssetType::EvolutionEvent => ("event", LineageColumn::Events),
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
        self.insert_point(LineagePoint { id: who.node_id, kind: "node", label, status: who.status, column });
    }

    /// Joins two points that are both there.
    fn join(&mut self, from: &str, to: &str, kind: &'static str) {
        let (Some(from), Some(to)) = (self.known.get(from), self.known.get(to)) else { return };
        let line = (*from, *to, kind);
        if from != to && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    fn to_view(&self, focus: &ListedAsset) -> Value {
        let id = focus.asset.asset_id.to_string();
        let columns: Vec<LineageColumn> = self.points.iter().map(|point| point.column).collect();
        let lines: Vec<(usize, usize)> = self.lines.iter().map(|(from, to, _)| (*from, *to)).collect();
        let places = layout(&columns, &lines);
        let nodes: Vec<Value> = self
            .points
            .iter()
            .zip(places)
            .map(|(point, (x, y))| {
                json!({ "id": point.id, "kind": point.kind, "label": point.label, "status": point.status,
                    "is_focus": point.id == id, "x": rounded(x), "y": rounded(y) })
            })
            .collect();
        let name = |at: &usize| self.points.get(*at).map(|point| &point.id);
        let edges: Vec<Value> = self
            .lines
            .iter()
            .map(|(from, to, kind)| json!({ "from": name(from), "to": name(to), "kind": kind }))
            .collect();
        json!({ "asset_id": id, "nodes": nodes, "edges": edges, "reuse_count": focus.asset.reuse_count,
            "truncated": self.truncated })
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
        drawing.join(&capsule, &gene, "implements");
        if let Some(event) = bundle.event {
            drawing.join(&capsule, &event.to_string(), "in_event");
        }
    }
    chain(tx, focus, &mut drawing)?;
    makers(tx, focus, &members, &mut drawing)?;
    let users = lineage::users(tx, &focus.asset.asset_id, MAX_USERS + 1)?;
    drawing.truncated |= users.len() > MAX_USERS;
    for who in users.into_iter().take(MAX_USERS) {
        let node_id = who.node_id.clone();
        drawing.node(who, LineageColumn::Users);
        drawing.join(&focus.asset.asset_id.to_string(), &node_id, "reused_by");
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
                drawing.join(&later, &earlier, "follows");
            }
        }
    }
    let card = card(focus);
    let named = ["reused_asset_id", "parent"].map(|key| card[key].as_str().and_then(AssetId::parse));
    let origins: Vec<AssetId> = named.into_iter().flatten().collect();
    for origin in list::by_id(tx, &origins)? {
        drawing.asset(&origin);
        drawing.join(&asset.asset_id.to_string(), &origin.asset.asset_id.to_string(), "follows");
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
            drawing.join(&asset.asset_id.to_string(), &asset.node_id, "made_by");
        }
    }
    Ok(())
}

fn card(listed: &ListedAsset) -> Value {
    card_members(&listed.asset.card).into()
}

/// What an asset says of itself; an event its intent.
fn summary(listed: &ListedAsset) -> String {
    let card = card(listed);
    let texts = ["summary", "intent"].map(|key| card[key].as_str().unwrap_or_default().to_owned());
    let filled = texts.into_iter().find(|text| !text.is_empty());
    filled.unwrap_or_else(|| listed.asset.asset_type.as_str().to_owned())
}
