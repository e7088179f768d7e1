//! Disputes: whoever did a task says that its rejection was wrong, and an arbiter decides.

use super::decide::{BountyDecider, DecideBountyRequest, decide, to_response};
use super::not_found;
use super::view::BountyDetailView;
use crate::auth::account::{self, require_moderator};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::{traced_id, validate};
use crate::state::SharedHub;
use capsid_rules::work::bounties::DisputeDecision;
use capsid_store::db::tx::Tx;
use capsid_store::nodes;
use capsid_store::work::bounties::{self, BountyRow, disputes};
use serde::Deserialize;
use utoipa::ToSchema;

/// Opens a dispute about a rejection.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id)))]
pub async fn dispute_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    request: &DecideBountyRequest,
) -> ApiResult<BountyDetailView> {
    decide(hub, request.decider(credentials)?, move |tx, context, decider| {
        let reason =
            decider.reason().map(str::trim).filter(|reason| !reason.is_empty()).ok_or_else(|| {
                ApiError::field("reason", "a sentence that says why the rejection is wrong", "nothing")
            })?;
        let bounty = bounties::get(tx, &bounty_id)?.ok_or_else(|| not_found(&bounty_id))?;
        let actor = solver(tx, context, decider, &bounty)?;
        let decided = disputes::open_dispute(tx, &bounty_id, &actor, reason, context.now)?;
        to_response(
            tx,
            context,
            &bounty_id,
            decided,
            "There is no rejection that could be disputed, or it is too late.",
        )
    })
    .await
}

/// Checks that the node that did the task speaks, or its owner, and tells who that is.
fn solver(
    tx: &mut dyn Tx,
    context: &OperationContext,
    decider: &BountyDecider,
    bounty: &BountyRow,
) -> ApiResult<String> {
    let Some(matched) = &bounty.matched_node else { return Err(not_solver()) };
    if let Some(user) = account::caller(tx, decider.credentials(), context.now)? {
        let owns = nodes::get(tx, matched)?.is_some_and(|node| node.owner.as_ref() == Some(&user.user_id));
        return if owns { Ok(user.actor()) } else { Err(not_solver()) };
    }
    if decider.node().is_some_and(|node| node != matched) {
        return Err(not_solver());
    }
    Sender::new(matched, decider.credentials().clone()).lock_spender(tx, context)?;
    Ok(format!("node:{matched}"))
}

fn not_solver() -> ApiError {
    ApiError::new(
        HubCode::NotTaskClaimer,
        "Somebody else did the task of this bounty.",
        "Only the node that did it, or its owner, can dispute a rejection.",
    )
}

/// What an arbiter decides.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(as = DisputeResolution)]
pub struct ResolveDisputeRequest {
    /// solver, creator or split.
    #[schema(example = "solver")]
    decision: String,
    /// Why.
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

/// Decides a dispute; for arbiters.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id)))]
pub async fn resolve_dispute(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    request: &ResolveDisputeRequest,
) -> ApiResult<BountyDetailView> {
    validate::text_or(request.reason.as_deref(), "reason", 1000)?;
    let decision = DisputeDecision::parse(&request.decision)
        .ok_or_else(|| ApiError::field("decision", "solver, creator or split", "another word"))?;
    let (terms, reason) = (hub.config.settlement_terms(), request.reason.clone());
    decide(hub, BountyDecider::new(None, credentials)?, move |tx, context, decider| {
        let arbiter = require_moderator(tx, decider.credentials(), context.now)?;
        let outcome = describe(decision, reason.as_deref());
        let decided =
            disputes::resolve(tx, &bounty_id, decision, &arbiter.actor(), &outcome, &terms, context.now)?;
        to_response(tx, context, &bounty_id, decided, "The bounty is not disputed.")
    })
    .await
}

fn describe(decision: DisputeDecision, reason: Option<&str>) -> String {
    let end = match decision {
        DisputeDecision::Solver => "Paid: an arbiter decided for whoever did the task.",
        DisputeDecision::Creator => "An arbiter decided that the rejection stands.",
        DisputeDecision::Split => "Shared: an arbiter gave each side half.",
    };
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{end} Reason: {reason}"),
        None => end.to_owned(),
    }
}
