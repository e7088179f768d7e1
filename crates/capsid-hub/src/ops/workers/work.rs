//! Claiming, completing and listing work of the pool, by its assignment or its task.

use super::available::is_full;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::ops::tasks::claim::{ClaimTask, ClaimTaskRequest, ClaimTaskResponse, claim_task_in};
use crate::ops::tasks::complete;
use crate::ops::tasks::complete::CompleteTaskResponse;
use crate::ops::tasks::ids;
use crate::ops::tasks::list_own::{ListOwnTasksParams, load_taken_page};
use crate::ops::tasks::view::OwnTaskView;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::tasks;
use capsid_store::work::tasks::list::TakenTaskRow;
use capsid_store::work::tasks::submissions;
use capsid_store::work::tasks::submissions::SubmissionRow;
use capsid_store::work::workers;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which work is meant: the assignment, or the task.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkCall)]
pub struct WorkRequest {
    /// The id that claiming returned.
    assignment_id: Option<String>,
    /// The task.
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// The solution: an asset that the node published.
    result_asset_id: Option<String>,
    /// The same under another name.
    asset_id: Option<String>,
}

sender_fields!(WorkRequest);

impl WorkRequest {
    /// The assignment and the node, or the task and the node.
    fn check(&self) -> ApiResult<(WorkReference, String)> {
        let sender = self.sender();
        match self.assignment_id.as_deref().filter(|id| !id.trim().is_empty()) {
            Some(id) => {
                let (id, node_id) = ids(Some(id), sender.sender_id, sender.node_id)?;
                Ok((WorkReference::Assignment(id), node_id))
            }
            None => {
                let (id, node_id) = ids(self.task_id.as_deref(), sender.sender_id, sender.node_id)?;
                Ok((WorkReference::Task(id), node_id))
            }
        }
    }

    /// The named assignment or task for the log.
    fn traced_work(&self) -> Option<&str> {
        self.assignment_id.as_deref().or(self.task_id.as_deref()).map(traced_id)
    }
}

/// How a call names work.
#[derive(Debug, Clone)]
enum WorkReference {
    Assignment(String),
    Task(String),
}

impl WorkReference {
    fn find_task(&self, tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<String> {
        match self {
            Self::Task(task_id) => Ok(task_id.clone()),
            Self::Assignment(id) => Ok(find_assignment(tx, node, id)?.task_id),
        }
    }
}

fn find_assignment(tx: &mut dyn Tx, node: &NodeRow, id: &str) -> ApiResult<SubmissionRow> {
    match submissions::get(tx, id)? {
        Some(found) if found.node_id == node.node_id => Ok(found),
        Some(_) => Err(ApiError::new(
            HubCode::NotTaskClaimer,
            "This assignment is another node's.",
            "See your own with GET /a2a/work/my.",
        )),
        None => Err(ApiError::new(
            HubCode::SubmissionNotFound,
            "There is no assignment with this id.",
            "Use the `assignment_id` that POST /a2a/work/claim returned, or see GET /a2a/work/my.",
        )),
    }
}

/// Work that was claimed.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClaimWorkResponse {
    #[serde(flatten)]
    claimed: ClaimTaskResponse,
    #[schema(required)]
    id: Option<String>,
    /// The same as `id`.
    #[schema(required)]
    assignment_id: Option<String>,
}

/// Claims work. A node that works on as much as it said it can is refused.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = request.traced_task()))]
pub async fn claim_work(
    hub: &SharedHub,
    credentials: Credentials,
    request: &ClaimTaskRequest,
) -> ApiResult<ClaimWorkResponse> {
    let (node_id, ClaimTask { task_id, deadline }) = request.check()?;
    let sender = Sender::new(node_id, request.sender().credentials(credentials));
    claim(hub, sender, WorkReference::Task(task_id), deadline).await
}

/// Says that a node will do the work it was given. Work that nobody was given yet is claimed.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), work.id = request.traced_work()))]
pub async fn accept_work(
    hub: &SharedHub,
    credentials: Credentials,
    request: &WorkRequest,
) -> ApiResult<ClaimWorkResponse> {
    let (work, node_id) = request.check()?;
    let sender = Sender::new(node_id, request.sender().credentials(credentials));
    claim(hub, sender, work, None).await
}

async fn claim(
    hub: &SharedHub,
    sender: Sender,
    reference: WorkReference,
    deadline: Option<i64>,
) -> ApiResult<ClaimWorkResponse> {
    hub.limit_calls(&sender).await?;
    let (context, submission_id) = (hub.context(), hub.new_id("sub"));
    let response = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            let task_id = reference.find_task(tx, &node)?;
            refuse_full(tx, &node, &task_id, context.now)?;
            let claim = ClaimTask { task_id, deadline };
            let claimed = claim_task_in(tx, &context, &node, &claim, &submission_id)?;
            let assignment_id = claimed.submission_id.clone();
            Ok(ClaimWorkResponse { claimed, id: assignment_id.clone(), assignment_id })
        })
        .await?;
    hub.events.notify();
    Ok(response)
}

fn refuse_full(tx: &mut dyn Tx, node: &NodeRow, task_id: &str, now: Time) -> ApiResult<()> {
    let Some(worker) = workers::get(tx, &node.node_id)? else { return Ok(()) };
    // What it has already it may ask for again, and what is not to be had is refused for that reason.
    let is_open = tasks::get(tx, task_id)?.is_some_and(|task| task.status_at(now) == TaskStatus::Open);
    if !is_open || !is_full(tx, node, &worker, now)? {
        return Ok(());
    }
    Err(ApiError::new(
        HubCode::WorkerFull,
        format!("The node works on as many tasks as it said it can: {}.", worker.max_load),
        "Complete or release one first, or raise `max_load` with POST /a2a/worker/register.",
    )
    .with("max_load", worker.max_load))
}

/// Work that is done.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompleteWorkResponse {
    #[serde(flatten)]
    completed: CompleteTaskResponse,
    #[schema(required)]
    assignment_id: Option<String>,
}

/// Hands in what was asked for, as completing the task does.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), work.id = request.traced_work()))]
pub async fn complete_work(
    hub: &SharedHub,
    credentials: Credentials,
    request: &WorkRequest,
) -> ApiResult<CompleteWorkResponse> {
    let (reference, node_id) = request.check()?;
    let asset = complete::parse_asset(request.result_asset_id.as_deref(), request.asset_id.as_deref());
    let sender = Sender::new(&node_id, request.sender().credentials(credentials));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    complete::retry_until_published(hub, move |tx| {
        let node = sender.lock(tx, &context)?;
        let task_id = reference.find_task(tx, &node)?;
        let completed = complete::complete_task_in(tx, &context, &node, &task_id, asset)?;
        Ok(CompleteWorkResponse { assignment_id: completed.submission_id.clone(), completed })
    })
    .await
}

/// Work that a node took.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WorkAssignmentView {
    #[serde(flatten)]
    task: OwnTaskView,
    id: String,
    /// The same as `id`.
    assignment_id: String,
    assignment_status: String,
}

impl WorkAssignmentView {
    fn from_row(taken: &TakenTaskRow, now: Time) -> Self {
        Self {
            task: OwnTaskView::from_row(taken, now),
            id: taken.submission.submission_id.clone(),
            assignment_id: taken.submission.submission_id.clone(),
            assignment_status: taken.submission.status.clone(),
        }
    }
}

/// A page of the work that a node took.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListOwnWorkResponse {
    work: Vec<WorkAssignmentView>,
    /// The same as `work`.
    assignments: Vec<WorkAssignmentView>,
    count: i64,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Lists the work that a node took: what it works on first, then the newest.
#[tracing::instrument(skip_all, fields(node.id = params.traced_node()))]
pub async fn list_own_work(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListOwnTasksParams,
) -> ApiResult<ListOwnWorkResponse> {
    let (taken, next_cursor) = load_taken_page(hub, credentials, params, "work.my").await?;
    let now = hub.now();
    let work: Vec<_> = taken.iter().map(|taken| WorkAssignmentView::from_row(taken, now)).collect();
    Ok(ListOwnWorkResponse {
        assignments: work.clone(),
        count: work.len() as i64,
        work,
        has_more: next_cursor.is_some(),
        next_cursor,
    })
}
