//! A node waits for what is new.

use super::stream::{bad_cursor, enter_address, enter_node, next_events, place};
use super::view::EventView;
use crate::auth::credentials::Credentials;
use crate::auth::message::parse_envelope;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult};
use crate::http::json;
use crate::http::validate;
use crate::state::Hub;
use capsid_model::problem::Result;
use capsid_store::db::tx::Tx;
use capsid_store::notifications::events;
use capsid_store::notifications::events::{EventChannel, EventRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::time::Instant;
use utoipa::ToSchema;

/// How long a poll is held at most; proxies give up on longer ones.
const MAX_POLL_MS: f64 = 25_000.0;
/// How long a poll is held that does not say.
const DEFAULT_POLL_MS: f64 = 20_000.0;

/// What a poll says, bare or in an envelope.
#[derive(Debug, Default, Deserialize)]
pub struct PollEventsRequest<'a> {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    timeout_ms: Option<f64>,
    #[serde(borrow)]
    after: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol: Option<&'a RawValue>,
}

impl<'a> PollEventsRequest<'a> {
    /// Reads a poll, bare or in an envelope.
    pub fn read(hub: &Hub, text: &'a str) -> ApiResult<Self> {
        let mut asked: Self = json::read(text, "")?;
        if asked.protocol.is_some() {
            let envelope = parse_envelope(hub, text, &["events_poll"])?;
            let inner: Self = envelope.payload()?;
            asked = Self { sender_id: Some(envelope.sender_id), node_secret: envelope.node_secret, ..inner };
        } else if let Some(payload) = asked.payload {
            let inner: Self = json::read(payload.get(), "payload")?;
            asked.timeout_ms = asked.timeout_ms.or(inner.timeout_ms);
            asked.after = asked.after.or(inner.after);
        }
        Ok(asked)
    }
}

/// What is new.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PolledEvents)]
pub struct PollEventsResponse {
    events: Vec<EventView>,
    #[schema(value_type = i64)]
    count: usize,
    /// What to send as `after` in the next poll.
    cursor: String,
}

/// Waits for a node's events, for as long as the request says.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn poll_events(
    hub: &Hub,
    credentials: Credentials,
    asked: PollEventsRequest<'_>,
) -> ApiResult<PollEventsResponse> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let cursor = asked.after.map(read_after).transpose()?.flatten();
    let timeout = asked.timeout_ms.unwrap_or(DEFAULT_POLL_MS).clamp(0.0, MAX_POLL_MS);
    let until = Instant::now() + Duration::from_millis(timeout as u64);
    let sender = Sender::new(&node_id, credentials.or_secret(asked.node_secret.as_deref()));
    let _of_address = enter_address(hub, sender.credentials())?;
    let who = node_id.clone();
    let start =
        sender.read(hub, move |tx, _| Ok(events::begin(tx, &who, EventChannel::Poll, cursor)?)).await?;
    let _of_node = enter_node(hub, &node_id)?;
    if cursor.is_some_and(|cursor| cursor > 0) {
        // What lies before the cursor has arrived; a later poll without one goes on from there.
        let who = node_id.clone();
        hub.store.write::<_, ApiError, _>(move |tx| Ok(record_delivery(tx, &who, start)?)).await?;
    }
    let way = cursor.is_none().then_some(EventChannel::Poll);
    let news = wait_for(hub, &node_id, start, way, until).await?;
    Ok(PollEventsResponse {
        count: news.len(),
        cursor: news.last().map_or(start, |event| event.seq).to_string(),
        events: news.into_iter().map(EventView::from_row).collect::<ApiResult<_>>()?,
    })
}

fn record_delivery(tx: &mut dyn Tx, node_id: &str, place: i64) -> Result<()> {
    match events::begin(tx, node_id, EventChannel::Poll, None)? {
        known if known < place => events::advance_cursor(tx, node_id, EventChannel::Poll, place),
        _ => Ok(()),
    }
}

fn read_after(raw: &RawValue) -> ApiResult<Option<i64>> {
    let found = match serde_json::from_str(raw.get()).unwrap_or(Value::Bool(false)) {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_i64().filter(|seq| *seq >= 0),
        Value::String(text) => place(&text),
        _ => None,
    };
    found.map(Some).ok_or_else(|| bad_cursor("after"))
}

async fn wait_for(
    hub: &Hub,
    node_id: &str,
    place: i64,
    way: Option<EventChannel>,
    until: Instant,
) -> ApiResult<Vec<EventRow>> {
    let mut listener = hub.events.listen();
    loop {
        let news = next_events(hub, node_id, place, way).await?;
        if !news.is_empty() || Instant::now() >= until || hub.events.is_closed() {
            return Ok(news);
        }
        listener.wait(&hub.store, until).await?;
    }
}
