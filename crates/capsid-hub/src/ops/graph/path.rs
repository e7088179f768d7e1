//! How two things hang together.

use super::caller::GraphSender;
use super::draw::unknown;
use super::drawing::{DrawGraphResponse, GraphDrawing, MAX_THINGS};
use super::filters::kind_named;
use super::price::{AnonymousAccess, admit};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::http::validate;
use crate::state::SharedHub;
use capsid_rules::graph::names::read_id;
use capsid_store::db::tx::Tx;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, Entity, WalkBounds};
use serde::Deserialize;

/// The longest name of a thing that is looked for.
const MAX_NAME_LEN: usize = 500;
/// How far and how wide a way is looked for.
const BOUNDS: WalkBounds = WalkBounds { depth: 6, fan_out: 25, most: 4_000 };

/// From where to where.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GraphPathParams {
    /// A thing: its id, the id of an asset, `kind:name`, or a name.
    from: Option<String>,
    /// Another one.
    to: Option<String>,
    /// The node that asks, where no account does.
    node_id: Option<String>,
}

/// Draws a shortest way between two things.
#[tracing::instrument(skip_all, fields(node.id = ends.node_id.as_deref().map(traced_id)))]
pub async fn find_path(
    hub: &SharedHub,
    credentials: Credentials,
    ends: GraphPathParams,
) -> ApiResult<DrawGraphResponse> {
    let sender = GraphSender::from_request(credentials, None, ends.node_id.as_deref(), None)?;
    let [from, to] = [(ends.from, "from"), (ends.to, "to")].map(|(name, path)| checked(name, path));
    let (from, to) = (from?, to?);
    let charge = admit(hub, &sender, GraphUseKind::Query, AnonymousAccess::Welcome).await?;
    let lag = hub.index.wait_for_names().await?;
    let mut drawing = hub.store.read::<_, ApiError, _>(move |tx| draw(tx, &from, &to)).await?;
    drawing.set_index_lag(lag);
    drawing.pay(hub, charge).await
}

fn checked(name: Option<String>, path: &str) -> ApiResult<String> {
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let name =
        name.ok_or_else(|| ApiError::field(path, "a thing: its id, an asset's id, or its name", "missing"))?;
    validate::text(&name, path, MAX_NAME_LEN)?;
    Ok(name)
}

fn draw(tx: &mut dyn Tx, from: &str, to: &str) -> ApiResult<DrawGraphResponse> {
    let (from, to) = (find(tx, from)?, find(tx, to)?);
    let mut picture = GraphDrawing::default();
    let mut path = Vec::new();
    if from.id == to.id {
        path.push(from.id);
    } else if let Some(hops) = graph::path(tx, from.id, to.id, BOUNDS)? {
        path.push(from.id);
        path.extend(hops.iter().map(|hop| hop.to.id));
        picture.put(&from, MAX_THINGS);
        hops.iter().for_each(|hop| picture.insert_hop(hop, MAX_THINGS));
    }
    for end in [&from, &to] {
        picture.put(end, MAX_THINGS);
    }
    picture.into_response(tx, &[], &path)
}

/// The thing that a text names. Where several have the name, the one that is named most often.
fn find(tx: &mut dyn Tx, text: &str) -> ApiResult<Entity> {
    if let Some(id) = read_id(text) {
        return graph::entities(tx, &[id])?.pop().ok_or_else(|| unknown(text));
    }
    let mut found = Vec::new();
    if let Some((kind, name)) = text.split_once(':').filter(|(kind, _)| *kind != "sha256") {
        found = graph::named(tx, Some(&kind_named(kind)), name.trim())?;
    }
    if found.is_empty() {
        found = graph::named(tx, None, text)?;
    }
    let weight = |entity: &Entity| (entity.mentions, entity.told, std::cmp::Reverse(entity.id));
    found.into_iter().max_by_key(weight).ok_or_else(|| unknown(text))
}
