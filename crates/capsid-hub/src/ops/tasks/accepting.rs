//! `POST /task/accept-submission`: whoever asked takes what was handed in, and pays.

use crate::auth::access::Credentials;
use crate::error::{ApiError, HubCode, Result};
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::ops::bounties::deciding::{Decider, Taken, accept_in, decide, of_task};
use crate::state::Shared;
use axum::extract::State;
use capsid_store::work::tasks::submissions;
use serde::Deserialize;

/// Which submission is accepted.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SubmissionDecision)]
pub struct Call {
    task_id: Option<String>,
    submission_id: Option<String>,
    /// The node that asked, where it was a node.
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
}

/// Accepts what was handed in for a task: the same as accepting its bounty.
#[utoipa::path(post, path = "/task/accept-submission", operation_id = "task_accept_submission", tag = "tasks",
    request_body = Call,
    responses((status = 200, body = crate::http::openapi::bounties::BountyDetail), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn accept_submission(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<Call>,
) -> Result<Reply> {
    let needed = |value: Option<String>, path: &str| {
        value.filter(|id| !id.is_empty()).ok_or_else(|| ApiError::field(path, "an id", "missing"))
    };
    let task_id = needed(call.task_id, "task_id")?;
    let submission_id = needed(call.submission_id, "submission_id")?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    let decider = Decider::new(call.node_id.or(call.sender_id).as_deref(), credentials)?;
    let terms = hub.config.settlement_terms();
    decide(&hub, decider, move |tx, rules, decider| {
        let bounty_id = of_task(tx, &task_id)?;
        if submissions::get(tx, &submission_id)?.is_none() {
            return Err(ApiError::new(
                HubCode::SubmissionNotFound,
                "There is no such submission.",
                "See `submissions` of GET /bounty/{id}.",
            ));
        }
        let taken = Taken { submission: Some(submission_id.clone()), asset: None };
        accept_in(tx, rules, &bounty_id, decider, &taken, &terms)
    })
    .await
}
