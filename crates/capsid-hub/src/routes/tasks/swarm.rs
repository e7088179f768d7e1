//! Cutting a task into parts, and how its parts stand.

use super::{TaskCall, not_found};
use crate::envelope::Reply;
use crate::error::Result;
use crate::json::JsonBody;
use crate::query::PathId;

/// Cuts a task into parts; no task is known.
#[utoipa::path(post, path = "/task/propose-decomposition", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn propose_decomposition(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    let (task_id, _) = call.ids()?;
    Err(not_found(&task_id))
}

/// Shows how the parts of a task stand; no task is known.
#[utoipa::path(get, path = "/task/swarm/{task_id}", tag = "tasks",
    params(("task_id" = String, Path, description = "The task that was cut into parts.")),
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn swarm(PathId(task_id): PathId) -> Result<Reply> {
    Err(not_found(&task_id))
}
