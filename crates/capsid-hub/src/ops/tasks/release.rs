//! Releasing a task, so that others may claim it.

use super::view::TaskView;
use super::{errors, ids};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_store::work::tasks::claim;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which task is meant, and by whom.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = TaskCall)]
pub struct ReleaseTaskRequest {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
}

sender_fields!(ReleaseTaskRequest);

/// A task that was released.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReleaseTaskResponse {
    status: &'static str,
    task_id: String,
    task: TaskView,
}

/// Releases a task of the node that sends. Parts of a swarm cannot be released.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = request.task_id.as_deref().map(traced_id)))]
pub async fn release_task(
    hub: &SharedHub,
    credentials: Credentials,
    request: &ReleaseTaskRequest,
) -> ApiResult<ReleaseTaskResponse> {
    let sender = request.sender();
    let (task_id, node_id) = ids(request.task_id.as_deref(), sender.sender_id, sender.node_id)?;
    let sender = Sender::new(&node_id, sender.credentials(credentials));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let task = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            errors::changed(claim::release(tx, &node, &task_id, context.now)?, &task_id)
        })
        .await?;
    let view = TaskView::from_row(&task, hub.now());
    Ok(ReleaseTaskResponse { status: "released", task_id: task.task_id, task: view })
}
