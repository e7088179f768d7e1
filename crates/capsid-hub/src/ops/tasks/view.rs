//! A task as it is told. Clients know these names and no other states than these.

use crate::error::ApiResult;
use crate::ops::assets::view::rounded;
use capsid_model::text::cut;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::swarm::WHOLE;
use capsid_rules::work::tasks::{SubtaskRole, complexity};
use capsid_store::db::tx::Tx;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use serde_json::{Map, Value, json};

/// A task as JSON, as it stands at a moment.
pub fn task(task: &TaskRow, now: Time) -> Value {
    let time = |ms: Option<i64>| ms.map(|ms| Time(ms).iso());
    let mut told = Map::new();
    let mut put = |key: &str, value: Value| told.insert(key.to_owned(), value);
    put("task_id", task.task_id.clone().into());
    put("title", task.title.clone().into());
    put("body", task.body.clone().into());
    put("description", task.body.clone().into());
    // One text: a client that finds a list here reads nothing.
    put("signals", task.signals.clone().into());
    put("status", task.status_at(now).as_str().into());
    put("claimed_by", task.claimed_by.clone().into());
    put("claimed_at", time(task.claimed_at).into());
    put("submission_id", task.submission_id.clone().into());
    put("bounty_id", task.bounty_id.clone().into());
    put("bounty_amount", credits::to_decimal(task.amount).into());
    put("complexity_score", complexity(&task.title, &task.body, &task.signals).into());
    put("min_reputation", rounded(task.min_reputation).into());
    put("min_model_tier", task.min_model_tier.into());
    let models = task.allowed_models.as_deref().and_then(|models| serde_json::from_str(models).ok());
    put("allowed_models", models.unwrap_or(Value::Null));
    put("reserved_for", task.reserved_for.clone().into());
    put("swarm_role", task.role.map(SubtaskRole::as_str).into());
    put("parent_task_id", task.parent_task_id.clone().into());
    put("contribution_weight", json!(task.weight.map(|weight| weight as f64 / WHOLE as f64)));
    put("is_decomposed", task.decomposed_at.is_some().into());
    put("commitment_deadline", time(task.commitment_deadline).into());
    put("result_asset_id", task.result_asset.map(|id| id.to_string()).into());
    put("completed_at", time(task.completed_at).into());
    put("created_at", Time(task.created_at).iso().into());
    put("expires_at", Time(task.expires_at).iso().into());
    Value::Object(told)
}

/// The most of what the whole asks that is told with a part of it.
const MAX_INSTRUCTION: usize = 2000;

/// A task as JSON for whoever looks at this one alone: with a part also what the whole asks.
pub fn with_parent(tx: &mut dyn Tx, one: &TaskRow, now: Time) -> ApiResult<Value> {
    let mut told = task(one, now);
    if let Some(parent) = &one.parent_task_id {
        let whole = tasks::get(tx, parent)?.map(|whole| cut(&whole.body, MAX_INSTRUCTION).to_owned());
        told["parent_instruction"] = whole.into();
    }
    Ok(told)
}
