//! `/a2a/worker/*` and `/a2a/work/*`: nodes that take work from a pool. An assignment is one node's try at a task, and
//! its id is the id of the submission.

use crate::auth::access::{Credentials, act_as};
use crate::config::Work;
use crate::error::{ApiError, HubCode, Result};
use crate::http::checks;
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::Params;
use crate::ops::tasks::listing::{MyQuery, my_page, my_row, node_or};
use crate::ops::tasks::task_row;
use crate::ops::tasks::{claiming, completing, ids};
use crate::state::Shared;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::Node;
use capsid_store::work::tasks;
use capsid_store::work::tasks::Task;
use capsid_store::work::tasks::listing::open_for;
use capsid_store::work::tasks::submissions;
use capsid_store::work::tasks::submissions::Submission;
use capsid_store::work::workers;
use capsid_store::work::workers::{Told, Worker};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most that a worker may do at a time.
pub const MOST_LOAD: i64 = 20;
/// The most words for what a worker is good at.
const MOST_DOMAINS: usize = 50;
/// The longest of them.
const LONGEST_DOMAIN: usize = 64;

/// How a node works.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct WorkerCall {
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
#[utoipa::path(post, path = "/a2a/worker/register", tag = "tasks", request_body = WorkerCall,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn register(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<WorkerCall>,
) -> Result<Reply> {
    let node_id = checks::node(call.sender_id.as_deref(), call.node_id.as_deref())?;
    if let Some(load) = call.max_load {
        checks::number(load, "max_load", 1.0, MOST_LOAD as f64)?;
    }
    let told = Told {
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
            act_as(tx, &rules, &id, &credentials)?;
            Ok(workers::register(tx, &id, &told, rules.now)?)
        })
        .await?;
    Ok(Reply::json(&json!({
        "status": "worker_registered",
        "node_id": node_id,
        "worker_enabled": worker.enabled,
        "worker_domains": worker.domains,
        "worker_max_load": worker.max_load,
    })))
}

/// Checks words for what a worker is good at.
pub fn domains_or(domains: Option<Vec<String>>, path: &str) -> Result<Option<Vec<String>>> {
    let Some(domains) = domains else { return Ok(None) };
    checks::list(&domains, path, MOST_DOMAINS, LONGEST_DOMAIN)?;
    for (n, domain) in domains.iter().enumerate() {
        checks::name(domain, &format!("{path}[{n}]"), LONGEST_DOMAIN)?;
    }
    Ok(Some(domains))
}

/// Whose work is wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WorkQuery {
    /// The node.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

/// Lists the work that a node could take now. Who works on as much as it said it can is shown none.
#[utoipa::path(get, path = "/a2a/work/available", tag = "tasks", params(WorkQuery),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn available(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(query): Params<WorkQuery>,
) -> Result<Reply> {
    hub.take_read(&credentials).await?;
    let node_id = node_or(query.node_id.as_deref())?.unwrap_or_default();
    let (work, now) = (hub.config.work.clone(), hub.now());
    let most = query::limit(query.limit.as_deref(), 20, 100) as usize;
    let found = hub.read_as(&node_id, &credentials, move |tx, node| find(tx, node, &work, most, now)).await?;
    let rows: Vec<Value> = found.iter().map(|task| task_row::task(task, now)).collect();
    Ok(Reply::json(&json!({ "work": rows, "tasks": rows, "count": rows.len() })))
}

/// The work that a node could take now.
fn find(tx: &mut dyn Tx, node: Option<&Node>, work: &Work, most: usize, now: Time) -> Result<Vec<Task>> {
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
pub fn for_worker(tx: &mut dyn Tx, node: &Node, work: &Work, most: usize, now: Time) -> Result<Vec<Task>> {
    match workers::get(tx, &node.node_id)? {
        Some(worker) if worker.enabled => find(tx, Some(node), work, most, now),
        _ => Ok(Vec::new()),
    }
}

fn is_full(tx: &mut dyn Tx, node: &Node, worker: &Worker, now: Time) -> Result<bool> {
    Ok(workers::load(tx, &node.node_id, now)? >= worker.max_load)
}

/// Which work is meant: the assignment, or the task.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct WorkCall {
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

impl WorkCall {
    /// The assignment and the node, or the task and the node.
    fn which(&self) -> Result<(Which, String)> {
        let (sender, node) = (self.sender_id.as_deref(), self.node_id.as_deref());
        match self.assignment_id.as_deref().filter(|id| !id.trim().is_empty()) {
            Some(id) => {
                let (id, node_id) = ids(Some(id), sender, node)?;
                Ok((Which::Assignment(id), node_id))
            }
            None => {
                let (id, node_id) = ids(self.task_id.as_deref(), sender, node)?;
                Ok((Which::Task(id), node_id))
            }
        }
    }
}

/// How a call names work.
#[derive(Debug, Clone)]
enum Which {
    Assignment(String),
    Task(String),
}

impl Which {
    /// The task that is meant.
    fn task(&self, tx: &mut dyn Tx, node: &Node) -> Result<String> {
        match self {
            Self::Task(task_id) => Ok(task_id.clone()),
            Self::Assignment(id) => Ok(assignment(tx, node, id)?.task_id),
        }
    }
}

/// An assignment of a node.
fn assignment(tx: &mut dyn Tx, node: &Node, id: &str) -> Result<Submission> {
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
#[utoipa::path(post, path = "/a2a/work/claim", tag = "tasks", request_body = claiming::ClaimCall,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn claim(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<claiming::ClaimCall>,
) -> Result<Reply> {
    let (task_id, node_id, deadline) = call.read()?;
    let credentials = credentials.or_secret(call.secret());
    take(&hub, credentials, node_id, Which::Task(task_id), deadline).await
}

/// Says that a node will do the work it was given. Work that nobody was given yet is taken.
#[utoipa::path(post, path = "/a2a/work/accept", tag = "tasks", request_body = WorkCall,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn accept(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<WorkCall>,
) -> Result<Reply> {
    let (which, node_id) = call.which()?;
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    take(&hub, credentials, node_id, which, None).await
}

async fn take(
    hub: &Shared,
    credentials: Credentials,
    node_id: String,
    which: Which,
    deadline: Option<i64>,
) -> Result<Reply> {
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, work, submission_id) = (hub.rules(), hub.config.work.clone(), hub.new_id("sub"));
    let told = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = act_as(tx, &rules, &node_id, &credentials)?;
            let task_id = which.task(tx, &node)?;
            refuse_full(tx, &node, &task_id, rules.now)?;
            let task = claiming::take(tx, &node, &task_id, deadline, &submission_id, &work, rules.now)?;
            let mut told = claiming::claimed(tx, &task, rules.now)?;
            told["id"] = task.submission_id.clone().into();
            told["assignment_id"] = task.submission_id.into();
            Ok(told)
        })
        .await?;
    hub.events.ring();
    Ok(Reply::json(&told))
}

fn refuse_full(tx: &mut dyn Tx, node: &Node, task_id: &str, now: Time) -> Result<()> {
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
#[utoipa::path(post, path = "/a2a/work/complete", tag = "tasks", request_body = WorkCall,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn complete(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(call): JsonBody<WorkCall>,
) -> Result<Reply> {
    let (which, node_id) = call.which()?;
    let asset = completing::asset(call.result_asset_id.as_deref(), call.asset_id.as_deref());
    let credentials = credentials.or_secret(call.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, pay) = (hub.rules(), completing::Pay::of(&hub));
    let told = completing::patiently(&hub, move |tx| {
        let node = act_as(tx, &rules, &node_id, &credentials)?;
        let task_id = which.task(tx, &node)?;
        let mut told = completing::finish(tx, &node, &task_id, asset, &pay, rules.now)?;
        told["assignment_id"] = told["submission_id"].clone();
        Ok(told)
    })
    .await?;
    Ok(Reply::json(&told))
}

/// Lists the work that a node took: what it works on first, then the newest.
#[utoipa::path(get, path = "/a2a/work/my", tag = "tasks", params(MyQuery),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn my(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(query): Params<MyQuery>,
) -> Result<Reply> {
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
    Ok(Reply::json(&json!({
        "work": rows, "assignments": rows, "count": rows.len(), "has_more": next.is_some(), "next_cursor": next,
    })))
}
