//! A node introduces itself and gets its secret and its claim code.

mod public_key;
mod request;
mod response;
mod secret;

pub use request::HelloRequest;
pub use response::{HelloResponse, HelloWelcome, NetworkManifest};

use super::view::CapabilityProfile;
use crate::auth::credentials::Credentials;
use crate::auth::message::Message;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::{A2aResponse, ResponseEnvelope};
use crate::ops::tasks::list::recommended;
use crate::runtime::hub_keys::HubKeys;
use crate::state::SharedHub;
use crate::webhooks::registration::WebhookRegistration;
use capsid_model::hash::hex;
use capsid_rules::credits;
use capsid_rules::identity::display_name::{DisplayName, NameStatus, read_name};
use capsid_rules::identity::issuing::SecretPlan;
use capsid_store::accounts::claim_codes;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::rewards;
use capsid_store::ledger;
use capsid_store::nodes::{self, NodeProfileUpdate, NodeRow, names};
use public_key::KeyChange;
use serde_json::Value;
use std::sync::Arc;

/// Registers a node, or greets one that is known.
///
/// The first hello returns the node's secret and a claim code for its user. For a minute the same network gets the same
/// secret again, and later another one, until somebody has shown it. Nobody else ever gets one.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id()))]
pub async fn hello(hub: &SharedHub, message: &Message<'_>) -> ApiResult<A2aResponse<HelloResponse>> {
    hub.limit_hellos(&message.header).await?;
    let request: HelloRequest = message.payload()?;
    request.check()?;
    let beside = message.envelope.env_fingerprint.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let machine = request.machine(beside, &hub.keys, &hub.config.identity.secret_clients);
    let webhook = match &request.webhook_url {
        Some(Value::String(url)) if url.len() <= 2000 => {
            Some(WebhookRegistration::read(hub, message.sender_id(), url).await?)
        }
        Some(_) => Some(WebhookRegistration::Refused("invalid_url")),
        None => None,
    };
    let mut fresh_secret = [0; 32];
    hub.random.fill(&mut fresh_secret);
    let envelope = hub.answer("hello");
    let mut hello = HelloContext {
        node_id: message.sender_id().to_owned(),
        is_id_assigned: message.is_sender_assigned,
        credentials: message.sender.credentials().clone(),
        rotate: request.rotates(),
        name: request.name.as_deref().map(|name| read_name(name, &hub.config.identity.reserved_names)),
        told: machine.profile,
        device_id: machine.device_id,
        keeps_secret: machine.keeps_secret,
        key: request.key_change()?,
        webhook,
        fresh_secret,
        fresh_code: hub.random.claim_code(),
        context: hub.context(),
        keys: Arc::clone(&hub.keys),
        envelope: envelope.clone(),
        hub_id: hub.hub_id.clone(),
        base: hub.config.base_url(),
    };
    let register = move |tx: &mut dyn Tx| {
        hello.context = hello.context.begin();
        register_or_update_node(tx, &hello)
    };
    let outcome = hub.store.write::<_, ApiError, _>(register).await?;
    // A refusal may have left a notice.
    if outcome.is_err() {
        hub.events.notify();
    }
    outcome.map(|response| envelope.wrap(response))
}

/// A hello on its way into the store.
struct HelloContext {
    node_id: String,
    /// Whether the hub chose the id.
    is_id_assigned: bool,
    credentials: Credentials,
    rotate: bool,
    /// The name, or why it is refused.
    name: Option<Result<DisplayName, NameStatus>>,
    told: NodeProfileUpdate,
    device_id: Option<String>,
    keeps_secret: bool,
    key: Option<KeyChange>,
    webhook: Option<WebhookRegistration>,
    fresh_secret: [u8; 32],
    fresh_code: String,
    context: OperationContext,
    keys: Arc<HubKeys>,
    envelope: ResponseEnvelope,
    hub_id: String,
    base: String,
}

impl HelloContext {
    fn sender(&self) -> Sender {
        Sender::new(&self.node_id, self.credentials.clone())
    }

    fn fresh_secret_text(&self) -> String {
        hex(&self.fresh_secret)
    }
}

/// How many tasks a hello recommends at most.
const RECOMMENDED: usize = 5;

/// The part inside a transaction. A refusal is a value here: what it noted is kept.
fn register_or_update_node(tx: &mut dyn Tx, hello: &HelloContext) -> ApiResult<ApiResult<HelloResponse>> {
    let (node_id, now) = (&hello.node_id, hello.context.now);
    let node = nodes::lock_or_register(tx, node_id, hello.context.config.node_grant, now)?;
    let decision = secret::decide(tx, hello, &node)?;
    let secret = match secret::carry_out(tx, hello, &node, &decision) {
        Ok(secret) => secret,
        // A node that only a refused hello names is not made.
        Err(error) if node.secret_version == 0 && node.total_published == 0 => return Err(error),
        Err(error) => return Ok(Err(error)),
    };
    // A stranger may greet in the name of a node, but changes nothing of it and learns nothing.
    let is_known = decision.plan != SecretPlan::Greet;
    let name_status = if is_known { update_node(tx, hello, &node)? } else { None };
    let node = nodes::lock(tx, node_id)?.unwrap_or(node);
    let mut welcome = acknowledge(tx, &node, hello, is_known)?;
    welcome.name_status = name_status;
    // What is kept for a node is not shown to a stranger.
    welcome.recommended_tasks = recommended(tx, &node, &hello.context.config.work, RECOMMENDED, now)?;
    welcome.recommended_tasks.retain(|task| is_known || task.reserved_for.is_none());
    let stage = node.stage(hello.context.config.identity.issue_window_ms, now);
    welcome.node_secret_status = secret.is_none().then(|| secret::secret_status(stage));
    // Whoever has the code can make the node theirs, so it goes where the secret is.
    if node.owner.is_none() && is_known {
        let network = &hello.credentials.network;
        let code = claim_codes::current_or_new(tx, node_id, &hello.fresh_code, network, now)?;
        welcome.claim_url = Some(format!("{}/claim/{code}", hello.base));
        welcome.claim_code = Some(code);
    }
    welcome.node_secret = secret;
    if let Some(registration) = &hello.webhook {
        let stranger = WebhookRegistration::Refused("node_secret_required");
        let registration = if is_known { registration } else { &stranger };
        let registered = registration.fulfil(tx, node_id, now)?;
        welcome.webhook_secret = registered.secret;
        welcome.webhook_status = Some(registered.status);
    }
    Ok(Ok(HelloResponse { status: "acknowledged", welcome }))
}

/// Keeps what the node says of itself, and tells what became of its name.
fn update_node(tx: &mut dyn Tx, hello: &HelloContext, node: &NodeRow) -> ApiResult<Option<NameStatus>> {
    let (node_id, now) = (&hello.node_id, hello.context.now);
    let (name, status) = choose_name(tx, hello, node)?;
    nodes::update_profile(tx, node_id, &NodeProfileUpdate { name, ..hello.told.clone() }, now)?;
    if let Some(key) = &hello.key {
        key.apply(tx, node, &hello.hub_id, now)?;
    }
    // Version 0 is a node that never said hello.
    if let Some(referrer) = hello.told.referrer.as_deref().filter(|_| node.secret_version == 0) {
        rewards::referred(tx, &hello.context.config.rewards(), node_id, referrer, now)?;
    }
    Ok(status)
}

/// The name that the node gets, and what became of the one in the hello. A name that is refused does not fail the hello.
fn choose_name(
    tx: &mut dyn Tx,
    hello: &HelloContext,
    node: &NodeRow,
) -> ApiResult<(Option<DisplayName>, Option<NameStatus>)> {
    let name = match &hello.name {
        None => return Ok((None, None)),
        Some(Err(status)) => return Ok((None, Some(*status))),
        Some(Ok(name)) => name,
    };
    if let Some(present) = &node.name {
        let is_same = *present == name.text;
        return Ok((None, Some(if is_same { NameStatus::Accepted } else { NameStatus::Unchanged })));
    }
    names::lock_name(tx, &name.key)?;
    Ok(match names::is_taken(tx, &name.key, &node.node_id, node.owner.as_deref())? {
        true => (None, Some(NameStatus::Taken)),
        false => (Some(name.clone()), Some(NameStatus::Accepted)),
    })
}

fn acknowledge(
    tx: &mut dyn Tx,
    node: &NodeRow,
    hello: &HelloContext,
    is_known: bool,
) -> ApiResult<HelloWelcome> {
    // What a node holds is its own affair.
    let held = match is_known {
        true => Some(ledger::balances(tx, &ledger::node_account(&node.node_id))?),
        false => None,
    };
    Ok(HelloWelcome {
        your_node_id: node.node_id.clone(),
        node_id_assigned_by_hub: hello.is_id_assigned.then_some(true),
        hub_node_id: hello.hub_id.clone(),
        node_secret_version: node.secret_version,
        claimed: node.owner.is_some(),
        credit_balance: held.as_ref().map(|held| credits::to_decimal(held.total)),
        granted_balance: held.as_ref().map(|held| credits::to_decimal(held.granted)),
        earned_balance: held.as_ref().map(|held| credits::to_decimal(held.earned())),
        survival_status: "alive",
        referral_code: node.node_id.clone(),
        heartbeat_interval_ms: 300_000,
        heartbeat_endpoint: "/a2a/heartbeat",
        network_manifest: NetworkManifest { name: "Capsid hub", connect: hello.base.clone() },
        capability_profile: CapabilityProfile::new(node.reputation),
        recommended_tasks: Vec::new(),
        node_secret: None,
        node_secret_status: None,
        claim_url: None,
        claim_code: None,
        name_status: None,
        webhook_secret: None,
        webhook_status: None,
    })
}
