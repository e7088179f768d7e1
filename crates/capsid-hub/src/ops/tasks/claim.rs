//! Claiming a task: the node works on it from then on.

use super::view::TaskView;
use super::{commit, deadline_or, errors, ids};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_rules::work::models::{UNRANKED, tier};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::tasks::claim;
use capsid_store::work::tasks::claim::ClaimOutcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A task that is to be taken, and by when it is promised.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ClaimCall)]
pub struct ClaimTaskRequest {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// By when the node promises to be done: an ISO 8601 time, or milliseconds since 1970.
    #[schema(value_type = Option<String>)]
    commitment_deadline: Option<Value>,
}

sender_fields!(ClaimTaskRequest);

impl ClaimTaskRequest {
    /// The node that sends, and the claim.
    pub fn check(&self) -> ApiResult<(String, ClaimTask)> {
        let sender = self.sender();
        let (task_id, node_id) = ids(self.task_id.as_deref(), sender.sender_id, sender.node_id)?;
        let deadline = deadline_or(self.commitment_deadline.as_ref(), "commitment_deadline")?;
        Ok((node_id, ClaimTask { task_id, deadline }))
    }

    /// The named task for the log.
    pub fn traced_task(&self) -> Option<&str> {
        self.task_id.as_deref().map(traced_id)
    }
}

/// A claim that was checked.
#[derive(Debug, Clone)]
pub struct ClaimTask {
    pub task_id: String,
    /// By when the node promises to be done, in milliseconds.
    pub deadline: Option<i64>,
}

/// A task that was claimed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClaimTaskResponse {
    status: &'static str,
    task_id: String,
    #[schema(required)]
    claimed_by: Option<String>,
    #[schema(required)]
    claimed_at: Option<String>,
    #[schema(required)]
    commitment_deadline: Option<String>,
    #[schema(required)]
    pub submission_id: Option<String>,
    task: TaskView,
}

/// Claims a task for the node that sends. Of all who ask at the same moment one gets it.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = request.traced_task()))]
pub async fn claim_task(
    hub: &SharedHub,
    credentials: Credentials,
    request: &ClaimTaskRequest,
) -> ApiResult<ClaimTaskResponse> {
    let (node_id, claim) = request.check()?;
    let sender = Sender::new(&node_id, request.sender().credentials(credentials));
    hub.limit_calls(&sender).await?;
    let (context, submission_id) = (hub.context(), hub.new_id("sub"));
    let response = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            claim_task_in(tx, &context, &node, &claim, &submission_id)
        })
        .await?;
    hub.events.notify();
    Ok(response)
}

/// Claims a task for a node that is authenticated and locked.
pub fn claim_task_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    ClaimTask { task_id, deadline }: &ClaimTask,
    submission_id: &str,
) -> ApiResult<ClaimTaskResponse> {
    let (tiers, now) = (&context.config.work.model_tiers, context.now);
    let task = match claim::claim(tx, node, task_id, *deadline, submission_id, tiers, now)? {
        ClaimOutcome::Done(task) => task,
        // It may have promised nothing when it took the task.
        ClaimOutcome::Again(task) => match deadline.filter(|_| task.commitment_deadline.is_none()) {
            Some(deadline) => commit::commit_task_in(tx, node, task_id, deadline, now)?,
            None => task,
        },
        ClaimOutcome::NotFound => return Err(errors::not_found(task_id)),
        ClaimOutcome::NotOpen(task) => return Err(errors::not_open(&task)),
        ClaimOutcome::Reserved => return Err(errors::reserved(task_id)),
        ClaimOutcome::WasOverdue => return Err(errors::was_overdue(task_id)),
        ClaimOutcome::Own => return Err(errors::own(task_id)),
        ClaimOutcome::Reputation { need, have } => return Err(errors::reputation(need, have)),
        ClaimOutcome::Model(task, model) => {
            let tier = model.as_deref().map_or(UNRANKED, |model| tier(model, tiers));
            return Err(errors::model(&task, model, tier));
        }
        ClaimOutcome::BadPromise(bad) => return Err(errors::commitment_error(bad)),
    };
    let view = TaskView::load_with_parent(tx, &task, now)?;
    Ok(ClaimTaskResponse {
        status: "claimed",
        task_id: task.task_id,
        claimed_by: task.claimed_by,
        claimed_at: view.claimed_at.clone(),
        commitment_deadline: view.commitment_deadline.clone(),
        submission_id: task.submission_id,
        task: view,
    })
}
