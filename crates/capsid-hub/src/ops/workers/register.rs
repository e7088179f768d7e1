//! Registering a worker: whether a node takes work, what it is good at, and how much it does at a time.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult};
use crate::http::validate;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::work::workers;
use capsid_store::work::workers::{WorkerRow, WorkerUpdate};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most that a worker may do at a time.
pub const MAX_LOAD: i64 = 20;
/// The most words for what a worker is good at.
const MAX_DOMAINS: usize = 50;
/// The longest of them.
const MAX_DOMAIN_LEN: usize = 64;

/// How a node works.
#[derive(Debug, Deserialize, ToSchema)]
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

sender_fields!(RegisterWorkerRequest);

/// A worker that is registered.
#[derive(Debug, Serialize, ToSchema)]
pub struct RegisterWorkerResponse {
    status: &'static str,
    node_id: String,
    worker_enabled: bool,
    worker_domains: Vec<String>,
    worker_max_load: i64,
}

/// Lets the node that sends take work.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced()))]
pub async fn register_worker(
    hub: &SharedHub,
    credentials: Credentials,
    request: RegisterWorkerRequest,
) -> ApiResult<RegisterWorkerResponse> {
    let node_id = request.sender().node_id()?;
    if let Some(load) = request.max_load {
        validate::number(load, "max_load", 1.0, MAX_LOAD as f64)?;
    }
    let sender = Sender::new(&node_id, request.sender().credentials(credentials));
    let update = WorkerUpdate {
        enabled: Some(request.enabled.unwrap_or(true)),
        domains: domains_or(request.domains, "domains")?,
        max_load: request.max_load.map(|load| load as i64),
        subscribed: None,
    };
    hub.limit_calls(&sender).await?;
    let (context, id) = (hub.context(), node_id.clone());
    let worker: WorkerRow = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            Ok(workers::register(tx, &id, &update, context.now)?)
        })
        .await?;
    Ok(RegisterWorkerResponse {
        status: "worker_registered",
        node_id,
        worker_enabled: worker.enabled,
        worker_domains: worker.domains,
        worker_max_load: worker.max_load,
    })
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

/// Whether new tasks are left in a node's mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub struct SubscribeWorkerResponse {
    status: &'static str,
    subscribed: bool,
    domains: Vec<String>,
}

/// Leaves new tasks in the mailbox of a node that is authenticated and locked, or no longer.
pub fn subscribe_worker_in(
    tx: &mut dyn Tx,
    node: &NodeRow,
    update: &WorkerUpdate,
    now: Time,
) -> ApiResult<SubscribeWorkerResponse> {
    let WorkerRow { subscribed, domains, .. } = workers::register(tx, &node.node_id, update, now)?;
    let status = if subscribed { "subscribed" } else { "unsubscribed" };
    Ok(SubscribeWorkerResponse { status, subscribed, domains })
}
