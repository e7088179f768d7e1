//! `/a2a/worker/*` and `/a2a/work/*`: nodes that take work from a pool. An assignment is one node's try at a task, and
//! its id is the id of the submission.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::config::TasksConfig;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::ops::tasks::list::{ListOwnTasksParams, my_page, my_row, node_or};
use crate::ops::tasks::view;
use crate::ops::tasks::{claim, complete, ids};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use capsid_store::work::tasks::list::open_for;
use capsid_store::work::tasks::submissions;
use capsid_store::work::tasks::submissions::SubmissionRow;
use capsid_store::work::workers;
use capsid_store::work::workers::{WorkerRow, WorkerUpdate};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most that a worker may do at a time.
pub const MAX_LOAD: i64 = 20;
/// The most words for what a worker is good at.
const MAX_DOMAINS: usize = 50;
/// The longest of them.
const MAX_DOMAIN_LEN: usize = 64;

/// How a node works.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = WorkerCall)]
pub struct RegisterWorkerRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    /// Whether it takes work; it does where nothing is said.
    enabled: Option<bool>,
    /// What it is good at: words that stand in the signals of a task. Everything where there are none.
    domains: Option<Vec<String>>,
    /// How many tasks it does at a time: 1 to 20.
    #[schema(minimum = 1, maximum = 20)]
    max_load: Option<f64>,
}

/// Lets a node take work, and says what it is good at and how much it does at a time.
#[utoipa::path(post, path = "/a2a/worker/register", tag = "tasks", request_body = RegisterWorkerRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn register(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<RegisterWorkerRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(call.sender_id.as_deref(), call.node_id.as_deref())?;
    if let Some(load) = call.max_load {
        validate::number(load, "max_load", 1.0, MAX_LOAD as f64)?;
    }
    let told = WorkerUpdate {
        enabled: Some(call.enabled.unwrap_or(true)),
        domains: domains_or(call.domains, "domains")?,
        max_load: call.max_load.map(|load| load as i64),
        subscribed: None,
    };
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, id) = (hub.rules(), node_id.clone());
    let worker = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &id, &credentials)?;
            Ok(workers::register(tx, &id, &told, rules.now)?)
        })
        .await?;
    Ok(JsonReply::json(&json!({
        "status": "worker_registered",
        "node_id": node_id,
        "worker_enabled": worker.enabled,
        "worker_domains": worker.domains,
        "worker_max_load": worker.max_load,
    })))
}

/// Checks words for what a worker is good at.
pub fn domains_or(domains: Option<Vec<String>>, path: &str) -> ApiResult<Option<Vec<String>>> {
    let Some(domains) = domains else { return Ok(None) };
    validate::list(&domains, path, MAX_DOMAINS, MAX_DOMAIN_LEN)?;
    for (n, domain) in domains.iter().enumerate() {
        validate::name(domain, &format!("{path}[{n}]"), MAX_DOMAIN_LEN)?;
    }
    Ok(Some(domains))
}

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

/// Lists the work that a node could take now. Who works on as much as it said it can is shown none.
#[utoipa::path(get, path = "/a2a/work/available", tag = "tasks", params(ListWorkParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn available(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListWorkParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let node_id = node_or(query.node_id.as_deref())?.unwrap_or_default();
    let (work, now) = (hub.config.work.clone(), hub.now());
    let most = query::limit(query.limit.as_deref(), 20, 100) as usize;
    let found = hub
        .authenticate_reader(&node_id, &credentials, move |tx, node| find(tx, node, &work, most, now))
        .await?;
    let rows: Vec<Value> = found.iter().map(|task| view::task(task, now)).collect();
    Ok(JsonReply::json(&json!({ "work": rows, "tasks": rows, "count": rows.len() })))
}

/// The work that a node could take now.
fn find(
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
) -> ApiResult<Vec<TaskRow>> {
    match workers::get(tx, &node.node_id)? {
        Some(worker) if worker.enabled => find(tx, Some(node), work, most, now),
        _ => Ok(Vec::new()),
    }
}

fn is_full(tx: &mut dyn Tx, node: &NodeRow, worker: &WorkerRow, now: Time) -> ApiResult<bool> {
    Ok(workers::load(tx, &node.node_id, now)? >= worker.max_load)
}

/// Which work is meant: the assignment, or the task.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = WorkCall)]
pub struct WorkRequest {
    /// The id that claiming returned.
    assignment_id: Option<String>,
    /// The task.
    task_id: Option<String>,
    node_id: Option<String>,
    sender_id: Option<String>,
    node_secret: Option<String>,
    /// The solution: an asset that the node published.
    result_asset_id: Option<String>,
    /// The same under another name.
    asset_id: Option<String>,
}

impl WorkRequest {
    /// The assignment and the node, or the task and the node.
    fn which(&self) -> ApiResult<(WorkReference, String)> {
        let (sender, node) = (self.sender_id.as_deref(), self.node_id.as_deref());
        match self.assignment_id.as_deref().filter(|id| !id.trim().is_empty()) {
            Some(id) => {
                let (id, node_id) = ids(Some(id), sender, node)?;
                Ok((WorkReference::Assignment(id), node_id))
            }
            None => {
                let (id, node_id) = ids(self.task_id.as_deref(), sender, node)?;
                Ok((WorkReference::Task(id), node_id))
            }
        }
    }
}

/// How a call names work.
#[derive(Debug, Clone)]
enum WorkReference {
    Assignment(String),
    Task(String),
}

impl WorkReference {
    /// The task that is meant.
    fn task(&self, tx: &mut dyn Tx, node: &NodeRow) -> ApiResult<String> {
        match self {
            Self::Task(task_id) => Ok(task_id.clone()),
            Self::Assignment(id) => Ok(assignment(tx, node, id)?.task_id),
        }
    }
}

/// An assignment of a node.
fn assignment(tx: &mut dyn Tx, node: &NodeRow, id: &str) -> ApiResult<SubmissionRow> {
    match submissions::get(tx, id)? {
        Some(found) if found.node_id == node.node_id => Ok(found),
        Some(_) => Err(ApiError::new(
            HubCode::NotTaskClaimer,
            "This assignment is another node's.",
            "See your own with GET /a2a/work/my.",
        )),
        None => Err(ApiError::new(
            HubCode::SubmissionNotFound,
            "There is no assignment with this id.",
            "Use the `assignment_id` that POST /a2a/work/claim returned, or see GET /a2a/work/my.",
        )),
    }
}

/// Takes work. A node that works on as much as it said it can is refused.
#[utoipa::path(post, path = "/a2a/work/claim", tag = "tasks", request_body = claim::ClaimTaskRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<claim::ClaimTaskRequest>,
) -> ApiResult<JsonReply> {
    let (task_id, node_id, deadline) = call.read()?;
    let credentials = credentials.or_secret(call.secret());
    claim_work(&hub, credentials, node_id, WorkReference::Task(task_id), deadline).await
}

/// Says that a node will do the work it was given. Work that nobody was given yet is taken.
#[utoipa::path(post, path = "/a2a/work/accept", tag = "tasks", request_body = WorkRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn accept(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<WorkRequest>,
) -> ApiResult<JsonReply> {
    let (which, node_id) = call.which()?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    claim_work(&hub, credentials, node_id, which, None).await
}

async fn claim_work(
    hub: &SharedHub,
    credentials: Credentials,
    node_id: String,
    which: WorkReference,
    deadline: Option<i64>,
) -> ApiResult<JsonReply> {
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, work, submission_id) = (hub.rules(), hub.config.work.clone(), hub.new_id("sub"));
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            let task_id = which.task(tx, &node)?;
            refuse_full(tx, &node, &task_id, rules.now)?;
            let task = claim::claim_task(tx, &node, &task_id, deadline, &submission_id, &work, rules.now)?;
            let mut told = claim::claimed(tx, &task, rules.now)?;
            told["id"] = task.submission_id.clone().into();
            told["assignment_id"] = task.submission_id.into();
            Ok(told)
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&told))
}

fn refuse_full(tx: &mut dyn Tx, node: &NodeRow, task_id: &str, now: Time) -> ApiResult<()> {
    let Some(worker) = workers::get(tx, &node.node_id)? else { return Ok(()) };
    // What it has already it may ask for again, and what is not to be had is refused for that reason.
    let waits = tasks::get(tx, task_id)?
        .is_some_and(|task| task.status_at(now) == capsid_rules::work::tasks::TaskStatus::Open);
    if !waits || !is_full(tx, node, &worker, now)? {
        return Ok(());
    }
    Err(ApiError::new(
        HubCode::WorkerFull,
        format!("The node works on as many tasks as it said it can: {}.", worker.max_load),
        "Complete or release one first, or raise `max_load` with POST /a2a/worker/register.",
    )
    .with("max_load", worker.max_load))
}

/// Hands in what was asked for, as completing the task does.
#[utoipa::path(post, path = "/a2a/work/complete", tag = "tasks", request_body = WorkRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn complete(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(call): JsonBody<WorkRequest>,
) -> ApiResult<JsonReply> {
    let (which, node_id) = call.which()?;
    let asset = complete::asset(call.result_asset_id.as_deref(), call.asset_id.as_deref());
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, pay) = (hub.rules(), complete::PayoutTerms::from_hub(&hub));
    let told = complete::retry_until_published(&hub, move |tx| {
        let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
        let task_id = which.task(tx, &node)?;
        let mut told = complete::finish(tx, &node, &task_id, asset, &pay, rules.now)?;
        told["assignment_id"] = told["submission_id"].clone();
        Ok(told)
    })
    .await?;
    Ok(JsonReply::json(&told))
}

/// Lists the work that a node took: what it works on first, then the newest.
#[utoipa::path(get, path = "/a2a/work/my", tag = "tasks", params(ListOwnTasksParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn my(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListOwnTasksParams>,
) -> ApiResult<JsonReply> {
    let (found, next) = my_page(&hub, &credentials, &query, "work.my").await?;
    let rows: Vec<Value> = found
        .iter()
        .map(|taken| {
            let mut row = my_row(taken, hub.now());
            row["id"] = taken.submission.submission_id.clone().into();
            row["assignment_id"] = taken.submission.submission_id.clone().into();
            row["assignment_status"] = taken.submission.status.clone().into();
            row
        })
        .collect();
    Ok(JsonReply::json(&json!({
        "work": rows, "assignments": rows, "count": rows.len(), "has_more": next.is_some(), "next_cursor": next,
    })))
}
