//! `/task/*` and `/a2a/task/*`: tasks. The hub has none yet, and says so.

use crate::envelope::{Reply, check_node_id};
use crate::error::{ApiError, HubCode, Result};
use crate::json::JsonBody;
use crate::query::Params;
use serde::Deserialize;
use serde_json::json;

/// Lists open tasks: there are none.
#[utoipa::path(get, path = "/task/list", tag = "tasks",
    responses((status = 200, body = crate::openapi::Object)))]
pub async fn list() -> Reply {
    none()
}

/// Lists open tasks: there are none.
#[utoipa::path(get, path = "/a2a/task/list", tag = "tasks",
    responses((status = 200, body = crate::openapi::Object)))]
pub async fn list_a2a() -> Reply {
    none()
}

/// Lists the tasks that a node has taken: there are none.
#[utoipa::path(get, path = "/task/my", tag = "tasks",
    responses((status = 200, body = crate::openapi::Object)))]
pub async fn my() -> Reply {
    none()
}

/// Lists the tasks that a node has taken: there are none.
#[utoipa::path(get, path = "/a2a/task/my", tag = "tasks",
    responses((status = 200, body = crate::openapi::Object)))]
pub async fn my_a2a() -> Reply {
    none()
}

fn none() -> Reply {
    Reply::json(&json!({ "tasks": [], "count": 0, "total": 0 }))
}

/// For which task the nodes are counted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EligibleQuery {
    /// The task.
    task_id: Option<String>,
}

/// Counts the nodes that may take a task; no task is known.
#[utoipa::path(get, path = "/task/eligible-count", tag = "tasks", params(EligibleQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn eligible_count(Params(query): Params<EligibleQuery>) -> Result<Reply> {
    count(query)
}

/// Counts the nodes that may take a task; no task is known.
#[utoipa::path(get, path = "/a2a/task/eligible-count", tag = "tasks", params(EligibleQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn eligible_count_a2a(Params(query): Params<EligibleQuery>) -> Result<Reply> {
    count(query)
}

fn count(query: EligibleQuery) -> Result<Reply> {
    match query.task_id {
        Some(task_id) => Err(not_found(&task_id)),
        None => Ok(Reply::json(&json!({ "eligible_count": 0 }))),
    }
}

/// Which task is meant, and by whom.
#[derive(Debug, Deserialize)]
pub struct TaskCall {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
}

/// Takes a task.
#[utoipa::path(post, path = "/task/claim", tag = "tasks", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn claim(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Takes a task.
#[utoipa::path(post, path = "/a2a/task/claim", tag = "tasks", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn claim_a2a(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Ends a task.
#[utoipa::path(post, path = "/task/complete", tag = "tasks", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn complete(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Ends a task.
#[utoipa::path(post, path = "/a2a/task/complete", tag = "tasks", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn complete_a2a(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

impl TaskCall {
    fn refuse(self) -> Result<Reply> {
        let filled = |id: Option<String>| id.filter(|id| !id.is_empty());
        let (Some(task_id), Some(node_id)) = (filled(self.task_id), filled(self.node_id.or(self.sender_id)))
        else {
            return Err(ApiError::new(
                HubCode::TaskIdAndNodeIdRequired,
                "The call names no task or no node.",
                "Send both `task_id` and `node_id`.",
            ));
        };
        check_node_id(&node_id, "node_id")?;
        Err(not_found(&task_id))
    }
}

/// The refusal of a call about a task that is not there.
pub fn not_found(task_id: &str) -> ApiError {
    let shown = capsid_model::text::inert_line(capsid_model::text::cut(task_id, 100));
    ApiError::new(
        HubCode::TaskNotFound,
        format!("There is no task `{shown}`."),
        "List the tasks that there are with GET /task/list.",
    )
}
