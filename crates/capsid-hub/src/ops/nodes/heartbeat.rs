//! A node says that it is there, and hears what is new.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode, truncate_for_client};
use crate::http::validate;
use crate::ops::events::view::EventView;
use crate::ops::tasks::commit::commit_task_in;
use crate::ops::tasks::deadline_or;
use crate::ops::tasks::ids;
use crate::ops::tasks::list::recommended;
use crate::ops::tasks::view::TaskView;
use crate::ops::workers::available::for_worker;
use crate::ops::workers::register::{MAX_LOAD, domains_or};
use crate::state::SharedHub;
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
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

/// How long a node should wait before the next heartbeat.
const INTERVAL_MS: i64 = 300_000;
/// The most events in one answer.
const MAX_EVENTS: i64 = 50;

/// What of a heartbeat is read, bare or in an envelope. What it tells about its machine is not kept.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Heartbeat)]
pub struct HeartbeatRequest {
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

/// The answer to a heartbeat. A node that the hub does not know gets `status`, `your_node_id` and `reason` only.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeartbeatResponse {
    /// ok, or unknown_node: it should say hello.
    status: &'static str,
    your_node_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    reason: Option<&'static str>,
    #[serde(flatten)]
    #[schema(value_type = HeartbeatNews)]
    news: Option<HeartbeatNews>,
}

/// What is new for a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeartbeatNews {
    #[schema(required = false)]
    node_status: String,
    #[schema(required = false)]
    survival_status: &'static str,
    #[schema(value_type = f64, required = false)]
    credit_balance: Number,
    #[schema(value_type = f64, required = false)]
    granted_balance: Number,
    #[schema(value_type = f64, required = false)]
    earned_balance: Number,
    #[schema(required = false)]
    server_time: String,
    #[schema(required = false)]
    next_heartbeat_ms: i64,
    #[schema(required = false)]
    pending_events: Vec<EventView>,
    /// The same as `pending_events`.
    #[schema(required = false)]
    events: Vec<EventView>,
    /// Always empty: deliveries come by webhook and mailbox.
    #[schema(required = false)]
    pending_deliveries: Vec<String>,
    /// Whether an account owns the node.
    #[schema(required = false)]
    claimed: bool,
    #[schema(required = false)]
    claim_state: ClaimState,
    /// What became of each promise.
    #[schema(required = false)]
    commitment_results: Vec<CommitmentResult>,
    /// Tasks that the node promised to have done by now.
    #[schema(required = false)]
    overdue_tasks: Vec<OverdueTask>,
    /// Tasks that the node could take now.
    #[schema(required = false)]
    available_tasks: Vec<TaskView>,
    /// The same for a node that takes work.
    #[schema(required = false)]
    available_work: Vec<TaskView>,
}

/// Whether an account owns a node, and how one gets it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClaimState {
    claimed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    claim_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    claim_code: Option<String>,
}

/// What became of one promise.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum CommitmentResult {
    Accepted(AcceptedCommitment),
    Rejected(RejectedCommitment),
}

/// A promise that was kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct AcceptedCommitment {
    task_id: String,
    ok: bool,
    status: &'static str,
    #[schema(required)]
    commitment_deadline: Option<String>,
}

/// A promise that cannot be kept, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedCommitment {
    task_id: String,
    ok: bool,
    status: &'static str,
    error: &'static str,
    reason: String,
}

/// A task that the node promised to have done by now.
#[derive(Debug, Serialize, ToSchema)]
pub struct OverdueTask {
    task_id: String,
    title: String,
    commitment_deadline: String,
    overdue_minutes: i64,
}

/// Tells the hub that a node is there.
///
/// A node that the hub does not know gets the status `unknown_node` and should say hello.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn heartbeat(
    hub: &SharedHub,
    credentials: Credentials,
    mut request: HeartbeatRequest,
) -> ApiResult<HeartbeatResponse> {
    if request.message_type.as_ref().is_some_and(|kind| kind != "heartbeat") {
        return Err(ApiError::new(
            HubCode::MessageTypeMismatch,
            "This endpoint takes messages of the type `heartbeat`.",
            "Send the message with `message_type` set to `heartbeat`, or to the endpoint of its type.",
        ));
    }
    let changes = HeartbeatChanges::read(&mut request)?;
    let inner = request.payload.and_then(|payload| payload.node_id);
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.or(inner).as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    // Whoever may not speak for the node cannot use up its heartbeats either.
    if sender.verify(hub).await?.is_none() {
        return Ok(HeartbeatResponse {
            status: "unknown_node",
            your_node_id: node_id,
            reason: Some("The hub does not know this node. Say hello first: POST /a2a/hello."),
            news: None,
        });
    }
    let limit = hub.config.limits.heartbeat;
    hub.limiter.check(&hub.store, HubCode::RateLimited, "heartbeat", &node_id, limit, hub.now()).await?;
    let (context, base, fresh) = (hub.context(), hub.config.base_url(), hub.random.claim_code());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            let code = claim_code(tx, &context, &sender, &node, &fresh)?;
            let mut news = load_news(tx, &context, &node, &base, code)?;
            exchange_work(tx, &context, &node, &changes, &mut news)?;
            let your_node_id = node.node_id;
            Ok(HeartbeatResponse { status: "ok", your_node_id, reason: None, news: Some(news) })
        })
        .await
}

/// Keeps what the node says of its work, and adds what there is for it to do.
fn exchange_work(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    changes: &HeartbeatChanges,
    news: &mut HeartbeatNews,
) -> ApiResult<()> {
    let (work, now) = (&context.config.work, context.now);
    if !changes.worker.is_empty() {
        workers::register(tx, &node.node_id, &changes.worker, now)?;
    }
    for update in &changes.updates {
        news.commitment_results.push(update_commitment(tx, node, update, now)?);
    }
    news.overdue_tasks = late(tx, node, now)?;
    news.available_tasks = recommended(tx, node, work, MAX_TASKS, now)?;
    news.available_work = for_worker(tx, node, work, MAX_TASKS, now)?;
    Ok(())
}

/// Keeps one promise. What is wrong with it is answered, and keeps nothing else from being done.
fn update_commitment(
    tx: &mut dyn Tx,
    node: &NodeRow,
    update: &CommitmentUpdate,
    now: Time,
) -> ApiResult<CommitmentResult> {
    let task_id = update.task_id.as_deref().unwrap_or_default();
    let read = || {
        ids(Some(task_id), None, Some(&node.node_id))?;
        let deadline = update.deadline.as_ref().or(update.commitment_deadline.as_ref());
        deadline_or(deadline, "deadline")?.ok_or_else(|| ApiError::field("deadline", "a time", "missing"))
    };
    let kept = read().and_then(|deadline| commit_task_in(tx, node, task_id, deadline, now));
    match kept {
        Ok(task) => Ok(CommitmentResult::Accepted(AcceptedCommitment {
            task_id: task_id.to_owned(),
            ok: true,
            status: "accepted",
            commitment_deadline: task.commitment_deadline.map(|ms| Time(ms).iso()),
        })),
        Err(error) if error.code.status() >= 500 => Err(error),
        Err(error) => Ok(CommitmentResult::Rejected(RejectedCommitment {
            task_id: truncate_for_client(task_id),
            ok: false,
            status: "rejected",
            error: error.code.as_str(),
            reason: error.problem,
        })),
    }
}

/// Tasks that the node promised to have done by now. One that was cut into parts waits for others.
fn late(tx: &mut dyn Tx, node: &NodeRow, now: Time) -> ApiResult<Vec<OverdueTask>> {
    let tasks = task_list::working_on(tx, &node.node_id, MAX_LATE, now)?;
    let late = tasks.into_iter().filter(|task| task.decomposed_at.is_none()).filter_map(|task| {
        let deadline = task.commitment_deadline.filter(|deadline| *deadline <= now.0)?;
        Some(OverdueTask {
            task_id: task.task_id,
            title: task.title,
            commitment_deadline: Time(deadline).iso(),
            overdue_minutes: (now.0 - deadline) / 60_000,
        })
    });
    Ok(late.collect())
}

/// The code with which a person makes the node theirs. It is returned to whoever shows the secret, and to nobody else.
fn claim_code(
    tx: &mut dyn Tx,
    context: &OperationContext,
    sender: &Sender,
    node: &NodeRow,
    fresh: &str,
) -> ApiResult<Option<String>> {
    if node.owner.is_some() || !sender.actor(tx, context, node)?.can_see_claim_code() {
        return Ok(None);
    }
    let network = &sender.credentials().network;
    Ok(Some(claim_codes::current_or_new(tx, &node.node_id, fresh, network, context.now)?))
}

fn load_news(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    base: &str,
    code: Option<String>,
) -> ApiResult<HeartbeatNews> {
    let node_id = node.node_id.as_str();
    let seen = events::begin(tx, node_id, EventChannel::Heartbeat, None)?;
    let unseen = events::after(tx, node_id, seen, MAX_EVENTS, context.now)?;
    if let Some(last) = unseen.last() {
        events::advance_cursor(tx, node_id, EventChannel::Heartbeat, last.seq)?;
    }
    let claimed = node.owner.is_some();
    let events = unseen.into_iter().map(EventView::from_row).collect::<ApiResult<Vec<_>>>()?;
    let held = ledger::balances(tx, &ledger::node_account(node_id))?;
    Ok(HeartbeatNews {
        node_status: node.status.clone(),
        survival_status: "alive",
        credit_balance: credits::to_decimal(held.total),
        granted_balance: credits::to_decimal(held.granted),
        earned_balance: credits::to_decimal(held.earned()),
        server_time: context.now.iso(),
        next_heartbeat_ms: INTERVAL_MS,
        pending_events: events.clone(),
        events,
        pending_deliveries: Vec::new(),
        claimed,
        claim_state: ClaimState {
            claimed,
            claim_url: code.as_ref().map(|code| format!("{base}/claim/{code}")),
            claim_code: code,
        },
        commitment_results: Vec::new(),
        overdue_tasks: Vec::new(),
        available_tasks: Vec::new(),
        available_work: Vec::new(),
    })
}
