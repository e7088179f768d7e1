//! A node introduces itself and gets its secret and its claim code.

use super::view::CapabilityProfile;
use crate::auth::credentials::Credentials;
use crate::auth::message::Message;
use crate::auth::sender::access_denied;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::A2aResponse;
use crate::http::validate;
use crate::ops::tasks::list::recommended;
use crate::ops::tasks::view::TaskView;
use crate::state::SharedHub;
use crate::webhooks::registration::WebhookRegistration;
use capsid_rules::credits;
use capsid_rules::identity::secrets::{
    AccessDenial, PresentedSecret, RotationDenial, SecretState, hello_shows_secret, may_rotate,
};
use capsid_store::accounts::claim_codes;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::rewards;
use capsid_store::ledger;
use capsid_store::nodes::{self, NodeProfileUpdate, NodeRow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use utoipa::ToSchema;

/// What a hello may say.
#[derive(Debug, Default, Deserialize)]
pub struct HelloRequest {
    // Only what kind of thing it is gets checked.
    #[serde(rename = "capabilities")]
    _capabilities: Option<Map<String, Value>>,
    gene_count: Option<f64>,
    capsule_count: Option<f64>,
    env_fingerprint: Option<Map<String, Value>>,
    // Whatever it is, it does not fail the hello.
    webhook_url: Option<Value>,
    model: Option<String>,
    name: Option<String>,
    referrer: Option<String>,
    identity_doc: Option<String>,
    constitution: Option<String>,
    rotate_secret: Option<bool>,
}

/// The answer to a hello. One that is refused has `status` and `reason` only.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct HelloResponse {
    /// acknowledged or rejected.
    status: &'static str,
    /// Why it is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    reason: Option<&'static str>,
    #[serde(flatten)]
    #[schema(value_type = HelloWelcome)]
    welcome: Option<HelloWelcome>,
}

/// What a node that says hello learns.
#[derive(Debug, Serialize, ToSchema)]
pub struct HelloWelcome {
    #[schema(required = false)]
    your_node_id: String,
    #[schema(required = false)]
    hub_node_id: String,
    #[schema(required = false)]
    node_secret_version: i64,
    /// Whether an account owns the node.
    #[schema(required = false)]
    claimed: bool,
    #[schema(value_type = f64, required = false)]
    credit_balance: Number,
    #[schema(value_type = f64, required = false)]
    granted_balance: Number,
    #[schema(value_type = f64, required = false)]
    earned_balance: Number,
    #[schema(required = false)]
    survival_status: &'static str,
    #[schema(required = false)]
    referral_code: String,
    #[schema(required = false)]
    heartbeat_interval_ms: i64,
    #[schema(required = false)]
    heartbeat_endpoint: &'static str,
    #[schema(required = false)]
    network_manifest: NetworkManifest,
    #[schema(required = false)]
    capability_profile: CapabilityProfile,
    /// Tasks that the node could take now.
    #[schema(required = false)]
    recommended_tasks: Vec<TaskView>,
    /// The node's secret, as long as nobody has shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    node_secret: Option<String>,
    /// not_set or active, where the secret is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    node_secret_status: Option<&'static str>,
    /// Where a person makes the node theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    claim_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    claim_code: Option<String>,
    /// What calls to the node's webhook are signed with, if its address is a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    webhook_secret: Option<String>,
    /// registered, removed, or rejected and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    webhook_status: Option<String>,
}

/// The hub, as a node remembers it.
#[derive(Debug, Serialize, ToSchema)]
pub struct NetworkManifest {
    name: &'static str,
    connect: String,
}

/// Registers a node, or greets one that is known.
///
/// The first hello returns the node's secret and a claim code for its user. Later ones return the same until the
/// secret is shown for the first time.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id()))]
pub async fn hello(hub: &SharedHub, message: &Message<'_>) -> ApiResult<A2aResponse<HelloResponse>> {
    let (limit, address) = (hub.config.limits.hello, &message.header.address);
    hub.limiter.check(&hub.store, HubCode::HelloRateLimit, "hello", address, limit, hub.now()).await?;
    let told: HelloRequest = message.payload()?;
    check(&told)?;
    let fingerprint = told.env_fingerprint.clone().or_else(|| {
        let beside = message.envelope.env_fingerprint?;
        serde_json::from_str(beside.get()).ok()
    });
    let webhook = match &told.webhook_url {
        Some(Value::String(url)) if url.len() <= 2000 => {
            Some(WebhookRegistration::read(hub, message.sender_id(), url).await?)
        }
        Some(_) => Some(WebhookRegistration::Refused("invalid_url")),
        None => None,
    };
    let greeting = HelloContext {
        node_id: message.sender_id().to_owned(),
        credentials: message.sender.credentials().clone(),
        rotate: told.rotate_secret == Some(true),
        told: introduction(&told, fingerprint.as_ref()),
        webhook,
        fresh_secret: hub.random.hex(32),
        fresh_code: hub.random.claim_code(),
        context: hub.context(),
        hub_id: hub.hub_id.clone(),
        base: hub.config.base_url(),
    };
    let envelope = hub.answer("hello");
    let response = hub.store.write(move |tx| register_or_update_node(tx, &greeting)).await?;
    Ok(envelope.wrap(response))
}

fn check(told: &HelloRequest) -> ApiResult<()> {
    let limits = [
        (&told.name, "payload.name", 32),
        (&told.model, "payload.model", 200),
        (&told.referrer, "payload.referrer", 128),
        (&told.identity_doc, "payload.identity_doc", 8000),
        (&told.constitution, "payload.constitution", 8000),
    ];
    for (value, path, most) in limits {
        validate::text_or(value.as_deref(), path, most)?;
    }
    Ok(())
}

fn introduction(told: &HelloRequest, fingerprint: Option<&Map<String, Value>>) -> NodeProfileUpdate {
    let text = |key: &str| {
        fingerprint
            .and_then(|map| map.get(key))
            .and_then(Value::as_str)
            .map(|text| capsid_model::text::cut(text, 200).to_owned())
    };
    let count = |value: Option<f64>| value.filter(|n| (0.0..1e9).contains(n)).map(|n| n as i64);
    NodeProfileUpdate {
        name: told.name.clone().filter(|name| !name.trim().is_empty()),
        model: told.model.clone().or_else(|| text("model")),
        referrer: told.referrer.clone(),
        device_id: text("device_id").filter(|device| !device.trim().is_empty()),
        env_fingerprint: fingerprint
            .and_then(|map| serde_json::to_string(map).ok())
            .filter(|json| json.len() <= 8192),
        gene_count: count(told.gene_count),
        capsule_count: count(told.capsule_count),
    }
}

struct HelloContext {
    node_id: String,
    credentials: Credentials,
    rotate: bool,
    told: NodeProfileUpdate,
    webhook: Option<WebhookRegistration>,
    fresh_secret: String,
    fresh_code: String,
    context: OperationContext,
    hub_id: String,
    base: String,
}

/// How many tasks a hello recommends at most.
const RECOMMENDED: usize = 5;

fn register_or_update_node(tx: &mut dyn Tx, greeting: &HelloContext) -> ApiResult<HelloResponse> {
    let (node_id, now) = (&greeting.node_id, greeting.context.now);
    let mut node = nodes::lock_or_register(tx, node_id, greeting.context.config.node_grant, now)?;
    let presented = greeting.credentials.presented_to(&node);
    if greeting.rotate {
        let same_device = is_same_device(tx, greeting, &node)?;
        if let Err(denial) = may_rotate(node.secret_state, presented, same_device, node.owner.is_some()) {
            return refuse_rotation(denial);
        }
    }
    let secret = issue_or_bind_secret(tx, greeting, &node, presented)?;
    // A stranger may greet in the name of a node that has shown its secret, but changes nothing else of it.
    let known = node.secret_state != SecretState::Bound || presented == PresentedSecret::Right;
    if known {
        nodes::update_profile(tx, node_id, &greeting.told, now)?;
        // Version 0 is a node that never said hello.
        if let Some(referrer) = greeting.told.referrer.as_deref().filter(|_| node.secret_version == 0) {
            rewards::referred(tx, &greeting.context.config.rewards(), node_id, referrer, now)?;
        }
    }
    node = nodes::lock(tx, node_id)?.unwrap_or(node);
    let mut welcome = acknowledge(tx, &node, greeting)?;
    // What is kept for a node is not shown to a stranger.
    welcome.recommended_tasks = recommended(tx, &node, &greeting.context.config.work, RECOMMENDED, now)?;
    welcome.recommended_tasks.retain(|task| known || task.reserved_for.is_none());
    welcome.node_secret_status = secret.is_none().then(|| secret_status(&node));
    welcome.node_secret = secret;
    // Whoever has the code can make the node theirs, so a stranger is not shown the code of a bound one.
    if node.owner.is_none() && known {
        let code = claim_codes::current_or_new(tx, node_id, &greeting.fresh_code, now)?;
        welcome.claim_url = Some(format!("{}/claim/{code}", greeting.base));
        welcome.claim_code = Some(code);
    }
    if let Some(registration) = &greeting.webhook {
        let stranger = WebhookRegistration::Refused("node_secret_required");
        let registration = if known { registration } else { &stranger };
        let registered = registration.fulfil(tx, node_id, now)?;
        welcome.webhook_secret = registered.secret;
        welcome.webhook_status = Some(registered.status);
    }
    Ok(HelloResponse { status: "acknowledged", reason: None, welcome: Some(welcome) })
}

/// Whether a hello comes from the machine that the node registered from. What the node itself has told the world proves
/// nothing.
fn is_same_device(tx: &mut dyn Tx, greeting: &HelloContext, node: &NodeRow) -> ApiResult<bool> {
    match &greeting.told.device_id {
        Some(device) if node.device_id.as_ref() == Some(device) => {
            let quoted = Value::from(device.as_str()).to_string();
            Ok(!nodes::has_published(tx, &node.node_id, quoted.trim_matches('"'))?)
        }
        _ => Ok(false),
    }
}

/// Gives the node the secret it is due, and the secret that this one answer shows, if it shows any.
fn issue_or_bind_secret(
    tx: &mut dyn Tx,
    greeting: &HelloContext,
    node: &NodeRow,
    presented: PresentedSecret,
) -> ApiResult<Option<String>> {
    let (node_id, fresh) = (&node.node_id, &greeting.fresh_secret);
    let shows = hello_shows_secret(node.secret_state, node.owner.is_some());
    // Whoever is bound stays bound: otherwise the next stranger would be told the new secret.
    if greeting.rotate && (node.secret_state == SecretState::Bound || presented == PresentedSecret::Right) {
        nodes::replace_secret(tx, node_id, fresh)?;
        return Ok(Some(fresh.clone()));
    }
    if greeting.rotate || (node.secret_state == SecretState::None && shows) {
        nodes::issue_secret(tx, node_id, fresh)?;
        return Ok(Some(fresh.clone()));
    }
    match presented {
        PresentedSecret::Wrong => Err(access_denied(AccessDenial::SecretInvalid, node_id)),
        PresentedSecret::Right => Ok(nodes::bind_secret(tx, node_id).map(|()| None)?),
        PresentedSecret::Nothing => Ok(node.issued_secret.clone().filter(|_| shows)),
    }
}

/// How it stands with a secret that is not shown.
fn secret_status(node: &NodeRow) -> &'static str {
    match node.secret_state {
        SecretState::None => "not_set",
        SecretState::Issued | SecretState::Bound => "active",
    }
}

fn refuse_rotation(denial: RotationDenial) -> ApiResult<HelloResponse> {
    if denial == RotationDenial::AlreadyClaimed {
        return Ok(HelloResponse { status: "rejected", reason: Some(denial.reason()), welcome: None });
    }
    let code = if denial == RotationDenial::SecretInvalid {
        HubCode::NodeSecretInvalid
    } else {
        HubCode::NodeSecretRequired
    };
    Err(ApiError::new(
        code,
        "A new secret is given only to whoever shows the present one (rotation_requires_current_secret).",
        "Send the present secret as `Authorization: Bearer <node_secret>`, or let the owner of the node reset it.",
    )
    .with("reason", denial.reason()))
}

fn acknowledge(tx: &mut dyn Tx, node: &NodeRow, greeting: &HelloContext) -> ApiResult<HelloWelcome> {
    let held = ledger::balances(tx, &ledger::node_account(&node.node_id))?;
    Ok(HelloWelcome {
        your_node_id: node.node_id.clone(),
        hub_node_id: greeting.hub_id.clone(),
        node_secret_version: node.secret_version,
        claimed: node.owner.is_some(),
        credit_balance: credits::to_decimal(held.total),
        granted_balance: credits::to_decimal(held.granted),
        earned_balance: credits::to_decimal(held.earned()),
        survival_status: "alive",
        referral_code: node.node_id.clone(),
        heartbeat_interval_ms: 300_000,
        heartbeat_endpoint: "/a2a/heartbeat",
        network_manifest: NetworkManifest { name: "Capsid hub", connect: greeting.base.clone() },
        capability_profile: CapabilityProfile::new(node.reputation),
        recommended_tasks: Vec::new(),
        node_secret: None,
        node_secret_status: None,
        claim_url: None,
        claim_code: None,
        webhook_secret: None,
        webhook_status: None,
    })
}
