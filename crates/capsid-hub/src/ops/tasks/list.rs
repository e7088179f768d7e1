//! Which tasks there are, which a node took, and how many nodes may take one.

use super::find;
use crate::auth::credentials::{Credentials, OperationContext, authenticate_reader};
use crate::config::TasksConfig;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::query;
use crate::http::query::QueryParams;
use crate::ops::assets::view::rounded;
use crate::ops::tasks::view as task_view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::evaluation::reputation;
use capsid_store::assets::list::ListPosition;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::list as task_list;
use capsid_store::work::tasks::list::{OpenTaskFilter, TakenTaskRow};
use capsid_store::work::workers;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many tasks a list shows where it is not asked for a number.
const DEFAULT: i64 = 20;
/// How many it shows at most.
const MAX: i64 = 100;

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

impl ListTasksParams {
    fn node(&self) -> ApiResult<Option<String>> {
        node_or(self.node_id.as_deref())
    }
}

/// A node id that may be missing or empty.
pub fn node_or(node_id: Option<&str>) -> ApiResult<Option<String>> {
    match node_id.filter(|id| !id.is_empty()) {
        Some(node_id) => check_node_id(node_id, "node_id").map(|()| Some(node_id.to_owned())),
        None => Ok(None),
    }
}

fn number_or(text: Option<&str>, name: &str) -> ApiResult<Option<f64>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(ApiError::field(name, "a number", "something else")),
    }
}

/// Lists open tasks: what pays most first, and of those the oldest.
#[utoipa::path(get, path = "/task/list", tag = "tasks", params(ListTasksParams),
    responses((status = 200, body = crate::http::openapi::tasks::TaskPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListTasksParams>,
) -> ApiResult<JsonReply> {
    const LIST: &str = "tasks.open";
    hub.limit_reads(&credentials).await?;
    let (asked, node_id) = (number_or(query.reputation.as_deref(), "reputation")?, query.node()?);
    let min_bounty = number_or(query.min_bounty.as_deref(), "min_bounty")?.unwrap_or_default();
    // What is too large for an amount is more than any task pays.
    let min_amount = credits::from_shown(min_bounty.max(0.0)).unwrap_or(i64::MAX);
    let limit = query::limit(query.limit.as_deref(), DEFAULT, MAX);
    let (after, rules) = (cursor::read(LIST, query.cursor.as_deref())?, hub.rules());
    let (tasks, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let mut wanted = OpenTaskFilter { reputation: asked, min_amount, ..OpenTaskFilter::default() };
            if let Some(node_id) = &node_id {
                name_node(tx, &mut wanted, node_id, &rules, &credentials)?;
            }
            let tasks = task_list::open(tx, &wanted, after, limit + 1, rules.now)?;
            Ok((tasks, task_list::count_open(tx, &wanted, rules.now)?))
        })
        .await?;
    let place = |task: &TaskRow| ListPosition { key: task.amount, seq: task.seq };
    let next = (tasks.len() as i64 > limit).then(|| tasks.get(limit as usize - 1).map(place)).flatten();
    let rows: Vec<Value> =
        tasks.iter().take(limit as usize).map(|task| task_view::task(task, hub.now())).collect();
    Ok(JsonReply::json(&json!({
        "tasks": rows,
        "count": rows.len(),
        "total": total,
        "has_more": next.is_some(),
        "next_cursor": next.map(|position| cursor::write(LIST, position)),
    })))
}

/// A node's own reputation counts. To whoever may speak for it, what is kept for it is shown, and what it or its owner
/// asked is not.
fn name_node(
    tx: &mut dyn Tx,
    wanted: &mut OpenTaskFilter,
    node_id: &str,
    rules: &OperationContext,
    credentials: &Credentials,
) -> ApiResult<()> {
    let node = nodes::get(tx, node_id)?;
    wanted.reputation = Some(node.map_or(reputation::START, |node| node.reputation));
    if let Ok(Some(node)) = authenticate_reader(tx, rules, node_id, credentials) {
        (wanted.node_id, wanted.owner) = (Some(node.node_id), node.owner);
    }
    Ok(())
}

/// Whose tasks are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListOwnTasksParams {
    /// The node.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists the tasks that a node took and did not give back: those it works on first, then the newest.
///
/// Without a node there are none.
#[utoipa::path(get, path = "/task/my", tag = "tasks", params(ListOwnTasksParams),
    responses((status = 200, body = crate::http::openapi::tasks::MyTasks), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn my(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListOwnTasksParams>,
) -> ApiResult<JsonReply> {
    let (taken, next) = my_page(&hub, &credentials, &query, "tasks.my").await?;
    let rows: Vec<Value> = taken.iter().map(|taken| my_row(taken, hub.now())).collect();
    Ok(JsonReply::json(&json!({
        "tasks": rows, "count": rows.len(), "has_more": next.is_some(), "next_cursor": next,
    })))
}

/// A page of what a node took, and the cursor of the next one. `list` names the list.
pub async fn my_page(
    hub: &SharedHub,
    credentials: &Credentials,
    query: &ListOwnTasksParams,
    list: &str,
) -> ApiResult<(Vec<TakenTaskRow>, Option<String>)> {
    hub.limit_reads(credentials).await?;
    let limit = query::limit(query.limit.as_deref(), DEFAULT, MAX);
    let after = cursor::read(list, query.cursor.as_deref())?;
    let Some(node_id) = node_or(query.node_id.as_deref())? else { return Ok((Vec::new(), None)) };
    let id = node_id.clone();
    let mut taken = hub
        .authenticate_reader(&node_id, credentials, move |tx, node| match node {
            Some(_) => Ok(task_list::list_taken_by(tx, &id, after, limit + 1)?),
            None => Ok(Vec::new()),
        })
        .await?;
    let goes_on = taken.len() as i64 > limit;
    taken.truncate(limit as usize);
    let last = taken.last().filter(|_| goes_on);
    let next = last.map(|last| cursor::write(list, last.position));
    Ok((taken, next))
}

/// A task that a node took, with what became of it.
pub fn my_row(taken: &TakenTaskRow, now: Time) -> Value {
    let mut row = task_view::task(&taken.task, now);
    row["my_submission_id"] = taken.submission.submission_id.clone().into();
    row["my_submission_status"] = taken.submission.status.clone().into();
    row["my_submission_asset"] = taken.submission.asset_id.map(|id| id.to_string()).into();
    row
}

/// For what the nodes are counted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EligibleNodesParams {
    /// The task.
    task_id: Option<String>,
    /// Or a reputation, where there is no task.
    #[param(value_type = Option<f64>)]
    min_reputation: Option<String>,
}

/// Counts the nodes that may take a task, or have a reputation.
#[utoipa::path(get, path = "/task/eligible-count", tag = "tasks", params(EligibleNodesParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn eligible_count(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<EligibleNodesParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let asked = number_or(query.min_reputation.as_deref(), "min_reputation")?.unwrap_or_default();
    let (task_id, tiers) = (query.task_id.filter(|id| !id.is_empty()), hub.config.work.model_tiers.clone());
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let task = task_id.as_deref().map(|id| find(tx, id)).transpose()?;
            let least = task.as_ref().map_or(asked, |task| task.min_reputation);
            let count = count(tx, task.as_ref(), least, &tiers)?;
            Ok(json!({
                "task_id": task.map(|task| task.task_id),
                "min_reputation": rounded(least),
                "eligible_count": count,
            }))
        })
        .await?;
    Ok(JsonReply::json(&told))
}

fn count(tx: &mut dyn Tx, task: Option<&TaskRow>, least: f64, tiers: &[(String, i64)]) -> ApiResult<i64> {
    let fits = |model: Option<&str>| task.is_none_or(|task| task.allows_model(model, tiers));
    if let Some(only) = task.and_then(|task| task.reserved_for.as_deref()) {
        let Some(node) = nodes::get(tx, only)? else { return Ok(0) };
        let model = nodes::model(tx, only)?;
        return Ok(i64::from(node.status == "active" && node.reputation >= least && fits(model.as_deref())));
    }
    let by_model = task_list::nodes_by_model(tx, least)?;
    Ok(by_model.iter().filter(|(model, _)| fits(model.as_deref())).map(|(_, count)| count).sum())
}

/// The most tasks in one answer to a fetch.
const MAX_FETCHED: usize = 50;

/// What a fetch tells of tasks: those that the node works on, and those that it could take.
pub fn for_fetch(
    tx: &mut dyn Tx,
    node: Option<&NodeRow>,
    work: &TasksConfig,
    now: Time,
) -> ApiResult<Vec<Value>> {
    let mut tasks = match node {
        Some(node) => task_list::working_on(tx, &node.node_id, MAX_FETCHED as i64, now)?,
        None => Vec::new(),
    };
    let room = MAX_FETCHED.saturating_sub(tasks.len());
    tasks.extend(task_list::open_for(tx, node, None, &work.model_tiers, room, now)?);
    Ok(tasks.iter().map(|task| task_view::task(task, now)).collect())
}

/// The best tasks that a node could take now.
pub fn recommended(
    tx: &mut dyn Tx,
    node: &NodeRow,
    work: &TasksConfig,
    most: usize,
    now: Time,
) -> ApiResult<Vec<Value>> {
    let worker = workers::get(tx, &node.node_id)?;
    let tasks = task_list::open_for(tx, Some(node), worker.as_ref(), &work.model_tiers, most, now)?;
    Ok(tasks.iter().map(|task| task_view::task(task, now)).collect())
}
