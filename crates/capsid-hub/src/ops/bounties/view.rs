//! A bounty as it is told.

use crate::error::ApiResult;
use crate::ops::assets::view::rounded;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::db::tx::Tx;
use capsid_store::work::bounties::{BountyRow, payouts, settle};
use capsid_store::work::swarm;
use capsid_store::work::tasks::{TaskRow, submissions};
use serde_json::{Map, Value, json};

/// The most submissions that are shown.
const MAX_SUBMISSIONS: i64 = 100;

/// A bounty and its task in a list.
pub fn row(bounty: &BountyRow, task: &TaskRow, now: Time) -> Map<String, Value> {
    let time = |ms: Option<i64>| ms.map(|ms| Time(ms).iso());
    let models = task.allowed_models.as_deref().and_then(|models| serde_json::from_str(models).ok());
    let node = bounty.creator.strip_prefix("node:");
    let mut told = Map::new();
    let mut put = |key: &str, value: Value| told.insert(key.to_owned(), value);
    put("bounty_id", bounty.bounty_id.clone().into());
    put("task_id", bounty.task_id.clone().into());
    put("status", bounty.status.as_str().into());
    put("task_status", task.status_at(now).as_str().into());
    put("title", task.title.clone().into());
    put("signals", task.signals.clone().into());
    put("amount", credits::to_decimal(bounty.amount).into());
    put("source", bounty.source.clone().into());
    put("creator_type", if node.is_some() { "node" } else { "user" }.into());
    put("creator_node_id", node.into());
    put("listing_id", bounty.listing_id.clone().into());
    put("reserved_for", task.reserved_for.clone().into());
    put("min_reputation", rounded(task.min_reputation).into());
    put("min_model_tier", task.min_model_tier.into());
    put("allowed_models", models.unwrap_or(Value::Null));
    put("claimable", claimable(task, now).into());
    put("matched_asset_id", bounty.matched_asset.map(|id| id.to_string()).into());
    put("matched_node_id", bounty.matched_node.clone().into());
    put("matched_at", time(bounty.matched_at).into());
    put("decide_by", time(bounty.decide_by).into());
    put("settled_at", time(bounty.settled_at).into());
    put("outcome", bounty.outcome.clone().into());
    put("created_at", Time(bounty.created_at).iso().into());
    put("expires_at", Time(bounty.expires_at).iso().into());
    told
}

/// Whether anybody who is good enough may take it.
fn claimable(task: &TaskRow, now: Time) -> bool {
    task.status_at(now) == TaskStatus::Open && task.reserved_for.is_none()
}

/// A bounty with all that is known of it.
pub fn detail(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    task: &TaskRow,
    now: Time,
) -> ApiResult<Map<String, Value>> {
    let mut told = row(bounty, task, now);
    told.insert("body".to_owned(), task.body.clone().into());
    told.insert("is_decomposed".to_owned(), task.decomposed_at.is_some().into());
    let status = settle::matched_status(tx, bounty)?;
    told.insert("matched_asset_status".to_owned(), status.map(AssetStatus::as_str).into());
    let mut tries = submissions::list_for_task(tx, &task.task_id, MAX_SUBMISSIONS)?;
    if let Some(merging) = swarm::aggregation(tx, &task.task_id)? {
        tries.extend(submissions::list_for_task(tx, &merging.task_id, MAX_SUBMISSIONS)?);
    }
    let tries: Vec<Value> = tries.iter().map(submission).collect();
    told.insert("submissions".to_owned(), tries.into());
    let paid = payouts::load_payouts(tx, bounty, task)?;
    let to_nodes: Vec<Value> = paid
        .payouts
        .iter()
        .map(|payout| {
            json!({ "node_id": payout.node_id, "role": payout.role, "task_id": payout.task_id,
                "credits": credits::to_decimal(payout.amount) })
        })
        .collect();
    told.insert("payouts".to_owned(), to_nodes.into());
    told.insert("commission".to_owned(), credits::to_decimal(paid.commission).into());
    told.insert("refunded".to_owned(), credits::to_decimal(paid.refunded).into());
    Ok(told)
}

fn submission(it: &submissions::SubmissionRow) -> Value {
    json!({
        "submission_id": it.submission_id, "task_id": it.task_id, "node_id": it.node_id, "status": it.status,
        "asset_id": it.asset_id.map(|id| id.to_string()), "created_at": Time(it.created_at).iso(),
        "updated_at": Time(it.updated_at).iso(),
    })
}
