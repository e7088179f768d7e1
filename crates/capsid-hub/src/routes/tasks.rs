//! `/task/*` and `/a2a/task/*`: tasks. The hub has none yet, and says so.

use crate::envelope::{Reply, check_node_id};
use crate::error::{ApiError, HubCode, Result};
use crate::json::JsonBody;
use crate::query::Params;
use serde::Deserialize;
use serde_json::json;

/// Lists open tasks: there are none.
#[utoipa::path(get, path = "/task/list", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn list(Params(query): Params<TasksQuery>) -> Result<Reply> {
    query.none()
}

/// Lists open tasks: there are none.
#[utoipa::path(get, path = "/a2a/task/list", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn list_a2a(Params(query): Params<TasksQuery>) -> Result<Reply> {
    query.none()
}

/// Lists the tasks that a node has taken: there are none.
#[utoipa::path(get, path = "/task/my", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn my(Params(query): Params<TasksQuery>) -> Result<Reply> {
    query.none()
}

/// Lists the tasks that a node has taken: there are none.
#[utoipa::path(get, path = "/a2a/task/my", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn my_a2a(Params(query): Params<TasksQuery>) -> Result<Reply> {
    query.none()
}

/// Which tasks are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TasksQuery {
    /// The node that asks.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    #[serde(rename = "limit")]
    #[param(rename = "limit")]
    _limit: Option<String>,
    /// Only tasks for which this reputation is enough.
    #[param(value_type = Option<f64>)]
    #[serde(rename = "reputation")]
    #[param(rename = "reputation")]
    _reputation: Option<String>,
    /// Only tasks that pay at least so much.
    #[param(value_type = Option<f64>)]
    #[serde(rename = "min_bounty")]
    #[param(rename = "min_bounty")]
    _min_bounty: Option<String>,
}

impl TasksQuery {
    fn check(&self) -> Result<()> {
        match self.node_id.as_deref().filter(|id| !id.is_empty()) {
            Some(node_id) => check_node_id(node_id, "node_id"),
            None => Ok(()),
        }
    }

    fn none(&self) -> Result<Reply> {
        self.check()?;
        Ok(Reply::json(&json!({ "tasks": [], "count": 0, "total": 0 })))
    }
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
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct TaskCall {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
}

/// Takes a task.
#[utoipa::path(post, path = "/task/claim", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn claim(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Takes a task.
#[utoipa::path(post, path = "/a2a/task/claim", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn claim_a2a(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Ends a task.
#[utoipa::path(post, path = "/task/complete", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn complete(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Ends a task.
#[utoipa::path(post, path = "/a2a/task/complete", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn complete_a2a(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Lists the work that waits for a node: there is none.
#[utoipa::path(get, path = "/a2a/work/available", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn work_available(Params(query): Params<TasksQuery>) -> Result<Reply> {
    query.check()?;
    Ok(Reply::json(&json!({ "work": [], "tasks": [], "count": 0, "total": 0 })))
}

/// Takes work.
#[utoipa::path(post, path = "/a2a/work/claim", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn work_claim(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
    call.refuse()
}

/// Ends work.
#[utoipa::path(post, path = "/a2a/work/complete", tag = "tasks", request_body = TaskCall,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn work_complete(JsonBody(call): JsonBody<TaskCall>) -> Result<Reply> {
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
