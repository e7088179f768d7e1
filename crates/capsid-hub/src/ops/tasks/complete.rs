//! Completing a task: handing in what solves it.

use super::{errors, ids};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_rules::work::bounties::BountyStatus;
use capsid_rules::work::tasks::{SubtaskRole, TaskStatus};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::bounties;
use capsid_store::work::bounties::BountyRow;
use capsid_store::work::bounties::settle::{SettlementTerms, expected_payouts};
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::complete;
use capsid_store::work::tasks::complete::{CompleteOutcome, SubmittedResult};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::time::Duration;
use utoipa::ToSchema;

/// Clients publish and complete at the same time, so what is handed in may be on its way. The hub looks again after
/// each of these milliseconds before it says that there is nothing. They wait for five seconds.
const RETRY_DELAYS_MS: [u64; 5] = [50, 150, 400, 900, 1500];

/// A task that is done, and with what.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CompleteCall)]
pub struct CompleteTaskRequest {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// The solution: an asset that the node published.
    asset_id: Option<String>,
    /// The same under another name.
    result_asset_id: Option<String>,
}

sender_fields!(CompleteTaskRequest);

/// A task that is done.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CompleteTaskResponse {
    status: &'static str,
    task_id: String,
    #[schema(required)]
    asset_id: Option<String>,
    #[schema(required)]
    bounty_id: Option<String>,
    bounty_matched: bool,
    /// What the task will have earned when its bounty is accepted.
    #[schema(value_type = f64)]
    credits_pending: Number,
    #[schema(required)]
    pub submission_id: Option<String>,
    /// How the whole stands, where the task is a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    swarm: Option<CompletedPartView>,
}

/// How the whole stands that a completed part belongs to.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CompletedPartView {
    #[schema(required)]
    role: Option<SubtaskRole>,
    parent_task_id: String,
    #[schema(required)]
    parent_status: Option<TaskStatus>,
    solvers_completed: i64,
    solvers_total: i64,
    #[schema(required)]
    aggregation_task_id: Option<String>,
}

/// Hands in what solves a task of the node that sends.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), task.id = request.task_id.as_deref().map(traced_id)))]
pub async fn complete_task(
    hub: &SharedHub,
    credentials: Credentials,
    request: &CompleteTaskRequest,
) -> ApiResult<CompleteTaskResponse> {
    let sender = request.sender();
    let (task_id, node_id) = ids(request.task_id.as_deref(), sender.sender_id, sender.node_id)?;
    let sender = Sender::new(&node_id, sender.credentials(credentials));
    let asset = parse_asset(request.asset_id.as_deref(), request.result_asset_id.as_deref());
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    retry_until_published(hub, move |tx| {
        let context = context.begin();
        let node = sender.lock(tx, &context)?;
        complete_task_in(tx, &context, &node, &task_id, asset)
    })
    .await
}

/// The asset that a call names. What has not the form of an id is one that the hub does not know.
pub fn parse_asset(asset_id: Option<&str>, result_asset_id: Option<&str>) -> Option<AssetId> {
    [asset_id, result_asset_id].into_iter().flatten().find_map(|id| AssetId::parse(id.trim()))
}

/// Does something that hands in an asset, again after a moment where that is not there yet.
pub async fn retry_until_published<T, F>(hub: &SharedHub, op: F) -> ApiResult<T>
where
    T: Send + 'static,
    F: FnMut(&mut dyn Tx) -> ApiResult<T> + Clone + Send + 'static,
{
    let mut left = hub.config.timeouts.publication;
    let mut delays = RETRY_DELAYS_MS.into_iter().map(Duration::from_millis);
    loop {
        let outcome = hub.store.write::<_, ApiError, _>(op.clone()).await;
        match (outcome, delays.next().filter(|delay| *delay <= left)) {
            (Err(error), Some(delay)) if error.code == HubCode::AssetNotFound => {
                tokio::time::sleep(delay).await;
                left -= delay;
            }
            (outcome, _) => {
                hub.events.notify();
                return outcome;
            }
        }
    }
}

/// Hands in an asset for a node that is authenticated and locked; what it published last where none is named.
pub fn complete_task_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    task_id: &str,
    asset: Option<AssetId>,
) -> ApiResult<CompleteTaskResponse> {
    let terms = context.config.work.completion_terms();
    let submitted = asset.as_ref().map_or(SubmittedResult::Newest, SubmittedResult::Asset);
    match complete::complete(tx, node, task_id, submitted, &terms, context.now)? {
        CompleteOutcome::Done(task) | CompleteOutcome::Again(task) => {
            CompleteTaskResponse::load(tx, task, &context.config.settlement_terms())
        }
        CompleteOutcome::NotFound => Err(errors::not_found(task_id)),
        CompleteOutcome::NotClaimer(task) => Err(errors::not_claimer(&task)),
        CompleteOutcome::Refused(task, refusal) => Err(errors::not_now(&task, refusal)),
        CompleteOutcome::AssetNotFound => Err(errors::asset_not_found()),
        CompleteOutcome::NotOwnAsset => Err(errors::not_own_asset()),
        CompleteOutcome::UnusableAsset(status) => Err(errors::unusable_asset(status)),
    }
}

impl CompleteTaskResponse {
    fn load(tx: &mut dyn Tx, task: TaskRow, terms: &SettlementTerms) -> ApiResult<Self> {
        let bounty = match &task.bounty_id {
            Some(id) => bounties::get(tx, id)?,
            None => None,
        };
        let status = bounty.as_ref().map(|bounty| bounty.status);
        let pending = match &bounty {
            Some(bounty) if bounty.status.is_held() => pending_credits(tx, bounty, &task, terms)?,
            _ => 0,
        };
        let swarm = match &task.parent_task_id {
            Some(parent) => Some(CompletedPartView::load(tx, &task, parent)?),
            None => None,
        };
        Ok(Self {
            status: "completed",
            task_id: task.task_id,
            asset_id: task.result_asset.map(|id| id.to_string()),
            bounty_id: task.bounty_id,
            bounty_matched: matches!(status, Some(BountyStatus::Matched | BountyStatus::Accepted)),
            credits_pending: credits::to_decimal(pending),
            submission_id: task.submission_id,
            swarm,
        })
    }
}

/// What the task will have earned when the bounty is accepted.
fn pending_credits(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    task: &TaskRow,
    terms: &SettlementTerms,
) -> ApiResult<i64> {
    let Some(whole) = tasks::get(tx, &bounty.task_id)? else { return Ok(0) };
    let shares = expected_payouts(tx, bounty, &whole, terms)?;
    Ok(shares.iter().filter(|(share, _)| share.task_id == task.task_id).map(|(_, net)| net).sum())
}

impl CompletedPartView {
    fn load(tx: &mut dyn Tx, task: &TaskRow, parent: &str) -> ApiResult<Self> {
        let parts = tasks::parts(tx, parent)?;
        let solvers = || parts.iter().filter(|part| part.role == Some(SubtaskRole::Solver));
        let done = solvers().filter(|part| part.status == TaskStatus::Completed).count();
        let merging = parts.iter().find(|part| part.role == Some(SubtaskRole::Aggregator));
        Ok(Self {
            role: task.role,
            parent_task_id: parent.to_owned(),
            parent_status: tasks::get(tx, parent)?.map(|whole| whole.status),
            solvers_completed: done as i64,
            solvers_total: solvers().count() as i64,
            aggregation_task_id: merging.map(|part| part.task_id.clone()),
        })
    }
}
