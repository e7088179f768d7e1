//! `GET /a2a/nodes/{node_id}/reputation`: how a node stands, why, and how it stood before.

use super::list::node;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::PathId;
use crate::ops::assets::view::{round_numbers, rounded};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::evaluation::reputation::shares;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::scoring;
use capsid_store::nodes::reputation_days;
use capsid_store::nodes::reputation_days::ReputationPoint;
use serde_json::{Value, json};

/// How a node stands, what that comes from, and how it stood before.
///
/// The points of all parts add up to the score. The history has one point for each day on which the score changed.
#[utoipa::path(get, path = "/a2a/nodes/{node_id}/reputation", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id")),
    responses((status = 200, body = crate::http::openapi::nodes::NodeReputation),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn reputation(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let now = hub.now();
    let told = hub.store.read::<_, ApiError, _>(move |tx| load_reputation_view(tx, &id, now)).await?;
    Ok(JsonReply::json(&told))
}

fn load_reputation_view(tx: &mut dyn Tx, node_id: &str, now: Time) -> ApiResult<Value> {
    let node = node(tx, node_id)?;
    let standing = reputation_days::load_state(tx, node_id)?;
    let (computed, set) = standing.map_or((node.reputation, None), |known| (known.computed, known.set));
    let parts = shares(&scoring::record(tx, node_id, now)?, computed, set);
    let mut history = reputation_days::list_points(tx, node_id)?;
    // A node that stood so since before the hub took notes has none, and what was noted last may be long ago.
    if history.last().is_none_or(|last| last.at < now.0) {
        history.push(ReputationPoint { at: now.0, score: node.reputation });
    }
    let history: Vec<Value> = history
        .iter()
        .map(|point| json!({ "at": Time(point.at).iso(), "score": rounded(point.score) }))
        .collect();
    Ok(json!({
        "node_id": node.node_id, "score": rounded(node.reputation),
        "parts": round_numbers(serde_json::to_value(parts).unwrap_or_default()), "history": history,
    }))
}
