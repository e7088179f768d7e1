//! Handing in what solves a task.

use super::{errors, ids};
use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::bounties::BountyStatus;
use capsid_rules::work::tasks::{SubtaskRole, TaskStatus};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::ledger::earnings;
use capsid_store::nodes::NodeRow;
use capsid_store::work::bounties;
use capsid_store::work::bounties::BountyRow;
use capsid_store::work::bounties::settle::SettlementTerms;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::complete;
use capsid_store::work::tasks::complete::{CompleteOutcome, SubmittedResult};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Clients publish and complete at the same time, so what is handed in may be on its way. The hub looks again after
/// each of these milliseconds before it says that there is nothing. They wait for five seconds.
const LOOKS: [u64; 5] = [50, 150, 400, 900, 1500];

/// A task that is done, and with what.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
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

/// Hands in what solves a task. Its bounty is matched with it, and paid when the creator accepts.
///
/// An id that the hub does not know stands for the newest capsule that the node published since it took the task.
#[utoipa::path(post, path = "/task/complete", tag = "tasks", request_body = CompleteTaskRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn complete(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<CompleteTaskRequest>,
) -> ApiResult<JsonReply> {
    complete_task(&hub, credentials, call).await
}

/// Hands in what solves a task, as `complete` does.
#[utoipa::path(post, path = "/task/submit", tag = "tasks", request_body = CompleteTaskRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn submit(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<CompleteTaskRequest>,
) -> ApiResult<JsonReply> {
    complete_task(&hub, credentials, call).await
}

async fn complete_task(
    hub: &SharedHub,
    credentials: Credentials,
    call: CompleteTaskRequest,
) -> ApiResult<JsonReply> {
    let (task_id, node_id) =
        ids(call.task_id.as_deref(), call.sender_id.as_deref(), call.node_id.as_deref())?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    let asset = asset(call.asset_id.as_deref(), call.result_asset_id.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, pay) = (hub.rules(), PayoutTerms::from_hub(hub));
    let told = retry_until_published(hub, move |tx| {
        let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
        finish(tx, &node, &task_id, asset, &pay, rules.now)
    })
    .await?;
    Ok(JsonReply::json(&told))
}

/// The asset that a call names. What has not the form of an id is one that the hub does not know.
pub fn asset(asset_id: Option<&str>, result_asset_id: Option<&str>) -> Option<AssetId> {
    [asset_id, result_asset_id].into_iter().flatten().find_map(|id| AssetId::parse(id.trim()))
}

/// Does something that hands in an asset, again after a moment where that is not there yet.
pub async fn retry_until_published<F>(hub: &SharedHub, op: F) -> ApiResult<Value>
where
    F: FnMut(&mut dyn Tx) -> ApiResult<Value> + Clone + Send + 'static,
{
    let mut looks = LOOKS.into_iter();
    loop {
        let told = hub.store.write::<_, ApiError, _>(op.clone()).await;
        match (told, looks.next()) {
            (Err(error), Some(ms)) if error.code == HubCode::AssetNotFound => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            (told, _) => {
                hub.events.notify();
                return told;
            }
        }
    }
}

/// How this hub pays for what is handed in.
#[derive(Debug, Clone, Copy)]
pub struct PayoutTerms {
    /// How long the creator of a bounty has to decide.
    decide_ms: i64,
    terms: SettlementTerms,
}

impl PayoutTerms {
    /// How a hub does.
    pub fn from_hub(hub: &SharedHub) -> Self {
        Self { decide_ms: hub.config.work.decision_ms, terms: hub.config.settlement_terms() }
    }
}

/// Hands in an asset for a node, which was let in and is locked; whatever it published last where there is none.
pub fn finish(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    asset: Option<AssetId>,
    pay: &PayoutTerms,
    now: Time,
) -> ApiResult<Value> {
    let handed_in = asset.as_ref().map_or(SubmittedResult::Newest, SubmittedResult::Asset);
    match complete::complete(tx, node, task_id, handed_in, pay.decide_ms, now)? {
        CompleteOutcome::Done(task) | CompleteOutcome::Again(task) => completed(tx, &task, &pay.terms),
        CompleteOutcome::NotFound => Err(super::not_found(task_id)),
        CompleteOutcome::NotClaimer(task) => Err(errors::not_claimer(&task)),
        CompleteOutcome::Refused(task, refusal) => Err(errors::not_now(&task, refusal)),
        CompleteOutcome::AssetNotFound => Err(errors::asset_not_found()),
        CompleteOutcome::NotOwnAsset => Err(errors::not_own_asset()),
        CompleteOutcome::UnusableAsset(status) => Err(errors::unusable_asset(status)),
    }
}

/// What is told of a task that is done.
fn completed(tx: &mut dyn Tx, task: &TaskRow, terms: &SettlementTerms) -> ApiResult<Value> {
    let bounty = match &task.bounty_id {
        Some(id) => bounties::get(tx, id)?,
        None => None,
    };
    let status = bounty.as_ref().map(|bounty| bounty.status);
    let pending = match &bounty {
        Some(bounty) if bounty.status.is_held() => pending(tx, bounty, task, terms)?,
        _ => 0,
    };
    let mut told = json!({
        "status": "completed",
        "task_id": task.task_id,
        "asset_id": task.result_asset.map(|id| id.to_string()),
        "bounty_id": task.bounty_id,
        "bounty_matched": matches!(status, Some(BountyStatus::Matched | BountyStatus::Accepted)),
        "credits_pending": credits::to_decimal(pending),
        "submission_id": task.submission_id,
    });
    if let Some(parent) = &task.parent_task_id {
        told["swarm"] = swarm(tx, task, parent)?;
    }
    Ok(told)
}

/// What the task will have earned when the bounty is accepted.
fn pending(tx: &mut dyn Tx, bounty: &BountyRow, task: &TaskRow, terms: &SettlementTerms) -> ApiResult<i64> {
    let Some(whole) = tasks::get(tx, &bounty.task_id)? else { return Ok(0) };
    let shares = earnings::expected(tx, bounty, &whole, terms)?;
    Ok(shares.iter().filter(|(share, _)| share.task_id == task.task_id).map(|(_, net)| net).sum())
}

/// How the whole stands that a part belongs to.
fn swarm(tx: &mut dyn Tx, task: &TaskRow, parent: &str) -> ApiResult<Value> {
    let parts = tasks::parts(tx, parent)?;
    let solvers = || parts.iter().filter(|part| part.role == Some(SubtaskRole::Solver));
    let done = solvers().filter(|part| part.status == TaskStatus::Completed).count();
    let merging = parts.iter().find(|part| part.role == Some(SubtaskRole::Aggregator));
    let whole = tasks::get(tx, parent)?.map(|whole| whole.status.as_str());
    Ok(json!({
        "role": task.role.map(SubtaskRole::as_str),
        "parent_task_id": parent,
        "parent_status": whole,
        "solvers_completed": done,
        "solvers_total": solvers().count(),
        "aggregation_task_id": merging.map(|part| &part.task_id),
    }))
}
