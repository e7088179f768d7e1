//! `POST /a2a/hello`: a node introduces itself and gets its secret and its claim code.

use crate::auth::credentials::{Credentials, OperationContext};
use crate::auth::idempotency;
use crate::config::TasksConfig;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonText;
use crate::http::validate;
use crate::ops::tasks::list::recommended;
use crate::state::SharedHub;
use crate::webhooks::registration::WebhookRegistration;
use axum::extract::State;
use capsid_rules::credits;
use capsid_rules::evaluation::reputation::level;
use capsid_rules::identity::secrets::{
    AccessDenial, PresentedSecret, RotationDenial, SecretState, hello_shows_secret, may_rotate,
};
use capsid_store::accounts::claim_codes;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::rewards;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::ledger;
use capsid_store::nodes::{self, NodeProfileUpdate, NodeRow};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a hello may tell.
#[derive(Debug, Default, Deserialize)]
struct HelloRequest {
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

/// Registers a node, or greets one that is known.
///
/// The first hello returns the node's secret and a claim code for its user. Later ones return the same until the
/// secret is shown for the first time.
#[utoipa::path(post, path = "/a2a/hello", tag = "messages", request_body = crate::http::openapi::A2aMessage,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn hello(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let envelope = idempotency::parse_envelope(&hub, &text, &["hello"])?;
    let limit = hub.config.limits.hello;
    hub.limiter
        .check(&hub.store, HubCode::HelloRateLimit, "hello", &credentials.address, limit, hub.now())
        .await?;
    let told: HelloRequest = envelope.payload()?;
    check(&told)?;
    let fingerprint = told
        .env_fingerprint
        .clone()
        .or_else(|| envelope.env_fingerprint.and_then(|raw| serde_json::from_str(raw.get()).ok()));
    let webhook = match &told.webhook_url {
        Some(Value::String(url)) if url.len() <= 2000 => {
            Some(WebhookRegistration::read(&hub, &envelope.sender_id, url).await?)
        }
        Some(_) => Some(WebhookRegistration::Refused("invalid_url")),
        None => None,
    };
    let greeting = HelloContext {
        node_id: envelope.sender_id.clone(),
        credentials: credentials.or_secret(envelope.node_secret.as_deref()),
        rotate: told.rotate_secret == Some(true),
        told: introduction(&told, fingerprint.as_ref()),
        webhook,
        fresh_secret: hub.random.hex(32),
        fresh_code: hub.random.claim_code(),
        rules: hub.rules(),
        work: hub.config.work.clone(),
        rewards: hub.config.rewards(),
    };
    let answer = hub.answer("hello");
    let (hub_id, base) = (hub.hub_id.clone(), hub.config.base_url());
    let payload = hub.store.write(move |tx| register_or_update_node(tx, &greeting, &hub_id, &base)).await?;
    Ok(JsonReply::ok(answer.render(&payload)))
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
    rules: OperationContext,
    work: TasksConfig,
    rewards: RewardRates,
}

/// How many tasks a hello recommends at most.
const RECOMMENDED: usize = 5;

fn register_or_update_node(
    tx: &mut dyn Tx,
    greeting: &HelloContext,
    hub_id: &str,
    base: &str,
) -> ApiResult<Map<String, Value>> {
    let (node_id, now) = (&greeting.node_id, greeting.rules.now);
    let mut node = nodes::lock_or_register(tx, node_id, greeting.rules.node_grant, now)?;
    let presented = node.presented(greeting.credentials.secret.as_deref());
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
            rewards::referred(tx, &greeting.rewards, node_id, referrer, now)?;
        }
    }
    node = nodes::lock(tx, node_id)?.unwrap_or(node);
    let mut payload = acknowledge(tx, &node, hub_id, base)?;
    // What is kept for a node is not told to a stranger.
    let mut tasks = recommended(tx, &node, &greeting.work, RECOMMENDED, now)?;
    tasks.retain(|task| known || task["reserved_for"].is_null());
    payload.insert("recommended_tasks".to_owned(), tasks.into());
    match secret {
        Some(secret) => payload.insert("node_secret".to_owned(), secret.into()),
        None => payload.insert("node_secret_status".to_owned(), secret_status(&node).into()),
    };
    // Whoever has the code can make the node theirs, so a stranger is not shown the code of a bound one.
    if node.owner.is_none() && known {
        let code = claim_codes::current_or_new(tx, node_id, &greeting.fresh_code, now)?;
        payload.insert("claim_url".to_owned(), format!("{base}/claim/{code}").into());
        payload.insert("claim_code".to_owned(), code.into());
    }
    if let Some(wish) = &greeting.webhook {
        let stranger = WebhookRegistration::Refused("node_secret_required");
        let wish = if known { wish } else { &stranger };
        wish.fulfil(tx, node_id, now, &mut payload)?;
    }
    Ok(payload)
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
        PresentedSecret::Wrong => {
            Err(crate::auth::credentials::access_denied(AccessDenial::SecretInvalid, node_id))
        }
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

fn refuse_rotation(denial: RotationDenial) -> ApiResult<Map<String, Value>> {
    if denial == RotationDenial::AlreadyClaimed {
        let mut payload = Map::new();
        payload.insert("status".to_owned(), "rejected".into());
        payload.insert("reason".to_owned(), denial.reason().into());
        return Ok(payload);
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

fn acknowledge(tx: &mut dyn Tx, node: &NodeRow, hub_id: &str, base: &str) -> ApiResult<Map<String, Value>> {
    let balance = ledger::balance(tx, &ledger::node_account(&node.node_id))?;
    let mut payload = Map::new();
    let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
    put("status", "acknowledged".into());
    put("your_node_id", node.node_id.clone().into());
    put("hub_node_id", hub_id.into());
    put("node_secret_version", node.secret_version.into());
    put("claimed", node.owner.is_some().into());
    put("credit_balance", credits::to_decimal(balance).into());
    put("survival_status", "alive".into());
    put("referral_code", node.node_id.clone().into());
    put("heartbeat_interval_ms", 300_000.into());
    put("heartbeat_endpoint", "/a2a/heartbeat".into());
    put("network_manifest", json!({ "name": "Capsid hub", "connect": base }));
    put(
        "capability_profile",
        json!({ "level": level(node.reputation), "reputation": crate::ops::assets::view::rounded(node.reputation) }),
    );
    Ok(payload)
}
