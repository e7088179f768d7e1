//! Promising by when a task is done.

use super::view::TaskView;
use super::{deadline_or, errors, ids};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::work::tasks::MAX_EXTENSIONS;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::claim;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// By when a node promises to be done.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CommitmentCall)]
pub struct CommitTaskRequest {
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// An ISO 8601 time, or milliseconds since 1970.
    #[schema(value_type = Option<String>)]
    deadline: Option<Value>,
    /// The same under another name.
    #[schema(value_type = Option<String>)]
    commitment_deadline: Option<Value>,
}

sender_fields!(CommitTaskRequest);

impl CommitTaskRequest {
    fn deadline(&self) -> ApiResult<i64> {
        let deadline = match deadline_or(self.deadline.as_ref(), "deadline")? {
            Some(deadline) => Some(deadline),
            None => deadline_or(self.commitment_deadline.as_ref(), "commitment_deadline")?,
        };
        deadline.ok_or_else(|| ApiError::field("deadline", "an ISO 8601 time", "missing"))
    }
}

/// A promise that was kept on record.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommitTaskResponse {
    status: &'static str,
    task_id: String,
    #[schema(required)]
    commitment_deadline: Option<String>,
    /// How often the promise was put off.
    extensions: i64,
    extensions_left: i64,
    task: TaskView,
}

/// Promises for the node that sends to be done by a moment, or puts that off.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = traced_id(task_id)))]
pub async fn commit_task(
    hub: &SharedHub,
    credentials: Credentials,
    task_id: &str,
    request: &CommitTaskRequest,
) -> ApiResult<CommitTaskResponse> {
    let sender = request.sender();
    let (task_id, node_id) = ids(Some(task_id), sender.sender_id, sender.node_id)?;
    let deadline = request.deadline()?;
    let sender = Sender::new(&node_id, sender.credentials(credentials));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let task = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            commit_task_in(tx, &node, &task_id, deadline, context.now)
        })
        .await?;
    let view = TaskView::from_row(&task, hub.now());
    Ok(CommitTaskResponse {
        status: "committed",
        task_id: task.task_id,
        commitment_deadline: task.commitment_deadline.map(|ms| Time(ms).iso()),
        extensions: task.extensions,
        extensions_left: MAX_EXTENSIONS - task.extensions,
        task: view,
    })
}

/// Promises for a node that is authenticated and locked.
pub fn commit_task_in(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    deadline: i64,
    now: Time,
) -> ApiResult<TaskRow> {
    errors::changed(claim::commit(tx, node, task_id, deadline, now)?, task_id)
}
