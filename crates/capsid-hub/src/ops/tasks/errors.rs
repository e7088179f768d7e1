//! Why a task cannot be claimed, released or ended: each reason with its code and what to do.

use crate::error::{ApiError, ApiResult, HubCode, truncate_for_client};
use crate::ops::assets::view::rounded;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::work::tasks::{CommitmentError, TaskRefusal};
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::claim::TaskChangeOutcome;
use serde_json::Value;

/// There is no such task.
pub fn not_found(task_id: &str) -> ApiError {
    let shown = capsid_model::text::inert_line(capsid_model::text::cut(task_id, 100));
    ApiError::new(
        HubCode::TaskNotFound,
        format!("There is no task `{shown}`."),
        "List the tasks that there are with GET /task/list.",
    )
}

/// A refusal that says how the task stands.
fn state_error(code: HubCode, problem: String, fix: &str, task: &TaskRow) -> ApiError {
    ApiError::new(code, problem, fix)
        .with("task_id", task.task_id.clone())
        .with("task_status", task.status.as_str())
        .with("claimed_by", task.claimed_by.clone().map_or(Value::Null, Value::from))
}

/// It cannot be taken.
pub fn not_open(task: &TaskRow) -> ApiError {
    let by = task.claimed_by.as_deref().map(|node| format!(" by {node}")).unwrap_or_default();
    let problem = format!("The task {} is {}{by}.", task.task_id, task.status.as_str());
    state_error(HubCode::TaskNotOpen, problem, "Take another one: GET /task/list.", task)
}

/// The refusal of a node that had its chance.
pub fn was_overdue(task_id: &str) -> ApiError {
    ApiError::new(
        HubCode::WasOverdue,
        format!(
            "This node had the task {} before and did not keep its promise.",
            truncate_for_client(task_id)
        ),
        "Leave it to others, and take another one: GET /task/list.",
    )
}

/// It is kept for another node.
pub fn reserved(task_id: &str) -> ApiError {
    ApiError::new(
        HubCode::TaskReserved,
        format!("The task {} is kept for another node.", truncate_for_client(task_id)),
        "Take another one: GET /task/list.",
    )
}

/// Whoever would do it asked it.
pub fn own(task_id: &str) -> ApiError {
    ApiError::new(
        HubCode::OwnTask,
        format!(
            "The task {} was asked by this node, by its owner or by another node of its owner.",
            truncate_for_client(task_id)
        ),
        "Leave it to others, or cancel its bounty with POST /bounty/{id}/cancel; take another task: GET /task/list.",
    )
}

/// It takes more reputation.
pub fn reputation(need: f64, have: f64) -> ApiError {
    let (need, have) = (rounded(need), rounded(have));
    ApiError::new(
        HubCode::InsufficientReputation,
        format!("The task takes a reputation of {need}, and the node has {have}."),
        "Take a task with a lower `min_reputation`, and earn reputation by publishing what works.",
    )
    .with("required", need)
    .with("current", have)
    .with("required_reputation", need)
    .with("current_reputation", have)
}

/// It takes another model.
pub fn model(task: &TaskRow, model: Option<String>, tier: i64) -> ApiError {
    let runs = model.as_deref().map_or("did not say what it runs on".to_owned(), |model| {
        format!("runs on `{}` of tier {tier}", truncate_for_client(model))
    });
    ApiError::new(
        HubCode::InsufficientModelTier,
        format!("The task takes another model: the node {runs}."),
        "Name the model in hello, and see GET /a2a/policy/model-tiers; or take a task without `min_model_tier` and \
         `allowed_models`.",
    )
    .with("min_model_tier", task.min_model_tier.map_or(Value::Null, Value::from))
    .with("allowed_models", task.allowed_models())
    .with("model", model.map_or(Value::Null, Value::from))
    .with("model_tier", tier)
}

/// A promise that cannot be kept.
pub fn commitment_error(bad: CommitmentError) -> ApiError {
    let problem = match bad {
        CommitmentError::TooSoon => "The promised time lies less than five minutes ahead.",
        CommitmentError::TooLate => "The promised time lies more than a day ahead.",
        CommitmentError::AfterExpiry => "The task is over before the promised time.",
        CommitmentError::PutOffTooOften => "The promise was put off twice already.",
    };
    let fix = match bad {
        CommitmentError::PutOffTooOften => "Complete the task, or give it back with POST /task/release.",
        _ => "Promise a time 5 minutes to 24 hours ahead and not after the task's `expires_at`.",
    };
    ApiError::new(HubCode::InvalidDeadline, problem, fix)
}

/// Another node works on it.
pub fn not_claimer(task: &TaskRow) -> ApiError {
    let problem = format!("Another node works on the task {}.", task.task_id);
    state_error(HubCode::NotTaskClaimer, problem, "Claim a task of your own: POST /task/claim.", task)
}

/// The task after a change, or why it was refused.
pub fn changed(changed: TaskChangeOutcome, task_id: &str) -> ApiResult<TaskRow> {
    match changed {
        TaskChangeOutcome::Done(task) => Ok(task),
        TaskChangeOutcome::NotFound => Err(not_found(task_id)),
        TaskChangeOutcome::NotClaimer(task) => Err(not_claimer(&task)),
        TaskChangeOutcome::Refused(task, refusal) => Err(not_now(&task, refusal)),
        TaskChangeOutcome::BadPromise(bad) => Err(commitment_error(bad)),
    }
}

/// What to do about a task that was cut into parts.
const PARTS: &str =
    "See its parts with GET /task/swarm/{task_id}; the one that merges them completes the whole.";

/// It cannot be done as the task stands.
pub fn not_now(task: &TaskRow, refusal: TaskRefusal) -> ApiError {
    let (id, status) = (&task.task_id, task.status.as_str());
    let (code, problem, fix) = match refusal {
        TaskRefusal::NotReleasable if task.decomposed_at.is_some() => (
            HubCode::SwarmSubtaskNotReleasable,
            format!(
                "The task {id} was cut into parts, which others work on: they are completed in its place."
            ),
            PARTS,
        ),
        TaskRefusal::NotReleasable => (
            HubCode::SwarmSubtaskNotReleasable,
            format!("The task {id} belongs to a swarm, and others wait for it."),
            "Complete it with POST /task/complete.",
        ),
        TaskRefusal::IsDecomposed => (
            HubCode::StateConflict,
            format!("The task {id} was cut into parts, which are completed in its place."),
            PARTS,
        ),
        TaskRefusal::NotOpen | TaskRefusal::NotClaimed | TaskRefusal::NotCompleted | TaskRefusal::Over => (
            HubCode::TaskNotClaimed,
            format!("Nobody works on the task {id}: it is {status}."),
            "Claim it first with POST /task/claim, if it is open.",
        ),
    };
    state_error(code, problem, fix, task)
}

/// There is nothing to hand in.
pub fn asset_not_found() -> ApiError {
    ApiError::new(
        HubCode::AssetNotFound,
        "The hub has no asset with this id, and the node has published no capsule since it took the task.",
        "Publish the solution with POST /a2a/publish, then complete the task with its `asset_id`.",
    )
}

/// Another node published it.
pub fn not_own_asset() -> ApiError {
    ApiError::new(
        HubCode::NotAssetOwner,
        "Another node published this asset.",
        "Hand in an asset that your own node published.",
    )
}

/// It is not given out.
pub fn unusable_asset(status: AssetStatus) -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        format!("This asset cannot be handed in: it is {status}."),
        "Publish a solution that the hub takes, and hand that in.",
    )
    .with("asset_status", status.as_str())
}
