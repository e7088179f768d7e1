//! An account makes a node its own.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_rules::identity::accounts::claim_code;
use capsid_rules::identity::claims::grace_ends;
use capsid_store::accounts::claim_codes;
use capsid_store::accounts::claim_codes::{ClaimCodeRow, NodeClaimOutcome};
use capsid_store::accounts::grants;
use capsid_store::db::tx::Tx;
use capsid_store::notifications::notices::{NodeNotice, notify_node};
use serde::Serialize;
use serde_json::Map;
use utoipa::ToSchema;

/// Whether a claim code was used.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    Pending,
    Claimed,
}

/// The node of a claim code.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ClaimCode)]
pub struct ShowClaimResponse {
    claim_code: String,
    node_id: String,
    expires_at: String,
    status: ClaimStatus,
}

/// Tells which node a code is for.
#[tracing::instrument(skip_all)]
pub async fn show_claim(hub: &Hub, credentials: &Credentials, code: &str) -> ApiResult<ShowClaimResponse> {
    let claim = find_claim(hub, &credentials.address, code).await?;
    Ok(ShowClaimResponse {
        claim_code: claim.code,
        node_id: claim.node_id,
        expires_at: Time(claim.expires_at).iso(),
        status: if claim.claimed { ClaimStatus::Claimed } else { ClaimStatus::Pending },
    })
}

/// A node that belongs to the account from now on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeClaimed)]
pub struct ClaimNodeResponse {
    status: &'static str,
    node_id: String,
    user_id: String,
}

/// Makes the node of a code belong to the account that asks.
#[tracing::instrument(skip_all, fields(user.id, node.id))]
pub async fn claim_node(hub: &Hub, credentials: Credentials, code: &str) -> ApiResult<ClaimNodeResponse> {
    let (now, address) = (hub.now(), credentials.address.clone());
    let user = hub.store.read(move |tx| account::require_user(tx, &credentials, now)).await?;
    tracing::Span::current().record("user.id", &user.user_id);
    let claim = find_claim(hub, &address, code).await?;
    tracing::Span::current().record("node.id", &claim.node_id);
    let (code, owner, context, policy) = (claim.code, user.clone(), hub.context(), hub.config.grants());
    let outcome = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let outcome = claim_codes::claim(tx, &code, &owner, context.now)?;
            if let NodeClaimOutcome::Done { node_id } = &outcome {
                notify_claimed(tx, &context, node_id)?;
                grants::settle_claim(tx, &policy, &owner.user_id, node_id, context.now)?;
            }
            Ok(outcome)
        })
        .await?;
    match outcome {
        NodeClaimOutcome::Done { node_id } => {
            hub.events.notify();
            Ok(ClaimNodeResponse { status: "claimed", node_id, user_id: user.user_id })
        }
        other => Err(refused(&other)),
    }
}

/// Tells a node that it has an owner, and until when it can refuse that.
fn notify_claimed(tx: &mut dyn Tx, context: &OperationContext, node_id: &str) -> ApiResult<()> {
    let mut notice = NodeNotice { kind: "node_claimed", payload: Map::new() }.with("node_id", node_id);
    if let Some(end) = grace_ends(Some(context.now.0), context.config.identity.claim_grace_ms) {
        notice = notice.with("refuse_until", Time(end).iso()).with("refuse_endpoint", "/a2a/claim/refuse");
    }
    notify_node(tx, node_id, &notice, context.now)?;
    Ok(())
}

/// Finds a code. Codes are short enough to be typed, so wrong ones are counted against the address they come from.
async fn find_claim(hub: &Hub, address: &str, code: &str) -> ApiResult<ClaimCodeRow> {
    let (limit, now) = (hub.config.limits.wrong_credentials, hub.now());
    hub.limiter.check(&hub.store, HubCode::TooManyAttempts, "claim", address, limit, now).await?;
    let code = claim_code(code).ok_or_else(|| refused(&NodeClaimOutcome::Unknown))?;
    let found = hub.store.read::<_, ApiError, _>(move |tx| Ok(claim_codes::find(tx, &code)?)).await?;
    let claim = found.ok_or_else(|| refused(&NodeClaimOutcome::Unknown))?;
    hub.limiter.refund(&hub.store, "claim", address, limit).await?;
    if claim.is_expired(now) { Err(refused(&NodeClaimOutcome::Expired)) } else { Ok(claim) }
}

fn refused(claimed: &NodeClaimOutcome) -> ApiError {
    match claimed {
        NodeClaimOutcome::Expired => ApiError::new(
            HubCode::ClaimCodeExpired,
            "The claim code is older than a day, or was made invalid since.",
            "Let the node say hello again with its secret; it then shows a new code.",
        ),
        NodeClaimOutcome::Before => ApiError::new(
            HubCode::AlreadyClaimed,
            "The node already belongs to an account.",
            "See GET /account/agents for the nodes of an account.",
        ),
        NodeClaimOutcome::Unknown | NodeClaimOutcome::Done { .. } => ApiError::new(
            HubCode::NotFound,
            "There is no such claim code.",
            "Type the code as the node shows it: eight letters and digits such as REEF-4X7K.",
        ),
    }
}
