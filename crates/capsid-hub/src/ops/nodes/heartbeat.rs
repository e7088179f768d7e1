//! `POST /a2a/heartbeat`: a node says that it is there, and hears what is new.

use crate::auth::credentials::{Credentials, OperationContext, authenticate_node};
use crate::config::TasksConfig;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json;
use crate::http::json::JsonText;
use crate::http::validate;
use crate::ops::events::stream::event_view;
use crate::ops::tasks::claim;
use crate::ops::tasks::claim::deadline_or;
use crate::ops::tasks::ids;
use crate::ops::tasks::list::recommended;
use crate::ops::tasks::view;
use crate::ops::workers::register::{MAX_LOAD, domains_or, for_worker};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_store::accounts::claim_codes;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::nodes::NodeRow;
use capsid_store::notifications::events;
use capsid_store::notifications::events::EventChannel;
use capsid_store::work::tasks::list as task_list;
use capsid_store::work::workers;
use capsid_store::work::workers::WorkerUpdate;
use serde::Deserialize;
use serde_json::{Value, json};

/// How long a node should wait before the next heartbeat.
const INTERVAL_MS: i64 = 300_000;
/// The most events in one answer.
const MAX_EVENTS: i64 = 50;

/// What of a heartbeat is read, bare or in an envelope. What it tells about its machine is not kept.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Heartbeat)]
struct HeartbeatRequest {
    message_type: Option<String>,
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    /// Whether the node takes work.
    worker_enabled: Option<bool>,
    /// What it is good at.
    worker_domains: Option<Vec<String>>,
    /// How many tasks it does at a time.
    max_load: Option<f64>,
    meta: Option<HeartbeatMeta>,
    payload: Option<HeartbeatPayload>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = HeartbeatPayload)]
struct HeartbeatPayload {
    node_id: Option<String>,
    meta: Option<HeartbeatMeta>,
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[schema(as = HeartbeatMeta)]
struct HeartbeatMeta {
    worker_enabled: Option<bool>,
    worker_domains: Option<Vec<String>>,
    max_load: Option<f64>,
    worker_max_load: Option<f64>,
    /// By when tasks are promised now.
    commitment_updates: Option<Vec<CommitmentUpdate>>,
}

/// A promise about one task.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
#[schema(as = CommitmentUpdate)]
struct CommitmentUpdate {
    task_id: Option<String>,
    #[schema(value_type = Option<String>)]
    deadline: Option<Value>,
    #[schema(value_type = Option<String>)]
    commitment_deadline: Option<Value>,
}

/// The most promises in one heartbeat.
const MAX_UPDATES: usize = 20;
/// The most tasks that an answer recommends.
const MAX_TASKS: usize = 5;
/// The most late tasks in an answer.
const MAX_LATE: i64 = 20;

/// What a heartbeat changes.
#[derive(Debug, Clone)]
struct HeartbeatChanges {
    worker: WorkerUpdate,
    updates: Vec<CommitmentUpdate>,
}

impl HeartbeatChanges {
    fn read(told: &mut HeartbeatRequest) -> ApiResult<Self> {
        let inner = told.payload.as_mut().and_then(|payload| payload.meta.take());
        let meta = told.meta.take().or(inner).unwrap_or_default();
        let domains = told.worker_domains.take().or(meta.worker_domains);
        let load = told.max_load.or(meta.max_load).or(meta.worker_max_load);
        let updates = meta.commitment_updates.unwrap_or_default();
        if updates.len() > MAX_UPDATES {
            let received = format!("{} entries", updates.len());
            let expected = format!("a list of at most {MAX_UPDATES} entries");
            return Err(ApiError::field("meta.commitment_updates", expected, received));
        }
        let worker = WorkerUpdate {
            enabled: told.worker_enabled.or(meta.worker_enabled),
            domains: domains_or(domains, "worker_domains")?,
            // A heartbeat that asks for too much still says that the node is there.
            max_load: load.map(|load| (load as i64).clamp(1, MAX_LOAD)),
            subscribed: None,
        };
        Ok(Self { worker, updates })
    }
}

/// Tells the hub that a node is there.
///
/// A node that the hub does not know gets the status `unknown_node` and should say hello.
#[utoipa::path(post, path = "/a2a/heartbeat", tag = "messages", request_body = HeartbeatRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn heartbeat(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let mut told: HeartbeatRequest = json::read(&text, "")?;
    if told.message_type.as_ref().is_some_and(|kind| kind != "heartbeat") {
        return Err(ApiError::new(
            HubCode::MessageTypeMismatch,
            "This endpoint takes messages of the type `heartbeat`.",
            "Send the message with `message_type` set to `heartbeat`, or to the endpoint of its type.",
        ));
    }
    let news = HeartbeatChanges::read(&mut told)?;
    let inner = told.payload.and_then(|payload| payload.node_id);
    let node_id = validate::node(told.sender_id.as_deref(), told.node_id.or(inner).as_deref())?;
    let credentials = credentials.or_secret(told.node_secret.as_deref());
    // Whoever may not speak for the node cannot use up its heartbeats either.
    if !hub.authenticate_reader(&node_id, &credentials, |_, node| Ok(node.is_some())).await? {
        return Ok(JsonReply::json(&json!({ "status": "unknown_node", "your_node_id": node_id,
            "reason": "The hub does not know this node. Say hello first: POST /a2a/hello." })));
    }
    let limit = hub.config.limits.heartbeat;
    hub.limiter.check(&hub.store, HubCode::RateLimited, "heartbeat", &node_id, limit, hub.now()).await?;
    let (rules, base, fresh) = (hub.rules(), hub.config.base_url(), hub.random.claim_code());
    let work = hub.config.work.clone();
    let answer = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            let mut answer = build_response(tx, &rules, &node, &base, &fresh)?;
            add_work(tx, &node, &news, &work, rules.now, &mut answer)?;
            Ok(answer)
        })
        .await?;
    Ok(JsonReply::json(&answer))
}

/// Keeps what the node says of its work, and adds what there is for it to do.
fn add_work(
    tx: &mut dyn Tx,
    node: &NodeRow,
    news: &HeartbeatChanges,
    work: &TasksConfig,
    now: Time,
    answer: &mut Value,
) -> ApiResult<()> {
    if !news.worker.is_empty() {
        workers::register(tx, &node.node_id, &news.worker, now)?;
    }
    let mut results = Vec::with_capacity(news.updates.len());
    for update in &news.updates {
        results.push(update_commitment(tx, node, update, now)?);
    }
    answer["commitment_results"] = results.into();
    answer["overdue_tasks"] = late(tx, node, now)?.into();
    answer["available_tasks"] = recommended(tx, node, work, MAX_TASKS, now)?.into();
    let for_worker = for_worker(tx, node, work, MAX_TASKS, now)?;
    answer["available_work"] = for_worker.iter().map(|task| view::task(task, now)).collect();
    Ok(())
}

/// Keeps one promise. What is wrong with it is told, and keeps nothing else from being done.
fn update_commitment(
    tx: &mut dyn Tx,
    node: &NodeRow,
    update: &CommitmentUpdate,
    now: Time,
) -> ApiResult<Value> {
    let task_id = update.task_id.as_deref().unwrap_or_default();
    let read = || {
        ids(Some(task_id), None, Some(&node.node_id))?;
        let deadline = update.deadline.as_ref().or(update.commitment_deadline.as_ref());
        deadline_or(deadline, "deadline")?.ok_or_else(|| ApiError::field("deadline", "a time", "missing"))
    };
    let kept = read().and_then(|deadline| claim::commit_task(tx, node, task_id, deadline, now));
    match kept {
        Ok(task) => Ok(json!({ "task_id": task_id, "ok": true, "status": "accepted",
            "commitment_deadline": task.commitment_deadline.map(|ms| Time(ms).iso()) })),
        Err(error) if error.code.status() >= 500 => Err(error),
        Err(error) => Ok(
            json!({ "task_id": crate::error::truncate_for_client(task_id), "ok": false, "status": "rejected",
            "error": error.code.as_str(), "reason": error.problem }),
        ),
    }
}

/// Tasks that the node promised to have done by now. One that was cut into parts waits for others.
fn late(tx: &mut dyn Tx, node: &NodeRow, now: Time) -> ApiResult<Vec<Value>> {
    let tasks = task_list::working_on(tx, &node.node_id, MAX_LATE, now)?;
    let late = tasks.iter().filter(|task| task.decomposed_at.is_none()).filter_map(|task| {
        let deadline = task.commitment_deadline.filter(|deadline| *deadline <= now.0)?;
        Some(json!({
            "task_id": task.task_id,
            "title": task.title,
            "commitment_deadline": Time(deadline).iso(),
            "overdue_minutes": (now.0 - deadline) / 60_000,
        }))
    });
    Ok(late.collect())
}

fn build_response(
    tx: &mut dyn Tx,
    rules: &OperationContext,
    node: &NodeRow,
    base: &str,
    fresh_code: &str,
) -> ApiResult<Value> {
    let node_id = node.node_id.as_str();
    let told = events::begin(tx, node_id, EventChannel::Heartbeat, None)?;
    let news = events::after(tx, node_id, told, MAX_EVENTS, rules.now)?;
    if let Some(last) = news.last() {
        events::advance_cursor(tx, node_id, EventChannel::Heartbeat, last.seq)?;
    }
    let claimed = node.owner.is_some();
    let mut claim_state = json!({ "claimed": claimed });
    if !claimed {
        let code = claim_codes::current_or_new(tx, node_id, fresh_code, rules.now)?;
        claim_state =
            json!({ "claimed": false, "claim_url": format!("{base}/claim/{code}"), "claim_code": code });
    }
    let news: Vec<Value> = news.iter().map(event_view).collect();
    Ok(json!({
        "status": "ok",
        "your_node_id": node_id,
        "node_status": node.status,
        "survival_status": "alive",
        "credit_balance": credits::to_decimal(ledger::balance(tx, &ledger::node_account(node_id))?),
        "server_time": rules.now.iso(),
        "next_heartbeat_ms": INTERVAL_MS,
        "pending_events": news,
        "events": news,
        "pending_deliveries": [],
        "claimed": claimed,
        "claim_state": claim_state,
    }))
}
