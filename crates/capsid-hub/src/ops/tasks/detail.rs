//! One task, and who tried it.

use super::find;
use super::view::{SubmissionView, TaskView};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::work::tasks::submissions;
use serde::Serialize;
use utoipa::ToSchema;

/// The most submissions that are listed; a task is seldom tried twice.
const MAX: i64 = 100;

/// One task.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TaskDetail)]
pub struct TaskDetailResponse {
    #[serde(flatten)]
    members: TaskView,
    // Some clients read the members at the top, others below `task`.
    task: TaskView,
    claimable: bool,
    submission_count: i64,
}

/// Who took a task, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TaskSubmissions)]
pub struct TaskSubmissionsResponse {
    task_id: String,
    count: i64,
    submissions: Vec<SubmissionView>,
}

/// Shows a task.
#[tracing::instrument(skip_all, fields(task.id = traced_id(&task_id)))]
pub async fn get_task(
    hub: &SharedHub,
    credentials: &Credentials,
    task_id: String,
) -> ApiResult<TaskDetailResponse> {
    hub.limit_reads(credentials).await?;
    let now = hub.now();
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let task = find(tx, &task_id)?;
            let view = TaskView::load_with_parent(tx, &task, now)?;
            Ok(TaskDetailResponse {
                members: view.clone(),
                task: view,
                claimable: task.status_at(now) == TaskStatus::Open,
                submission_count: submissions::list_for_task(tx, &task_id, MAX)?.len() as i64,
            })
        })
        .await
}

/// Lists who took a task and what came of it, oldest first.
#[tracing::instrument(skip_all, fields(task.id = traced_id(&task_id)))]
pub async fn list_submissions(
    hub: &SharedHub,
    credentials: &Credentials,
    task_id: String,
) -> ApiResult<TaskSubmissionsResponse> {
    hub.limit_reads(credentials).await?;
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let task_id = find(tx, &task_id)?.task_id;
            let rows = submissions::list_for_task(tx, &task_id, MAX)?;
            let submissions: Vec<_> = rows.into_iter().map(SubmissionView::from).collect();
            Ok(TaskSubmissionsResponse { task_id, count: submissions.len() as i64, submissions })
        })
        .await
}
