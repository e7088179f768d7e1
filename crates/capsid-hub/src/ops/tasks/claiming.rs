//! Taking a task, giving it back, and promising when it is done.

use super::{TaskCall, ids, refusals};
use crate::auth::access::{Credentials, act_as};
use crate::config::Work;
use crate::error::{ApiError, Result};
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::http::query::PathId;
use crate::ops::tasks::task_row;
use crate::state::Shared;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::work::models::{UNRANKED, tier};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::Node;
use capsid_store::work::tasks::Task;
use capsid_store::work::tasks::claiming;
use capsid_store::work::tasks::claiming::{Changed, Claimed};
use serde::Deserialize;
use serde_json::{Value, json};

/// A task that is to be taken, and by when it is promised.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct ClaimCall {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// By when the node promises to be done: an ISO 8601 time, or milliseconds since 1970.
    #[schema(value_type = Option<String>)]
    commitment_deadline: Option<Value>,
}

impl ClaimCall {
    /// The task, the node, and the promise.
    pub fn read(&self) -> Result<(String, String, Option<i64>)> {
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
#[utoipa::path(post, path = "/task/claim", tag = "tasks", request_body = ClaimCall,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn claim(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<ClaimCall>,
) -> Result<Reply> {
    let (task_id, node_id, deadline) = call.read()?;
    let credentials = credentials.or_secret(call.secret());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, work, submission_id) = (hub.rules(), hub.config.work.clone(), hub.new_id("sub"));
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = act_as(tx, &rules, &node_id, &credentials)?;
            let task = take(tx, &node, &task_id, deadline, &submission_id, &work, rules.now)?;
            claimed(tx, &task, rules.now)
        })
        .await?;
    hub.events.ring();
    Ok(Reply::json(&told))
}

/// A moment that a client tells: an ISO 8601 time, or milliseconds since 1970.
pub fn deadline_or(value: Option<&Value>, path: &str) -> Result<Option<i64>> {
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
pub fn take(
    tx: &mut dyn Tx,
    node: &Node,
    task_id: &str,
    deadline: Option<i64>,
    submission_id: &str,
    work: &Work,
    now: Time,
) -> Result<Task> {
    let tiers = &work.model_tiers;
    match claiming::claim(tx, node, task_id, deadline, submission_id, tiers, now)? {
        Claimed::Done(task) => Ok(task),
        // It may have promised nothing when it took the task.
        Claimed::Again(task) => match deadline.filter(|_| task.commitment_deadline.is_none()) {
            Some(deadline) => changed(claiming::commit(tx, node, task_id, deadline, now)?, task_id),
            None => Ok(task),
        },
        Claimed::NotFound => Err(super::not_found(task_id)),
        Claimed::NotOpen(task) => Err(refusals::not_open(&task)),
        Claimed::Reserved => Err(refusals::reserved(task_id)),
        Claimed::WasOverdue => Err(refusals::was_overdue(task_id)),
        Claimed::Own => Err(refusals::own(task_id)),
        Claimed::Reputation { need, have } => Err(refusals::reputation(need, have)),
        Claimed::Model(task, model) => {
            let tier = model.as_deref().map_or(UNRANKED, |model| tier(model, tiers));
            Err(refusals::model(&task, model, tier))
        }
        Claimed::BadPromise(bad) => Err(refusals::promise(bad)),
    }
}

/// What is told of a task that was taken.
pub fn claimed(tx: &mut dyn Tx, task: &Task, now: Time) -> Result<Value> {
    let told = task_row::with_parent(tx, task, now)?;
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

fn changed(changed: Changed, task_id: &str) -> Result<Task> {
    match changed {
        Changed::Done(task) => Ok(task),
        Changed::NotFound => Err(super::not_found(task_id)),
        Changed::NotClaimer(task) => Err(refusals::not_claimer(&task)),
        Changed::Refused(task, refusal) => Err(refusals::not_now(&task, refusal)),
        Changed::BadPromise(bad) => Err(refusals::promise(bad)),
    }
}

/// Gives a task back, so that others may take it. Parts of a swarm cannot be given back.
#[utoipa::path(post, path = "/task/release", tag = "tasks", request_body = TaskCall,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn release(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<TaskCall>,
) -> Result<Reply> {
    let (task_id, node_id) = call.ids()?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let task = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = act_as(tx, &rules, &node_id, &credentials)?;
            changed(claiming::release(tx, &node, &task_id, rules.now)?, &task_id)
        })
        .await?;
    Ok(Reply::json(&json!({
        "status": "released",
        "task_id": task.task_id,
        "task": task_row::task(&task, hub.now()),
    })))
}

/// By when a node promises to be done.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct CommitmentCall {
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
#[utoipa::path(post, path = "/task/{task_id}/commitment", tag = "tasks", request_body = CommitmentCall,
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn commitment(
    State(hub): State<Shared>,
    credentials: Credentials,
    PathId(task_id): PathId,
    JsonBody(call): JsonBody<CommitmentCall>,
) -> Result<Reply> {
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
            let node = act_as(tx, &rules, &node_id, &credentials)?;
            promise(tx, &node, &task_id, deadline, rules.now)
        })
        .await?;
    let left = capsid_rules::work::tasks::MOST_EXTENSIONS - task.extensions;
    Ok(Reply::json(&json!({
        "status": "committed",
        "task_id": task.task_id,
        "commitment_deadline": task.commitment_deadline.map(|ms| Time(ms).iso()),
        "extensions": task.extensions,
        "extensions_left": left,
        "task": task_row::task(&task, hub.now()),
    })))
}

/// Promises for a node, which was let in and is locked, to be done by a moment.
pub fn promise(tx: &mut dyn Tx, node: &Node, task_id: &str, deadline: i64, now: Time) -> Result<Task> {
    changed(claiming::commit(tx, node, task_id, deadline, now)?, task_id)
}
