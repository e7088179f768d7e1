//! `/claim/{code}`: an account makes a node its own. Programs get JSON; a browser gets the page that does the same.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::query::PathId;
use crate::state::{Hub, SharedHub};
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::identity::accounts::claim_code;
use capsid_store::accounts::UserRow;
use capsid_store::accounts::claim_codes;
use capsid_store::accounts::claim_codes::{ClaimCodeRow, NodeClaimOutcome};
use serde_json::json;

/// Tells which node a code is for. A browser gets the page that claims it.
#[utoipa::path(get, path = "/claim/{code}", tag = "accounts",
    params(("code" = String, Path, description = "The code that the node shows, such as REEF-4X7K.")),
    responses(
        (status = 200, content((crate::http::openapi::accounts::ClaimCode = "application/json"), (String = "text/html"))),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn show(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(code): PathId,
) -> ApiResult<JsonReply> {
    let claim = find_claim(&hub, &credentials.address, &code).await?;
    Ok(JsonReply::json(&json!({
        "claim_code": claim.code, "node_id": claim.node_id, "expires_at": Time(claim.expires_at).iso(),
        "status": if claim.claimed { "claimed" } else { "pending" },
    })))
}

/// Makes the node of a code belong to the account that asks. Each code works once.
#[utoipa::path(post, path = "/claim/{code}", tag = "accounts",
    params(("code" = String, Path, description = "The code that the node shows, such as REEF-4X7K.")),
    responses((status = 200, body = crate::http::openapi::accounts::NodeClaimed), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(code): PathId,
) -> ApiResult<JsonReply> {
    let (now, address) = (hub.now(), credentials.address.clone());
    let user = hub.store.read(move |tx| account::require_user(tx, &credentials, now)).await?;
    let claim = find_claim(&hub, &address, &code).await?;
    let node_id = claim_node(&hub, &claim, &user).await?;
    Ok(JsonReply::json(&json!({ "status": "claimed", "node_id": node_id, "user_id": user.user_id })))
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

async fn claim_node(hub: &Hub, claim: &ClaimCodeRow, user: &UserRow) -> ApiResult<String> {
    let (code, user, now) = (claim.code.clone(), user.clone(), hub.now());
    let claimed =
        hub.store.write::<_, ApiError, _>(move |tx| Ok(claim_codes::claim(tx, &code, &user, now)?)).await?;
    match claimed {
        NodeClaimOutcome::Done { node_id } => Ok(node_id),
        other => Err(refused(&other)),
    }
}

fn refused(claimed: &NodeClaimOutcome) -> ApiError {
    match claimed {
        NodeClaimOutcome::Expired => ApiError::new(
            HubCode::ClaimCodeExpired,
            "The claim code is older than a day.",
            "Let the node say hello again; it then shows a new code.",
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
