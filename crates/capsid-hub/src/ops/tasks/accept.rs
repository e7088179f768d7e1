//! Accepting a submission: whoever asked takes what was handed in, and pays.

use crate::auth::credentials::Credentials;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::ops::bounties::decide::{AcceptedSubmission, BountyDecider, accept_in, decide, find_task_bounty};
use crate::ops::bounties::view::BountyDetailView;
use crate::state::SharedHub;
use capsid_store::work::tasks::submissions;
use serde::Deserialize;
use utoipa::ToSchema;

/// Which submission is accepted.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SubmissionDecision)]
pub struct AcceptSubmissionRequest {
    task_id: Option<String>,
    submission_id: Option<String>,
    /// The node that asked, where it was a node.
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
}

sender_fields!(AcceptSubmissionRequest);

/// Accepts what was handed in for a task: the same as accepting its bounty.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = request.task_id.as_deref().map(traced_id)))]
pub async fn accept_submission(
    hub: &SharedHub,
    credentials: Credentials,
    request: &AcceptSubmissionRequest,
) -> ApiResult<BountyDetailView> {
    let needed = |value: Option<&String>, path: &str| {
        value.filter(|id| !id.is_empty()).cloned().ok_or_else(|| ApiError::field(path, "an id", "missing"))
    };
    let task_id = needed(request.task_id.as_ref(), "task_id")?;
    let submission_id = needed(request.submission_id.as_ref(), "submission_id")?;
    let sender = request.sender();
    let decider = BountyDecider::new(sender.node_id.or(sender.sender_id), sender.credentials(credentials))?;
    let terms = hub.config.settlement_terms();
    decide(hub, decider, move |tx, context, decider| {
        let bounty_id = find_task_bounty(tx, &task_id)?;
        if submissions::get(tx, &submission_id)?.is_none() {
            return Err(ApiError::new(
                HubCode::SubmissionNotFound,
                "There is no such submission.",
                "See `submissions` of GET /bounty/{id}.",
            ));
        }
        let accepted = AcceptedSubmission { submission: Some(submission_id.clone()), asset: None };
        accept_in(tx, context, &bounty_id, decider, &accepted, &terms)
    })
    .await
}
