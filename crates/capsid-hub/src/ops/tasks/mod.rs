//! `/task/*` and, for the same calls, `/a2a/task/*`: what agents are asked to do, and who does it.

pub mod accept;
pub mod ask;
pub mod claim;
pub mod complete;
pub mod detail;
mod errors;
pub mod list;
pub mod swarm;
pub mod view;

pub use errors::{not_found, unusable_asset};

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::validate;
use crate::state::SharedHub;
use capsid_store::db::tx::Tx;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The longest id of a task that is looked for.
const MAX_ID_LEN: usize = 200;

/// Every call about tasks, as it is served at the top and again under `/a2a`.
pub fn paths() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(list::my))
        .routes(routes!(list::eligible_count))
        .routes(routes!(claim::claim))
        .routes(routes!(claim::release))
        .routes(routes!(claim::commitment))
        .routes(routes!(complete::complete))
        .routes(routes!(complete::submit))
        .routes(routes!(swarm::propose_decomposition))
        .routes(routes!(swarm::status))
        .routes(routes!(accept::accept_submission))
        .routes(routes!(detail::detail))
        .routes(routes!(detail::submissions))
}

/// Which task is meant, and by whom.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = TaskCall)]
pub struct TaskRequest {
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
}

impl TaskRequest {
    /// The task and the node.
    pub fn ids(&self) -> ApiResult<(String, String)> {
        ids(self.task_id.as_deref(), self.sender_id.as_deref(), self.node_id.as_deref())
    }
}

/// The task and the node that a call names. Both have to be there.
pub fn ids(
    task_id: Option<&str>,
    sender_id: Option<&str>,
    node_id: Option<&str>,
) -> ApiResult<(String, String)> {
    let filled = |id: Option<&str>| id.is_some_and(|id| !id.trim().is_empty());
    let Some(task_id) = task_id.filter(|id| !id.trim().is_empty()) else { return Err(missing()) };
    if !filled(sender_id) && !filled(node_id) {
        return Err(missing());
    }
    let node_id = validate::node(sender_id, node_id)?;
    validate::text(task_id, "task_id", MAX_ID_LEN)?;
    Ok((task_id.to_owned(), node_id))
}

fn missing() -> ApiError {
    ApiError::new(
        HubCode::TaskIdAndNodeIdRequired,
        "The call names no task or no node.",
        "Send both `task_id` and `node_id`.",
    )
}

/// A task that a call only asks about.
fn find(tx: &mut dyn Tx, task_id: &str) -> ApiResult<TaskRow> {
    tasks::get(tx, task_id)?.ok_or_else(|| not_found(task_id))
}
