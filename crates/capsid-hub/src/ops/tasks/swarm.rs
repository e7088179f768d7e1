//! How the parts of a task stand.

use super::not_found;
use super::view::TaskView;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::bounties::BountyStatus;
use capsid_rules::work::swarm::{AGGREGATOR, PROPOSER, SOLVERS, WHOLE};
use capsid_rules::work::tasks::{SubtaskRole, TaskStatus};
use capsid_store::db::tx::Tx;
use capsid_store::work::bounties;
use capsid_store::work::bounties::settle::{SettlementTerms, expected_payouts};
use capsid_store::work::bounties::{BountyRow, payouts};
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// A task in parts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Swarm)]
pub struct SwarmResponse {
    parent_task: TaskView,
    subtasks: Vec<TaskView>,
    #[schema(required)]
    aggregation_task: Option<TaskView>,
    contributions: Vec<ContributionView>,
    shares: SwarmSharesView,
    progress: SwarmProgressView,
    child_progress: ChildProgressView,
}

/// How what a task in parts earns is shared. Each is a share of the whole, 0 to 1.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SwarmShares)]
pub struct SwarmSharesView {
    /// Of who proposed the parts.
    proposer: f64,
    /// Of all who solve them together, who share it by weight.
    solvers: f64,
    /// Of who merges the results.
    aggregator: f64,
}

/// Who takes part, and what for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Contribution)]
pub struct ContributionView {
    node_id: String,
    /// proposer, solver or aggregator.
    role: &'static str,
    task_id: String,
    /// The share of the whole, 0 to 1.
    weight: f64,
    #[schema(required)]
    asset_id: Option<String>,
    /// What was paid where it is settled, and what it would be before.
    #[schema(value_type = f64)]
    credits: Number,
    settled: bool,
}

/// How far a swarm is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SwarmProgress)]
pub struct SwarmProgressView {
    solvers_completed: i64,
    solvers_total: i64,
    /// not_decomposed, solving, aggregating, completed, settled, expired or cancelled.
    status: &'static str,
}

/// How many parts are done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChildProgress)]
pub struct ChildProgressView {
    completed: i64,
    total: i64,
}

/// A weight as a part of 1.
pub fn part_of_whole(weight: i64) -> f64 {
    weight as f64 / WHOLE as f64
}

/// Shows how the parts of a task stand. The id may also be that of a part.
#[tracing::instrument(skip_all, fields(task.id = traced_id(&task_id)))]
pub async fn get_swarm(
    hub: &SharedHub,
    credentials: &Credentials,
    task_id: String,
) -> ApiResult<SwarmResponse> {
    hub.limit_reads(credentials).await?;
    let (now, terms) = (hub.now(), hub.config.settlement_terms());
    hub.store.read::<_, ApiError, _>(move |tx| load_swarm(tx, &task_id, &terms, now)).await
}

fn load_swarm(
    tx: &mut dyn Tx,
    task_id: &str,
    terms: &SettlementTerms,
    now: Time,
) -> ApiResult<SwarmResponse> {
    let asked = tasks::get(tx, task_id)?.ok_or_else(|| not_found(task_id))?;
    let whole = match &asked.parent_task_id {
        Some(parent) => tasks::get(tx, parent)?.ok_or_else(|| not_found(parent))?,
        None => asked,
    };
    let parts = tasks::parts(tx, &whole.task_id)?;
    let (merging, solvers): (Vec<&TaskRow>, Vec<&TaskRow>) =
        parts.iter().partition(|part| part.role == Some(SubtaskRole::Aggregator));
    let bounty = match &whole.bounty_id {
        Some(bounty_id) => bounties::get(tx, bounty_id)?,
        None => None,
    };
    let done = solvers.iter().filter(|part| part.status == TaskStatus::Completed).count() as i64;
    let total = solvers.len() as i64;
    let shares = SwarmSharesView {
        proposer: part_of_whole(PROPOSER),
        solvers: part_of_whole(SOLVERS),
        aggregator: part_of_whole(AGGREGATOR),
    };
    let progress = SwarmProgressView {
        solvers_completed: done,
        solvers_total: total,
        status: stage(&whole, !merging.is_empty(), bounty.as_ref(), now),
    };
    Ok(SwarmResponse {
        parent_task: TaskView::from_row(&whole, now),
        subtasks: solvers.iter().map(|part| TaskView::from_row(part, now)).collect(),
        aggregation_task: merging.first().map(|part| TaskView::from_row(part, now)),
        contributions: load_contributions(tx, &whole, &parts, bounty.as_ref(), terms)?,
        shares,
        progress,
        child_progress: ChildProgressView { completed: done, total },
    })
}

/// How far a swarm is.
fn stage(whole: &TaskRow, is_merging: bool, bounty: Option<&BountyRow>, now: Time) -> &'static str {
    let is_paid = bounty.is_some_and(|bounty| bounty.status == BountyStatus::Accepted);
    match whole.status_at(now) {
        _ if whole.decomposed_at.is_none() => "not_decomposed",
        TaskStatus::Completed if is_paid => "settled",
        TaskStatus::Completed => "completed",
        TaskStatus::Expired => "expired",
        TaskStatus::Cancelled => "cancelled",
        _ if is_merging => "aggregating",
        _ => "solving",
    }
}

/// Who takes part, and what for: what was paid where the bounty is settled, and what it would be before.
fn load_contributions(
    tx: &mut dyn Tx,
    whole: &TaskRow,
    parts: &[TaskRow],
    bounty: Option<&BountyRow>,
    terms: &SettlementTerms,
) -> ApiResult<Vec<ContributionView>> {
    if whole.decomposed_at.is_none() {
        return Ok(Vec::new());
    }
    let settled = bounty.filter(|bounty| bounty.settled_at.is_some());
    let earned: Vec<(String, i64)> = match (settled, bounty) {
        (Some(bounty), _) => {
            let paid = payouts::load_payouts(tx, bounty, whole)?.payouts;
            paid.into_iter().map(|payout| (payout.task_id, payout.amount)).collect()
        }
        (None, Some(bounty)) => {
            let shares = expected_payouts(tx, bounty, whole, terms)?;
            shares.into_iter().map(|(share, net)| (share.task_id, net)).collect()
        }
        (None, None) => Vec::new(),
    };
    let worth = |task: &TaskRow| {
        earned.iter().filter(|(task_id, _)| *task_id == task.task_id).map(|(_, amount)| amount).sum()
    };
    let contribution = |task: &TaskRow, role: &'static str, weight: i64, asset_id: Option<String>| {
        task.claimed_by.clone().map(|node_id| ContributionView {
            node_id,
            role,
            task_id: task.task_id.clone(),
            weight: part_of_whole(weight),
            asset_id,
            credits: credits::to_decimal(worth(task)),
            settled: settled.is_some(),
        })
    };
    let proposer = contribution(whole, "proposer", PROPOSER, None);
    let others = parts.iter().filter_map(|part| {
        let role = part.role.map_or("solver", SubtaskRole::as_str);
        let asset_id = part.result_asset.map(|id| id.to_string());
        contribution(part, role, part.weight.unwrap_or_default(), asset_id)
    });
    Ok(proposer.into_iter().chain(others).collect())
}
