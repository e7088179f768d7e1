//! `/task/propose-decomposition` and `/task/swarm/{task_id}`: a task in parts. The same calls are under `/a2a/task/*`.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::json::JsonBody;
use crate::http::query::PathId;
use crate::http::validate;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{BODY_MOST, SignalsInput, TITLE_MOST};
use crate::ops::tasks::not_found;
use crate::ops::tasks::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::bounties::BountyStatus;
use capsid_rules::work::swarm::{AGGREGATOR, FEWEST, MAX, PROPOSER, ProposalError, SOLVERS, WHOLE, weights};
use capsid_rules::work::tasks::{SubtaskRole, TaskStatus};
use capsid_store::db::tx::Tx;
use capsid_store::ledger::earnings;
use capsid_store::work::bounties;
use capsid_store::work::bounties::settle::SettlementTerms;
use capsid_store::work::bounties::{BountyRow, payouts};
use capsid_store::work::swarm;
use capsid_store::work::swarm::{ProposeOutcome, SubtaskProposal};
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use serde::Deserialize;
use serde_json::{Value, json};

/// The parts that a node proposes.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Proposal)]
pub struct ProposeSubtasksRequest {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// Two to ten parts, whose weights together are at most 0.85.
    subtasks: Option<Vec<SubtaskInput>>,
}

/// One part.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Subtask)]
pub struct SubtaskInput {
    /// What it is called.
    #[schema(value_type = String, min_length = 1, max_length = 300)]
    title: Option<Value>,
    /// Its weight, above 0 and at most 1.
    #[schema(value_type = f64)]
    weight: Option<Value>,
    /// What it is about; what the whole is about where it is missing.
    #[schema(value_type = Option<SignalsInput>)]
    signals: Option<Value>,
    /// What is to be done.
    #[schema(max_length = 8000)]
    body: Option<String>,
}

impl ProposeSubtasksRequest {
    fn ids(&self) -> ApiResult<(String, String)> {
        let filled = |id: &Option<String>| id.clone().filter(|id| !id.is_empty());
        let (Some(task_id), Some(node_id)) =
            (filled(&self.task_id), filled(&self.node_id).or(filled(&self.sender_id)))
        else {
            return Err(ApiError::new(
                HubCode::TaskIdAndNodeIdRequired,
                "The call names no task or no node.",
                "Send both `task_id` and `node_id`.",
            ));
        };
        check_node_id(&node_id, "node_id")?;
        Ok((task_id, node_id))
    }

    fn parts(&self) -> ApiResult<Vec<SubtaskProposal>> {
        let wanted = self.subtasks.as_deref().unwrap_or_default();
        if !(FEWEST..=MAX).contains(&wanted.len()) {
            return Err(bad_proposal(ProposalError::Count, wanted.len()));
        }
        let numbers: Vec<f64> = wanted
            .iter()
            .enumerate()
            .map(|(at, part)| part.weight.as_ref().and_then(Value::as_f64).ok_or_else(|| no_weight(at)))
            .collect::<ApiResult<_>>()?;
        let weights = weights(&numbers).map_err(|bad| bad_proposal(bad, wanted.len()))?;
        wanted.iter().zip(weights).enumerate().map(|(at, (part, weight))| part.read(at, weight)).collect()
    }
}

impl SubtaskInput {
    fn read(&self, at: usize, weight: i64) -> ApiResult<SubtaskProposal> {
        let path = |name: &str| format!("subtasks[{at}].{name}");
        let title = self.title.as_ref().and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if title.is_empty() || validate::name(title, &path("title"), TITLE_MOST).is_err() {
            return Err(invalid(at, "title", "a line of 1 to 300 characters"));
        }
        validate::text_or(self.body.as_deref(), &path("body"), BODY_MOST)?;
        Ok(SubtaskProposal {
            title: title.to_owned(),
            body: self.body.clone().unwrap_or_default(),
            signals: offer::signals(self.signals.as_ref(), &path("signals"))?,
            weight,
        })
    }
}

fn invalid(at: usize, name: &str, expected: &str) -> ApiError {
    ApiError::new(
        HubCode::InvalidSubtask,
        format!("`subtasks[{at}].{name}` is not {expected}."),
        format!("Send {expected} in `{name}` of each part."),
    )
    .with("subtask", at)
}

fn no_weight(at: usize) -> ApiError {
    invalid(at, "weight", "a number above 0 and at most 1")
}

fn bad_proposal(bad: ProposalError, count: usize) -> ApiError {
    match bad {
        ProposalError::Count => ApiError::new(
            HubCode::InvalidSubtaskCount,
            format!("A task is cut into {FEWEST} to {MAX} parts, not into {count}."),
            format!("Send {FEWEST} to {MAX} parts in `subtasks`."),
        ),
        ProposalError::Weight(at) => no_weight(at),
        ProposalError::TooHeavy => ApiError::new(
            HubCode::WeightExceedsLimit,
            "The weights of all parts together are above 0.85.",
            "Make them lighter: the other 0.15 are for who proposes the parts and who merges the results.",
        ),
    }
}

/// Cuts a task that the node has taken into parts, which others take. It needs no approval.
#[utoipa::path(post, path = "/task/propose-decomposition", operation_id = "task_propose_decomposition", tag = "tasks",
    request_body = ProposeSubtasksRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn propose_decomposition(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(proposal): JsonBody<ProposeSubtasksRequest>,
) -> ApiResult<JsonReply> {
    let ((task_id, node_id), parts) = (proposal.ids()?, proposal.parts());
    let credentials = credentials.or_secret(proposal.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            // A task that is not there is told even to a node that has not said hello.
            if tasks::get(tx, &task_id)?.is_none() {
                return Err(not_found(&task_id));
            }
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            let proposed = match &parts {
                Ok(parts) => swarm::propose(tx, &node, &task_id, parts, rules.now)?,
                // What is wrong with the task comes before what is wrong with the parts.
                Err(wrong) => match swarm::may_propose(tx, &node, &task_id, rules.now)? {
                    Ok(_) => return Err(wrong.clone()),
                    Err(refused) => refused,
                },
            };
            propose_response(&task_id, proposed, rules.now)
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&told))
}

fn propose_response(task_id: &str, proposed: ProposeOutcome, now: Time) -> ApiResult<Value> {
    let rows = |parts: &[TaskRow]| parts.iter().map(|part| view::task(part, now)).collect::<Vec<_>>();
    Err(match proposed {
        ProposeOutcome::Done(parts) => {
            let total: i64 = parts.iter().filter_map(|part| part.weight).sum();
            return Ok(json!({
                "status": "decomposed", "auto_approved": true, "parent_task_id": task_id,
                "subtasks": rows(&parts), "total_weight": part_of_whole(total),
            }));
        }
        ProposeOutcome::NotFound => not_found(task_id),
        ProposeOutcome::NotClaimed(task) => ApiError::new(
            HubCode::TaskNotClaimed,
            format!("The task is {}, not claimed.", task.status.as_str()),
            "Take it first with POST /task/claim; only a task that you work on can be cut into parts.",
        )
        .with("task_status", task.status.as_str()),
        ProposeOutcome::NotClaimer(task) => ApiError::new(
            HubCode::NotTaskClaimer,
            "Another node works on the task.",
            "Only the node that took a task cuts it into parts.",
        )
        .with("claimed_by", task.claimed_by),
        ProposeOutcome::IsPart => ApiError::new(
            HubCode::CannotDecomposeSubtask,
            "The task is a part of another one already.",
            "Complete it as it is; only whole tasks are cut into parts.",
        ),
        ProposeOutcome::Again(parts) => ApiError::new(
            HubCode::AlreadyDecomposed,
            "The task has been cut into parts already.",
            "Look at the parts with GET /task/swarm/{task_id}.",
        )
        .with("subtasks", rows(&parts)),
    })
}

fn part_of_whole(weight: i64) -> f64 {
    weight as f64 / WHOLE as f64
}

/// Shows how the parts of a task stand. The id may also be that of a part.
#[utoipa::path(get, path = "/task/swarm/{task_id}", operation_id = "task_swarm", tag = "tasks",
    params(("task_id" = String, Path, description = "The task that was cut into parts, or one of them.")),
    responses((status = 200, body = crate::http::openapi::tasks::Swarm), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(task_id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (now, terms) = (hub.now(), hub.config.settlement_terms());
    let told = hub.store.read::<_, ApiError, _>(move |tx| load_swarm_view(tx, &task_id, &terms, now)).await?;
    Ok(JsonReply::json(&told))
}

fn load_swarm_view(tx: &mut dyn Tx, task_id: &str, terms: &SettlementTerms, now: Time) -> ApiResult<Value> {
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
    let done = solvers.iter().filter(|part| part.status == TaskStatus::Completed).count();
    let rows: Vec<Value> = solvers.iter().map(|part| view::task(part, now)).collect();
    Ok(json!({
        "parent_task": view::task(&whole, now),
        "subtasks": rows,
        "aggregation_task": merging.first().map(|part| view::task(part, now)),
        "contributions": contributions(tx, &whole, &parts, bounty.as_ref(), terms)?,
        "shares": {
            "proposer": part_of_whole(PROPOSER), "solvers": part_of_whole(SOLVERS),
            "aggregator": part_of_whole(AGGREGATOR),
        },
        "progress": {
            "solvers_completed": done, "solvers_total": solvers.len(),
            "status": stage(&whole, !merging.is_empty(), bounty.as_ref(), now),
        },
        "child_progress": { "completed": done, "total": solvers.len() },
    }))
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
fn contributions(
    tx: &mut dyn Tx,
    whole: &TaskRow,
    parts: &[TaskRow],
    bounty: Option<&BountyRow>,
    terms: &SettlementTerms,
) -> ApiResult<Vec<Value>> {
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
            let shares = earnings::expected(tx, bounty, whole, terms)?;
            shares.into_iter().map(|(share, net)| (share.task_id, net)).collect()
        }
        (None, None) => Vec::new(),
    };
    let worth = |task: &TaskRow| {
        earned.iter().filter(|(task_id, _)| *task_id == task.task_id).map(|(_, amount)| amount).sum()
    };
    let of = |task: &TaskRow, role: &str, weight: i64, asset: Option<String>| {
        task.claimed_by.as_ref().map(|node_id| {
            json!({
                "node_id": node_id, "role": role, "task_id": task.task_id, "weight": part_of_whole(weight),
                "asset_id": asset, "credits": credits::to_decimal(worth(task)), "settled": settled.is_some(),
            })
        })
    };
    let mut told: Vec<Value> = of(whole, "proposer", PROPOSER, None).into_iter().collect();
    told.extend(parts.iter().filter_map(|part| {
        let role = part.role.map_or("solver", SubtaskRole::as_str);
        let asset = part.result_asset.map(|id| id.to_string());
        of(part, role, part.weight.unwrap_or_default(), asset)
    }));
    Ok(told)
}
