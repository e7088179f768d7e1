//! Taking a task, giving it back, and promising when it is done.

use super::{TaskRequest, errors, ids};
use crate::auth::credentials::{Credentials, authenticate_node};
use crate::config::TasksConfig;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query::PathId;
use crate::ops::tasks::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::work::models::{UNRANKED, tier};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::claim;
use capsid_store::work::tasks::claim::{ClaimOutcome, TaskChangeOutcome};
use serde::Deserialize;
use serde_json::{Value, json};

/// A task that is to be taken, and by when it is promised.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
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

impl ClaimTaskRequest {
    /// The task, the node, and the promise.
    pub fn read(&self) -> ApiResult<(String, String, Option<i64>)> {
        let (task_id, node_id) =
            ids(self.task_id.as_deref(), self.sender_id.as_deref(), self.node_id.as_deref())?;
        let deadline = deadline_or(self.commitment_deadline.as_ref(), "commitment_deadline")?;
        Ok((task_id, node_id, deadline))
    }

    /// A secret in the body.
    pub fn secret(&self) -> Option<&str> {
        self.node_secret.as_deref()
    }
}

/// Takes a task for a node, which works on it from then on.
///
/// Of all who ask at the same moment one gets it. Whoever has it already is told so again. The others are told how it
/// stands.
#[utoipa::path(post, path = "/task/claim", tag = "tasks", request_body = ClaimTaskRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<ClaimTaskRequest>,
) -> ApiResult<JsonReply> {
    let (task_id, node_id, deadline) = call.read()?;
    let credentials = credentials.or_secret(call.secret());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, work, submission_id) = (hub.rules(), hub.config.work.clone(), hub.new_id("sub"));
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            let task = claim_task(tx, &node, &task_id, deadline, &submission_id, &work, rules.now)?;
            claimed(tx, &task, rules.now)
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&told))
}

/// A moment that a client tells: an ISO 8601 time, or milliseconds since 1970.
pub fn deadline_or(value: Option<&Value>, path: &str) -> ApiResult<Option<i64>> {
    let read = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(ms)) => ms.as_f64().map(|ms| ms as i64),
        Some(Value::String(text)) => Time::parse(text).map(|time| time.0),
        Some(_) => None,
    };
    match read {
        Some(ms) => Ok(Some(ms)),
        None => Err(ApiError::field(
            path,
            "an ISO 8601 time such as 2026-01-15T08:30:00Z, or milliseconds since 1970",
            "something else",
        )),
    }
}

/// Takes a task for a node, which was let in and is locked.
pub fn claim_task(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    deadline: Option<i64>,
    submission_id: &str,
    work: &TasksConfig,
    now: Time,
) -> ApiResult<TaskRow> {
    let tiers = &work.model_tiers;
    match claim::claim(tx, node, task_id, deadline, submission_id, tiers, now)? {
        ClaimOutcome::Done(task) => Ok(task),
        // It may have promised nothing when it took the task.
        ClaimOutcome::Again(task) => match deadline.filter(|_| task.commitment_deadline.is_none()) {
            Some(deadline) => changed(claim::commit(tx, node, task_id, deadline, now)?, task_id),
            None => Ok(task),
        },
        ClaimOutcome::NotFound => Err(super::not_found(task_id)),
        ClaimOutcome::NotOpen(task) => Err(errors::not_open(&task)),
        ClaimOutcome::Reserved => Err(errors::reserved(task_id)),
        ClaimOutcome::WasOverdue => Err(errors::was_overdue(task_id)),
        ClaimOutcome::Own => Err(errors::own(task_id)),
        ClaimOutcome::Reputation { need, have } => Err(errors::reputation(need, have)),
        ClaimOutcome::Model(task, model) => {
            let tier = model.as_deref().map_or(UNRANKED, |model| tier(model, tiers));
            Err(errors::model(&task, model, tier))
        }
        ClaimOutcome::BadPromise(bad) => Err(errors::commitment_error(bad)),
    }
}

/// What is told of a task that was taken.
pub fn claimed(tx: &mut dyn Tx, task: &TaskRow, now: Time) -> ApiResult<Value> {
    let told = view::with_parent(tx, task, now)?;
    Ok(json!({
        "status": "claimed",
        "task_id": task.task_id,
        "claimed_by": task.claimed_by,
        "claimed_at": told["claimed_at"],
        "commitment_deadline": told["commitment_deadline"],
        "submission_id": task.submission_id,
        "task": told,
    }))
}

fn changed(changed: TaskChangeOutcome, task_id: &str) -> ApiResult<TaskRow> {
    match changed {
        TaskChangeOutcome::Done(task) => Ok(task),
        TaskChangeOutcome::NotFound => Err(super::not_found(task_id)),
        TaskChangeOutcome::NotClaimer(task) => Err(errors::not_claimer(&task)),
        TaskChangeOutcome::Refused(task, refusal) => Err(errors::not_now(&task, refusal)),
        TaskChangeOutcome::BadPromise(bad) => Err(errors::commitment_error(bad)),
    }
}

/// Gives a task back, so that others may take it. Parts of a swarm cannot be given back.
#[utoipa::path(post, path = "/task/release", tag = "tasks", request_body = TaskRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn release(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<TaskRequest>,
) -> ApiResult<JsonReply> {
    let (task_id, node_id) = call.ids()?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let task = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            changed(claim::release(tx, &node, &task_id, rules.now)?, &task_id)
        })
        .await?;
    Ok(JsonReply::json(&json!({
        "status": "released",
        "task_id": task.task_id,
        "task": view::task(&task, hub.now()),
    })))
}

/// By when a node promises to be done.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
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

/// Promises to be done by a moment 5 minutes to 24 hours ahead, or puts that off; twice at most.
#[utoipa::path(post, path = "/task/{task_id}/commitment", tag = "tasks", request_body = CommitTaskRequest,
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn commitment(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
    JsonBody(call): JsonBody<CommitTaskRequest>,
) -> ApiResult<JsonReply> {
    let (task_id, node_id) = ids(Some(&task_id), call.sender_id.as_deref(), call.node_id.as_deref())?;
    let deadline = match deadline_or(call.deadline.as_ref(), "deadline")? {
        Some(deadline) => Some(deadline),
        None => deadline_or(call.commitment_deadline.as_ref(), "commitment_deadline")?,
    };
    let deadline = deadline.ok_or_else(|| ApiError::field("deadline", "an ISO 8601 time", "missing"))?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let task = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            commit_task(tx, &node, &task_id, deadline, rules.now)
        })
        .await?;
    let left = capsid_rules::work::tasks::MAX_EXTENSIONS - task.extensions;
    Ok(JsonReply::json(&json!({
        "status": "committed",
        "task_id": task.task_id,
        "commitment_deadline": task.commitment_deadline.map(|ms| Time(ms).iso()),
        "extensions": task.extensions,
        "extensions_left": left,
        "task": view::task(&task, hub.now()),
    })))
}

/// Promises for a node, which was let in and is locked, to be done by a moment.
pub fn commit_task(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    deadline: i64,
    now: Time,
) -> ApiResult<TaskRow> {
    changed(claim::commit(tx, node, task_id, deadline, now)?, task_id)
}
