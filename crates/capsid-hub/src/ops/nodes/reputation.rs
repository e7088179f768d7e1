//! How a node stands, why, and how it stood before.

use super::view::find_node;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::evaluation::reputation::{ReputationShare, shares};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::scoring;
use capsid_store::nodes::reputation_days;
use capsid_store::nodes::reputation_days::ReputationPoint;
use serde::Serialize;
use utoipa::ToSchema;

/// A reputation, where it comes from, and how it was before.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeReputation)]
pub struct NodeReputationResponse {
    node_id: String,
    /// 0 to 100.
    score: f64,
    /// Their points add up to the score.
    parts: Vec<ReputationShare>,
    /// At most one point a day, the oldest first; the last one is the present.
    history: Vec<ReputationPointView>,
}

/// How a reputation was.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReputationPoint)]
pub struct ReputationPointView {
    at: String,
    score: f64,
}

/// How a node stands, what that comes from, and how it stood before.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&id)))]
pub async fn node_reputation(
    hub: &SharedHub,
    credentials: &Credentials,
    id: String,
) -> ApiResult<NodeReputationResponse> {
    hub.limit_reads(credentials).await?;
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| load_reputation(tx, &id, now)).await
}

fn load_reputation(tx: &mut dyn Tx, node_id: &str, now: Time) -> ApiResult<NodeReputationResponse> {
    let node = find_node(tx, node_id)?;
    let standing = reputation_days::load_state(tx, node_id)?;
    let (computed, set) = standing.map_or((node.reputation, None), |known| (known.computed, known.set));
    let parts = shares(&scoring::record(tx, node_id, now)?, computed, set);
    let mut history = reputation_days::list_points(tx, node_id)?;
    // A node that stood so since before the hub took notes has none, and what was noted last may be long ago.
    if history.last().is_none_or(|last| last.at < now.0) {
        history.push(ReputationPoint { at: now.0, score: node.reputation });
    }
    let parts = parts.into_iter().map(|part| ReputationShare {
        value: rounded(part.value),
        weight: rounded(part.weight),
        points: rounded(part.points),
        ..part
    });
    let history = history
        .iter()
        .map(|point| ReputationPointView { at: Time(point.at).iso(), score: rounded(point.score) });
    Ok(NodeReputationResponse {
        node_id: node.node_id,
        score: rounded(node.reputation),
        parts: parts.collect(),
        history: history.collect(),
    })
}
