//! `POST /task/accept-submission`: whoever asked takes what was handed in, and pays.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::ops::bounties::decide::{AcceptedSubmission, BountyDecider, accept_in, decide, find_task_bounty};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_store::work::tasks::submissions;
use serde::Deserialize;

/// Which submission is accepted.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SubmissionDecision)]
pub struct AcceptSubmissionRequest {
    task_id: Option<String>,
    submission_id: Option<String>,
    /// The node that asked, where it was a node.
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
}

/// Accepts what was handed in for a task: the same as accepting its bounty.
#[utoipa::path(post, path = "/task/accept-submission", operation_id = "task_accept_submission", tag = "tasks",
    request_body = AcceptSubmissionRequest,
    responses((status = 200, body = crate::http::openapi::bounties::BountyDetail), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn accept_submission(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<AcceptSubmissionRequest>,
) -> ApiResult<JsonReply> {
    let needed = |value: Option<String>, path: &str| {
        value.filter(|id| !id.is_empty()).ok_or_else(|| ApiError::field(path, "an id", "missing"))
    };
    let task_id = needed(call.task_id, "task_id")?;
    let submission_id = needed(call.submission_id, "submission_id")?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    let decider = BountyDecider::new(call.node_id.or(call.sender_id).as_deref(), credentials)?;
    let terms = hub.config.settlement_terms();
    decide(&hub, decider, move |tx, rules, decider| {
        let bounty_id = find_task_bounty(tx, &task_id)?;
        if submissions::get(tx, &submission_id)?.is_none() {
            return Err(ApiError::new(
                HubCode::SubmissionNotFound,
                "There is no such submission.",
                "See `submissions` of GET /bounty/{id}.",
            ));
        }
        let taken = AcceptedSubmission { submission: Some(submission_id.clone()), asset: None };
        accept_in(tx, rules, &bounty_id, decider, &taken, &terms)
    })
    .await
}
