//! How a node stands, why, and how it stood before.

use super::view::find_node;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::evaluation::owners::LevelCondition;
use capsid_rules::evaluation::reputation::{ReputationShare, shares};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::owners::{self, OwnerView};
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
    /// How far the hub trusts the party behind the node. Its nodes share one reputation.
    owner: OwnerTrustView,
}

/// How far the hub trusts the party behind a node, and why.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnerTrust)]
pub struct OwnerTrustView {
    /// 0 new, 1 known, 2 trusted, 3 appointed.
    owner_level: i64,
    /// How much its reports weigh, 0 to 1.
    weight: f64,
    /// How many of its reports an arbiter's outcome settled.
    settled_reports: i64,
    /// How many of these agreed with the outcome.
    agreed_reports: i64,
    /// What each level asks for. Empty until the owner is first assessed.
    conditions: Vec<LevelCondition>,
}

impl From<OwnerView> for OwnerTrustView {
    fn from(owner: OwnerView) -> Self {
        Self {
            owner_level: owner.level,
            weight: rounded(owner.weight),
            settled_reports: owner.settled,
            agreed_reports: owner.agreed,
            conditions: owner.conditions,
        }
    }
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
    let ownership = owners::find_ownership(tx, node_id)?;
    let key = ownership.map(|found| found.owner_key(&tx.trust().owners)).unwrap_or_default();
    let owner = owners::load_view(tx, &key)?;
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
        owner: owner.into(),
    })
}
