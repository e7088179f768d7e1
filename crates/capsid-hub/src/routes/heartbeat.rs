//! `POST /a2a/heartbeat`: a node says that it is there, and hears what is new.

use crate::access::{Credentials, Rules, act_as};
use crate::checks;
use crate::envelope::Reply;
use crate::error::{ApiError, HubCode, Result};
use crate::json::{self, JsonText};
use crate::routes::events::shown;
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::events::{self, Way};
use capsid_store::tx::Tx;
use capsid_store::{claims, ledger};
use serde::Deserialize;
use serde_json::{Value, json};

/// How long a node should wait before the next heartbeat.
const INTERVAL_MS: i64 = 300_000;
/// The most events in one answer.
const MOST_EVENTS: i64 = 50;

/// What of a heartbeat is read, bare or in an envelope. What it tells about its machine is not kept.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
struct Heartbeat {
    message_type: Option<String>,
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    payload: Option<Inner>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = HeartbeatPayload)]
struct Inner {
    node_id: Option<String>,
}

/// Tells the hub that a node is there.
///
/// A node that the hub does not know gets the status `unknown_node` and should say hello.
#[utoipa::path(post, path = "/a2a/heartbeat", tag = "messages", request_body = Heartbeat,
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn heartbeat(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> Result<Reply> {
    let told: Heartbeat = json::read(&text, "")?;
    if told.message_type.as_ref().is_some_and(|kind| kind != "heartbeat") {
        return Err(ApiError::new(
            HubCode::MessageTypeMismatch,
            "This endpoint takes messages of the type `heartbeat`.",
            "Send the message with `message_type` set to `heartbeat`, or to the endpoint of its type.",
        ));
    }
    let inner = told.payload.and_then(|payload| payload.node_id);
    let node_id = checks::node(told.sender_id.as_deref(), told.node_id.or(inner).as_deref())?;
    let credentials = credentials.or_secret(told.node_secret.as_deref());
    // Whoever may not speak for the node cannot use up its heartbeats either.
    if !hub.read_as(&node_id, &credentials, |_, node| Ok(node.is_some())).await? {
        return Ok(Reply::json(&json!({ "status": "unknown_node", "your_node_id": node_id,
            "reason": "The hub does not know this node. Say hello first: POST /a2a/hello." })));
    }
    let limit = hub.config.limits.heartbeat;
    hub.limiter.take(&hub.store, HubCode::RateLimited, "heartbeat", &node_id, limit, hub.now()).await?;
    let (rules, base, fresh) = (hub.rules(), hub.config.base_url(), hub.random.claim_code());
    let answer = hub.store.write(move |tx| beat(tx, &rules, &node_id, &credentials, &base, &fresh)).await?;
    Ok(Reply::json(&answer))
}

fn beat(
    tx: &mut dyn Tx,
    rules: &Rules,
    node_id: &str,
    credentials: &Credentials,
    base: &str,
    fresh_code: &str,
) -> Result<Value> {
    let node = act_as(tx, rules, node_id, credentials)?;
    let told = events::begin(tx, node_id, Way::Heartbeat, None)?;
    let news = events::after(tx, node_id, told, MOST_EVENTS, rules.now)?;
    if let Some(last) = news.last() {
        events::told(tx, node_id, Way::Heartbeat, last.seq)?;
    }
    let claimed = node.owner.is_some();
    let mut claim_state = json!({ "claimed": claimed });
    if !claimed {
        let code = claims::current(tx, node_id, fresh_code, rules.now)?;
        claim_state =
            json!({ "claimed": false, "claim_url": format!("{base}/claim/{code}"), "claim_code": code });
    }
    let news: Vec<Value> = news.iter().map(shown).collect();
    Ok(json!({
        "status": "ok",
        "your_node_id": node_id,
        "node_status": node.status,
        "survival_status": "alive",
        "credit_balance": credits::shown(ledger::balance(tx, &ledger::node_account(node_id))?),
        "server_time": rules.now.iso(),
        "next_heartbeat_ms": INTERVAL_MS,
        "available_work": [],
        "available_tasks": [],
        "overdue_tasks": [],
        "commitment_results": [],
        "pending_events": news,
        "events": news,
        "pending_deliveries": [],
        "claimed": claimed,
        "claim_state": claim_state,
    }))
}
