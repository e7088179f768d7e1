//! `GET /kg/path`: how two things hang together.

use super::drawing::unknown;
use super::filters::kind_named;
use super::picture::{MOST_THINGS, Picture};
use super::price::{Strangers, admit};
use super::who::Sender;
use super::with_charge;
use crate::auth::access::Credentials;
use crate::error::{ApiError, Result};
use crate::http::checks;
use crate::http::envelope::Reply;
use crate::http::query::Params;
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::graph::names::read_id;
use capsid_store::db::tx::Tx;
use capsid_store::graph::graph_use::What;
use capsid_store::graph::{self, Bounds, Entity};
use serde::Deserialize;
use serde_json::Value;

/// The longest name of a thing that is looked for.
const LONGEST_NAME: usize = 500;
/// How far and how wide a way is looked for.
const BOUNDS: Bounds = Bounds { depth: 6, fan_out: 25, most: 4_000 };

/// From where to where.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Ends {
    /// A thing: its id, the id of an asset, `kind:name`, or a name.
    from: Option<String>,
    /// Another one.
    to: Option<String>,
    /// The node that asks, where no account does.
    node_id: Option<String>,
}

/// A shortest way between two things as a drawing.
///
/// `path` is empty where the hub found no way of at most six steps.
#[utoipa::path(get, path = "/kg/path", tag = "graph", params(Ends),
    responses((status = 200, body = crate::http::openapi::graph::GraphDrawing), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn way(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(ends): Params<Ends>,
) -> Result<Reply> {
    let sender = Sender::of(credentials, None, ends.node_id.as_deref(), None)?;
    let [from, to] = [(ends.from, "from"), (ends.to, "to")].map(|(name, path)| checked(name, path));
    let (from, to) = (from?, to?);
    let ticket = admit(&hub, &sender, What::Query, Strangers::Welcome).await?;
    let told = hub.store.read::<_, ApiError, _>(move |tx| draw(tx, &from, &to)).await?;
    with_charge(&hub, ticket, told).await
}

fn checked(name: Option<String>, path: &str) -> Result<String> {
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let name =
        name.ok_or_else(|| ApiError::field(path, "a thing: its id, an asset's id, or its name", "missing"))?;
    checks::text(&name, path, LONGEST_NAME)?;
    Ok(name)
}

fn draw(tx: &mut dyn Tx, from: &str, to: &str) -> Result<Value> {
    let (from, to) = (find(tx, from)?, find(tx, to)?);
    let mut picture = Picture::default();
    let mut path = Vec::new();
    if from.id == to.id {
        path.push(from.id);
    } else if let Some(hops) = graph::path(tx, from.id, to.id, BOUNDS)? {
        path.push(from.id);
        path.extend(hops.iter().map(|hop| hop.to.id));
        picture.put(&from, MOST_THINGS);
        hops.iter().for_each(|hop| picture.put_hop(hop, MOST_THINGS));
    }
    for end in [&from, &to] {
        picture.put(end, MOST_THINGS);
    }
    picture.told(tx, &[], &path)
}

/// The thing that a text names. Where several have the name, the one that is named most often.
fn find(tx: &mut dyn Tx, text: &str) -> Result<Entity> {
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
