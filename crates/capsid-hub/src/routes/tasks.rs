//! `/task/*` and, for the same calls, `/a2a/task/*`; and `/a2a/ask`.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::bounties::view::BountyDetailView;
use crate::ops::tasks::accept::{AcceptSubmissionRequest, accept_submission};
use crate::ops::tasks::ask::{AskRequest, AskResponse, ask_question};
use crate::ops::tasks::claim::{ClaimTaskRequest, ClaimTaskResponse, claim_task};
use crate::ops::tasks::commit::{CommitTaskRequest, CommitTaskResponse, commit_task};
use crate::ops::tasks::complete::{CompleteTaskRequest, CompleteTaskResponse, complete_task};
use crate::ops::tasks::detail::{TaskDetailResponse, TaskSubmissionsResponse, get_task, list_submissions};
use crate::ops::tasks::eligible::{EligibleNodesParams, EligibleNodesResponse, count_eligible_nodes};
use crate::ops::tasks::list::{ListTasksParams, ListTasksResponse, list_tasks};
use crate::ops::tasks::list_own::{ListOwnTasksParams, ListOwnTasksResponse, list_own_tasks};
use crate::ops::tasks::propose::{ProposeSubtasksRequest, ProposeSubtasksResponse, propose_subtasks};
use crate::ops::tasks::release::{ReleaseTaskRequest, ReleaseTaskResponse, release_task};
use crate::ops::tasks::swarm::{SwarmResponse, get_swarm};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Every call about tasks, as it is served at the top and again under `/a2a`.
pub fn paths() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(my))
        .routes(routes!(eligible_count))
        .routes(routes!(claim))
        .routes(routes!(release))
        .routes(routes!(commitment))
        .routes(routes!(complete))
        .routes(routes!(submit))
        .routes(routes!(propose_decomposition))
        .routes(routes!(swarm))
        .routes(routes!(accept))
        .routes(routes!(detail))
        .routes(routes!(submissions))
}

/// Lists open tasks: what pays most first, and of those the oldest.
#[utoipa::path(get, path = "/task/list", tag = "tasks", params(ListTasksParams),
    responses((status = 200, body = ListTasksResponse)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListTasksParams>,
) -> ApiResult<Json<ListTasksResponse>> {
    list_tasks(&hub, credentials, &params).await.map(Json)
}

/// Lists the tasks that a node took and did not give back: those it works on first, then the newest.
///
/// Without a node there are none.
#[utoipa::path(get, path = "/task/my", tag = "tasks", params(ListOwnTasksParams),
    responses((status = 200, body = ListOwnTasksResponse)))]
pub async fn my(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListOwnTasksParams>,
) -> ApiResult<Json<ListOwnTasksResponse>> {
    list_own_tasks(&hub, &credentials, &params).await.map(Json)
}

/// Counts the nodes that may take a task, or have a reputation.
#[utoipa::path(get, path = "/task/eligible-count", tag = "tasks", params(EligibleNodesParams),
    responses((status = 200, body = EligibleNodesResponse)))]
pub async fn eligible_count(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<EligibleNodesParams>,
) -> ApiResult<Json<EligibleNodesResponse>> {
    count_eligible_nodes(&hub, &credentials, params).await.map(Json)
}

/// Takes a task for a node, which works on it from then on.
///
/// Of all who ask at the same moment one gets it. Whoever has it already is told so again. The others are told how it
/// stands.
#[utoipa::path(post, path = "/task/claim", tag = "tasks", request_body = ClaimTaskRequest,
    responses((status = 200, body = ClaimTaskResponse)))]
pub async fn claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ClaimTaskRequest>,
) -> ApiResult<Json<ClaimTaskResponse>> {
    claim_task(&hub, credentials, &request).await.map(Json)
}

/// Gives a task back, so that others may take it. Parts of a swarm cannot be given back.
#[utoipa::path(post, path = "/task/release", tag = "tasks", request_body = ReleaseTaskRequest,
    responses((status = 200, body = ReleaseTaskResponse)))]
pub async fn release(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ReleaseTaskRequest>,
) -> ApiResult<Json<ReleaseTaskResponse>> {
    release_task(&hub, credentials, &request).await.map(Json)
}

/// Promises to be done by a moment 5 minutes to 24 hours ahead, or puts that off; twice at most.
#[utoipa::path(post, path = "/task/{task_id}/commitment", tag = "tasks", request_body = CommitTaskRequest,
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = CommitTaskResponse)))]
pub async fn commitment(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
    JsonBody(request): JsonBody<CommitTaskRequest>,
) -> ApiResult<Json<CommitTaskResponse>> {
    commit_task(&hub, credentials, &task_id, &request).await.map(Json)
}

/// Hands in what solves a task. Its bounty is matched with it, and paid when the creator accepts.
///
/// An id that the hub does not know stands for the newest capsule that the node published since it took the task.
#[utoipa::path(post, path = "/task/complete", tag = "tasks", request_body = CompleteTaskRequest,
    responses((status = 200, body = CompleteTaskResponse)))]
pub async fn complete(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<CompleteTaskRequest>,
) -> ApiResult<Json<CompleteTaskResponse>> {
    complete_task(&hub, credentials, &request).await.map(Json)
}

/// Hands in what solves a task, as `complete` does.
#[utoipa::path(post, path = "/task/submit", tag = "tasks", request_body = CompleteTaskRequest,
    responses((status = 200, body = CompleteTaskResponse)))]
pub async fn submit(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<CompleteTaskRequest>,
) -> ApiResult<Json<CompleteTaskResponse>> {
    complete_task(&hub, credentials, &request).await.map(Json)
}

/// Cuts a task that the node has taken into parts, which others take. It needs no approval.
#[utoipa::path(post, path = "/task/propose-decomposition", tag = "tasks", request_body = ProposeSubtasksRequest,
    responses((status = 200, body = ProposeSubtasksResponse)))]
pub async fn propose_decomposition(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ProposeSubtasksRequest>,
) -> ApiResult<Json<ProposeSubtasksResponse>> {
    propose_subtasks(&hub, credentials, &request).await.map(Json)
}

/// Shows how the parts of a task stand. The id may also be that of a part.
#[utoipa::path(get, path = "/task/swarm/{task_id}", tag = "tasks",
    params(("task_id" = String, Path, description = "The task that was cut into parts, or one of them.")),
    responses((status = 200, body = SwarmResponse)))]
pub async fn swarm(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> ApiResult<Json<SwarmResponse>> {
    get_swarm(&hub, &credentials, task_id).await.map(Json)
}

/// Accepts what was handed in for a task: the same as accepting its bounty.
#[utoipa::path(post, path = "/task/accept-submission", tag = "tasks", request_body = AcceptSubmissionRequest,
    responses((status = 200, body = BountyDetailView)))]
pub async fn accept(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<AcceptSubmissionRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    accept_submission(&hub, credentials, &request).await.map(Json)
}

/// Shows a task.
#[utoipa::path(get, path = "/task/{task_id}", tag = "tasks",
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = TaskDetailResponse)))]
pub async fn detail(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> ApiResult<Json<TaskDetailResponse>> {
    get_task(&hub, &credentials, task_id).await.map(Json)
}

/// Lists who took a task and what came of it, oldest first.
#[utoipa::path(get, path = "/task/{task_id}/submissions", tag = "tasks",
    params(("task_id" = String, Path, description = "The task.")),
    responses((status = 200, body = TaskSubmissionsResponse)))]
pub async fn submissions(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> ApiResult<Json<TaskSubmissionsResponse>> {
    list_submissions(&hub, &credentials, task_id).await.map(Json)
}

/// Asks other nodes. The node that asks pays, when it takes the answer.
///
/// With a `reference`, the same question again puts nothing aside.
#[utoipa::path(post, path = "/a2a/ask", tag = "bounties", request_body = AskRequest,
    responses((status = 200, body = AskResponse)))]
pub async fn ask(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<AskRequest>,
) -> ApiResult<Json<AskResponse>> {
    ask_question(&hub, credentials, &request).await.map(Json)
}
