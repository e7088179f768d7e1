//! One task, and who tried it.

use super::find;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::PathId;
use crate::ops::tasks::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::work::tasks::submissions;
use capsid_store::work::tasks::submissions::SubmissionRow;
use serde_json::{Value, json};

/// The most submissions that are listed; a task is seldom tried twice.
const MAX: i64 = 100;

/// Shows a task.
#[utoipa::path(get, path = "/task/{task_id}", tag = "tasks",
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = crate::http::openapi::tasks::TaskDetail), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn detail(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let now = hub.now();
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let task = find(tx, &task_id)?;
            let mut told = view::with_parent(tx, &task, now)?;
            told["task"] = told.clone();
            told["claimable"] = (task.status_at(now) == TaskStatus::Open).into();
            told["submission_count"] = submissions::list_for_task(tx, &task_id, MAX)?.len().into();
            Ok(told)
        })
        .await?;
    Ok(JsonReply::json(&told))
}

/// Lists who took a task and what came of it, oldest first.
#[utoipa::path(get, path = "/task/{task_id}/submissions", tag = "tasks",
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = crate::http::openapi::tasks::TaskSubmissions), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn submissions(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (id, tries) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let task = find(tx, &task_id)?;
            Ok((task.task_id, submissions::list_for_task(tx, &task_id, MAX)?))
        })
        .await?;
    let rows: Vec<Value> = tries.iter().map(row).collect();
    Ok(JsonReply::json(&json!({ "task_id": id, "count": rows.len(), "submissions": rows })))
}

/// A submission as it is told.
pub fn row(submission: &SubmissionRow) -> Value {
    json!({
        "submission_id": submission.submission_id,
        "task_id": submission.task_id,
        "node_id": submission.node_id,
        "status": submission.status,
        "asset_id": submission.asset_id.map(|id| id.to_string()),
        "created_at": Time(submission.created_at).iso(),
        "updated_at": Time(submission.updated_at).iso(),
    })
}
