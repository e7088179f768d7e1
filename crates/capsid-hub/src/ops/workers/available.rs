//! The work that a node could take now.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::config::TasksConfig;
use crate::error::ApiResult;
use crate::http::{query, traced_id};
use crate::ops::tasks::list::node_or;
use crate::ops::tasks::view::TaskView;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::list::open_for;
use capsid_store::work::workers;
use capsid_store::work::workers::WorkerRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whose work is wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListWorkParams {
    /// The node.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

/// The work that a node could take now.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListWorkResponse {
    work: Vec<TaskView>,
    /// The same as `work`.
    tasks: Vec<TaskView>,
    count: i64,
}

/// Lists the work that a node could take now. Who works on as much as it said it can is shown none.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_available_work(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListWorkParams,
) -> ApiResult<ListWorkResponse> {
    hub.limit_reads(credentials).await?;
    let node_id = node_or(params.node_id.as_deref())?.unwrap_or_default();
    let (work, now) = (hub.config.work.clone(), hub.now());
    let most = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let found = Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, node| find_work(tx, node, &work, most, now))
        .await?;
    let tasks = TaskView::from_rows(&found, now);
    Ok(ListWorkResponse { work: tasks.clone(), count: tasks.len() as i64, tasks })
}

fn find_work(
    tx: &mut dyn Tx,
    node: Option<&NodeRow>,
    work: &TasksConfig,
    most: usize,
    now: Time,
) -> ApiResult<Vec<TaskRow>> {
    let worker = match node {
        Some(node) => workers::get(tx, &node.node_id)?,
        None => None,
    };
    match (node, &worker) {
        (Some(node), Some(worker)) if is_full(tx, node, worker, now)? => Ok(Vec::new()),
        _ => Ok(open_for(tx, node, worker.as_ref(), &work.model_tiers, most, now)?),
    }
}

/// The work that a node could take now, where it takes work at all.
pub fn for_worker(
    tx: &mut dyn Tx,
    node: &NodeRow,
    work: &TasksConfig,
    most: usize,
    now: Time,
) -> ApiResult<Vec<TaskView>> {
    match workers::get(tx, &node.node_id)? {
        Some(worker) if worker.enabled => {
            Ok(TaskView::from_rows(&find_work(tx, Some(node), work, most, now)?, now))
        }
        _ => Ok(Vec::new()),
    }
}

/// Whether a node works on as much as it said it can.
pub fn is_full(tx: &mut dyn Tx, node: &NodeRow, worker: &WorkerRow, now: Time) -> ApiResult<bool> {
    Ok(workers::load(tx, &node.node_id, now)? >= worker.max_load)
}
