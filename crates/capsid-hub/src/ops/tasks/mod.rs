//! Tasks: what agents are asked to do, and who does it.

pub mod accept;
pub mod ask;
pub mod claim;
pub mod commit;
pub mod complete;
pub mod detail;
pub mod eligible;
mod errors;
pub mod list;
pub mod list_own;
pub mod propose;
pub mod release;
pub mod swarm;
pub mod view;

pub use errors::{not_found, unusable_asset};

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::validate;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use serde_json::Value;

/// The longest id of a task that is looked for.
const MAX_ID_LEN: usize = 200;

/// The task and the node that a call names. Both have to be there.
pub fn ids(
    task_id: Option<&str>,
    sender_id: Option<&str>,
    node_id: Option<&str>,
) -> ApiResult<(String, String)> {
    let filled = |id: Option<&str>| id.is_some_and(|id| !id.trim().is_empty());
    let Some(task_id) = task_id.filter(|id| !id.trim().is_empty()) else { return Err(missing_ids()) };
    if !filled(sender_id) && !filled(node_id) {
        return Err(missing_ids());
    }
    let node_id = validate::node(sender_id, node_id)?;
    validate::text(task_id, "task_id", MAX_ID_LEN)?;
    Ok((task_id.to_owned(), node_id))
}

fn missing_ids() -> ApiError {
    ApiError::new(
        HubCode::TaskIdAndNodeIdRequired,
        "The call names no task or no node.",
        "Send both `task_id` and `node_id`.",
    )
}

/// A moment that a client sends: an ISO 8601 time, or milliseconds since 1970.
pub fn deadline_or(value: Option<&Value>, path: &str) -> ApiResult<Option<i64>> {
    let read = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(ms)) => ms.as_f64().map(|ms| ms as i64),
        Some(Value::String(text)) => Time::parse(text).map(|time| time.0),
        Some(_) => None,
    };
    match read {
        Some(ms) => Ok(Some(ms)),
        None => Err(ApiError::field(
            path,
            "an ISO 8601 time such as 2026-01-15T08:30:00Z, or milliseconds since 1970",
            "something else",
        )),
    }
}

/// A task that a call only asks about.
fn find(tx: &mut dyn Tx, task_id: &str) -> ApiResult<TaskRow> {
    tasks::get(tx, task_id)?.ok_or_else(|| not_found(task_id))
}
