//! One task, and who tried it.

use super::find;
use crate::auth::access::Credentials;
use crate::error::{ApiError, Result};
use crate::http::envelope::Reply;
use crate::http::query::PathId;
use crate::ops::tasks::task_row;
use crate::state::Shared;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::work::tasks::submissions;
use capsid_store::work::tasks::submissions::Submission;
use serde_json::{Value, json};

/// The most submissions that are listed; a task is seldom tried twice.
const MOST: i64 = 100;

/// Shows a task.
#[utoipa::path(get, path = "/task/{task_id}", tag = "tasks",
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = crate::http::openapi::tasks::TaskDetail), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn detail(
    State(hub): State<Shared>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    let now = hub.now();
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let task = find(tx, &task_id)?;
            let mut told = task_row::with_parent(tx, &task, now)?;
            told["task"] = told.clone();
            told["claimable"] = (task.status_at(now) == TaskStatus::Open).into();
            told["submission_count"] = submissions::of_task(tx, &task_id, MOST)?.len().into();
            Ok(told)
        })
        .await?;
    Ok(Reply::json(&told))
}

/// Lists who took a task and what came of it, oldest first.
#[utoipa::path(get, path = "/task/{task_id}/submissions", tag = "tasks",
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = crate::http::openapi::tasks::TaskSubmissions), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn submissions(
    State(hub): State<Shared>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    let (id, tries) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let task = find(tx, &task_id)?;
            Ok((task.task_id, submissions::of_task(tx, &task_id, MOST)?))
        })
        .await?;
    let rows: Vec<Value> = tries.iter().map(row).collect();
    Ok(Reply::json(&json!({ "task_id": id, "count": rows.len(), "submissions": rows })))
}

/// A submission as it is told.
pub fn row(submission: &Submission) -> Value {
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
