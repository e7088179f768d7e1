//! Which tasks are open, and which of them a node could take.

use super::view::TaskView;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::config::TasksConfig;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::check_node_id;
use crate::http::{cursor, query, traced_id};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::evaluation::reputation;
use capsid_store::assets::list::ListPosition;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::list as task_list;
use capsid_store::work::tasks::list::OpenTaskFilter;
use capsid_store::work::workers;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many tasks a list shows where it is not asked for a number.
pub const DEFAULT_LIMIT: i64 = 20;
/// How many it shows at most.
pub const MAX_LIMIT: i64 = 100;
/// The name of the list, for its cursors.
const LIST: &str = "tasks.open";

/// Which open tasks are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListTasksParams {
    /// Only tasks for which this reputation is enough.
    #[param(value_type = Option<f64>)]
    reputation: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// Only tasks that pay at least so many credits.
    #[param(value_type = Option<f64>)]
    min_bounty: Option<String>,
    /// The node that asks: its reputation counts, tasks that are kept for it are shown, and its own questions are not.
    node_id: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of open tasks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TaskPage)]
pub struct ListTasksResponse {
    tasks: Vec<TaskView>,
    count: i64,
    total: i64,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A node id that may be missing or empty.
pub fn node_or(node_id: Option<&str>) -> ApiResult<Option<String>> {
    match node_id.filter(|id| !id.is_empty()) {
        Some(node_id) => check_node_id(node_id, "node_id").map(|()| Some(node_id.to_owned())),
        None => Ok(None),
    }
}

/// A number that may be missing or empty.
pub fn number_or(text: Option<&str>, name: &str) -> ApiResult<Option<f64>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(ApiError::field(name, "a number", "something else")),
    }
}

/// Lists open tasks: what pays most first, and of those the oldest.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_tasks(
    hub: &SharedHub,
    credentials: Credentials,
    params: &ListTasksParams,
) -> ApiResult<ListTasksResponse> {
    hub.limit_reads(&credentials).await?;
    let reputation = number_or(params.reputation.as_deref(), "reputation")?;
    let node_id = node_or(params.node_id.as_deref())?;
    let min_bounty = number_or(params.min_bounty.as_deref(), "min_bounty")?.unwrap_or_default();
    // What is too large for an amount is more than any task pays.
    let min_amount = credits::from_shown(min_bounty.max(0.0)).unwrap_or(i64::MAX);
    let limit = query::limit(params.limit.as_deref(), DEFAULT_LIMIT, MAX_LIMIT);
    let (after, context) = (cursor::read(LIST, params.cursor.as_deref())?, hub.context());
    let (tasks, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let mut filter = OpenTaskFilter { reputation, min_amount, ..OpenTaskFilter::default() };
            if let Some(node_id) = &node_id {
                filter_for_node(tx, &mut filter, node_id, &context, &credentials)?;
            }
            let tasks = task_list::open(tx, &filter, after, limit + 1, context.now)?;
            Ok((tasks, task_list::count_open(tx, &filter, context.now)?))
        })
        .await?;
    let position = |task: &TaskRow| ListPosition { key: task.amount, seq: task.seq };
    let next = (tasks.len() as i64 > limit).then(|| tasks.get(limit as usize - 1).map(position)).flatten();
    let now = hub.now();
    let tasks: Vec<_> = tasks.iter().take(limit as usize).map(|task| TaskView::from_row(task, now)).collect();
    Ok(ListTasksResponse {
        count: tasks.len() as i64,
        tasks,
        total,
        has_more: next.is_some(),
        next_cursor: next.map(|position| cursor::write(LIST, position)),
    })
}

/// A node's own reputation counts. To whoever may speak for it, what is kept for it is shown, and what it or its owner
/// asked is not.
fn filter_for_node(
    tx: &mut dyn Tx,
    filter: &mut OpenTaskFilter,
    node_id: &str,
    context: &OperationContext,
    credentials: &Credentials,
) -> ApiResult<()> {
    let node = nodes::get(tx, node_id)?;
    filter.reputation = Some(node.map_or(reputation::START, |node| node.reputation));
    if let Ok(Some(node)) = Sender::new(node_id, credentials.clone()).find(tx, context) {
        (filter.node_id, filter.owner) = (Some(node.node_id), node.owner);
    }
    Ok(())
}

/// The most tasks in one answer to a fetch.
const MAX_FETCHED: usize = 50;

/// The tasks in the answer to a fetch: those that the node works on, and those that it could take.
pub fn for_fetch(
    tx: &mut dyn Tx,
    node: Option<&NodeRow>,
    work: &TasksConfig,
    now: Time,
) -> ApiResult<Vec<TaskView>> {
    let mut tasks = match node {
        Some(node) => task_list::working_on(tx, &node.node_id, MAX_FETCHED as i64, now)?,
        None => Vec::new(),
    };
    let room = MAX_FETCHED.saturating_sub(tasks.len());
    tasks.extend(task_list::open_for(tx, node, None, &work.model_tiers, room, now)?);
    Ok(TaskView::from_rows(&tasks, now))
}

/// The best tasks that a node could take now.
pub fn recommended(
    tx: &mut dyn Tx,
    node: &NodeRow,
    work: &TasksConfig,
    most: usize,
    now: Time,
) -> ApiResult<Vec<TaskView>> {
    let worker = workers::get(tx, &node.node_id)?;
    let tasks = task_list::open_for(tx, Some(node), worker.as_ref(), &work.model_tiers, most, now)?;
    Ok(TaskView::from_rows(&tasks, now))
}
