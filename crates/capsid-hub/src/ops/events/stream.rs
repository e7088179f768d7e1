//! `GET /a2a/events/stream` and `POST /a2a/events/poll`: a node is told what is new as soon as it is.

use crate::auth::credentials::Credentials;
use crate::auth::idempotency;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json;
use crate::http::json::JsonText;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::runtime::keyed_semaphore::KeyedPermit;
use crate::state::{Hub, SharedHub};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use capsid_model::time::Time;
use capsid_store::notifications::events;
use capsid_store::notifications::events::{EventChannel, EventRow};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::Instant;

/// The most events in one answer.
const MAX: i64 = 100;
/// How long a poll is held at most; proxies give up on longer ones.
const MAX_POLL_MS: f64 = 25_000.0;
/// How long a poll is held that does not say.
const DEFAULT_POLL_MS: f64 = 20_000.0;
/// How long a stream lasts at most.
pub(crate) const MAX_STREAM_MS: u64 = 600_000;
/// How long a stream lasts that does not say.
const DEFAULT_STREAM_MS: u64 = 300_000;
/// How long a stream of a node lasts that the hub does not know.
const STRANGER_STREAM_MS: u64 = 60_000;
/// How many streams and polls of one address may be open at a time.
const MAX_OF_ADDRESS: usize = 64;
/// How many of one node.
const MAX_OF_NODE: usize = 4;
/// When a client that has too many open may come again.
const COME_AGAIN_MS: i64 = 5000;
/// How often a stream shows that it is alive.
pub(crate) const PING: Duration = Duration::from_secs(15);

/// An event as clients see it.
pub fn event_view(event: &EventRow) -> Value {
    let payload: Value = serde_json::from_str(&event.payload).unwrap_or(Value::Null);
    json!({
        "id": format!("evt_{}", event.seq), "seq": event.seq, "type": event.kind, "payload": payload,
        "created_at": Time(event.created_at).iso(), "expires_at": Time(event.expires_at).iso(),
    })
}

/// What a stream is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StreamEventsParams {
    /// The node whose events are wanted.
    node_id: Option<String>,
    /// How long the stream should last; 5 minutes where it is missing, 10 at most.
    duration_ms: Option<String>,
}

/// Streams a node's events as server-sent events.
///
/// Each event carries its place as `id`; a client that reconnects with `Last-Event-ID` goes on after it.
#[utoipa::path(get, path = "/a2a/events/stream", tag = "events", params(StreamEventsParams),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn stream(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    headers: HeaderMap,
    QueryParams(query): QueryParams<StreamEventsParams>,
) -> ApiResult<Response> {
    let node_id = validate::node(None, query.node_id.as_deref())?;
    let asked = query.duration_ms.and_then(|ms| ms.parse::<u64>().ok()).unwrap_or(DEFAULT_STREAM_MS);
    let cursor = last_event_id(&headers)?;
    let of_address = enter_address(&hub, &credentials)?;
    let (who, own_cursor) = (node_id.clone(), cursor.is_some());
    let (known, place) = hub
        .authenticate_reader(&node_id, &credentials, move |tx, node| {
            Ok((node.is_some(), events::begin(tx, &who, EventChannel::Stream, cursor)?))
        })
        .await?;
    let held = [of_address, enter_node(&hub, &node_id)?];
    let until = Instant::now() + lasts(asked, known);
    let told = stream_events(hub, node_id, place, own_cursor, until);
    let body = Body::from_stream(told.map(move |part| {
        // As long as the stream is open, it takes up its places.
        let _held = &held;
        part
    }));
    Ok(as_stream(body))
}

/// A body as server-sent events.
pub(crate) fn as_stream(body: Body) -> Response {
    let kind = HeaderValue::from_static("text/event-stream");
    let fresh = HeaderValue::from_static("no-cache");
    let direct = HeaderValue::from_static("no");
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert(header::CACHE_CONTROL, fresh);
    // Some proxies collect an answer before they pass it on, unless they are told not to.
    response.headers_mut().insert("x-accel-buffering", direct);
    response
}

/// How long a stream lasts that is asked for so many milliseconds.
fn lasts(asked: u64, known: bool) -> Duration {
    Duration::from_millis(asked.min(if known { MAX_STREAM_MS } else { STRANGER_STREAM_MS }))
}

/// Takes a place of the address that a request comes from.
pub(crate) fn enter_address(hub: &Hub, credentials: &Credentials) -> ApiResult<KeyedPermit> {
    let who = format!("address:{}", credentials.address);
    hub.waiting.enter(&who, MAX_OF_ADDRESS).ok_or_else(|| too_many("address", MAX_OF_ADDRESS))
}

/// Takes a place of a node, for somebody who may speak for it.
fn enter_node(hub: &Hub, node_id: &str) -> ApiResult<KeyedPermit> {
    hub.waiting.enter(&format!("node:{node_id}"), MAX_OF_NODE).ok_or_else(|| too_many("node", MAX_OF_NODE))
}

fn too_many(whose: &str, most: usize) -> ApiError {
    ApiError::new(
        HubCode::RateLimited,
        format!("This {whose} has {most} streams and polls open, which is as many as it may."),
        "Close those that are not needed, or wait until one has ended.",
    )
    .retry_after(COME_AGAIN_MS)
}

fn last_event_id(headers: &HeaderMap) -> ApiResult<Option<i64>> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = value.to_str().map_err(|_| bad_cursor("Last-Event-ID"))?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    place(text).map(Some).ok_or_else(|| bad_cursor("Last-Event-ID"))
}

/// A place as clients send it: `12` or `evt_12`.
fn place(text: &str) -> Option<i64> {
    text.strip_prefix("evt_").unwrap_or(text).parse().ok().filter(|seq| *seq >= 0)
}

fn bad_cursor(name: &str) -> ApiError {
    ApiError::new(
        HubCode::InvalidCursor,
        format!("`{name}` is not a place in the stream of events."),
        "Send the `id` of the last event that you received, or leave it out.",
    )
}

fn stream_events(
    hub: SharedHub,
    node_id: String,
    mut place: i64,
    own_cursor: bool,
    until: Instant,
) -> impl futures_util::Stream<Item = ApiResult<Bytes, Infallible>> {
    async_stream::stream! {
        let mut listener = hub.events.listen();
        let mut ping = Instant::now();
        loop {
            if Instant::now() >= ping {
                yield Ok(Bytes::from_static(b": ping\n\n"));
                ping = Instant::now() + PING;
            }
            let way = (!own_cursor).then_some(EventChannel::Stream);
            match next_events(&hub, &node_id, place, way).await {
                Ok(news) => {
                    for event in news {
                        place = event.seq;
                        yield Ok(Bytes::from(format!("id: {}\ndata: {}\n\n", event.seq, event_view(&event))));
                    }
                }
                // The stream has begun, so an error can only end it; the client comes again.
                Err(_) => break,
            }
            if Instant::now() >= until || hub.events.is_closed() {
                break;
            }
            if listener.wait(&hub.store, until.min(ping)).await.is_err() {
                break;
            }
        }
    }
}

/// The events after a place. Those that are told a way that has no cursor of the client's own are noted as told.
async fn next_events(
    hub: &Hub,
    node_id: &str,
    place: i64,
    way: Option<EventChannel>,
) -> ApiResult<Vec<EventRow>> {
    let (who, now) = (node_id.to_owned(), hub.now());
    let news =
        hub.store.read::<_, ApiError, _>(move |tx| Ok(events::after(tx, &who, place, MAX, now)?)).await?;
    if let (Some(way), Some(last)) = (way, news.last().map(|event| event.seq)) {
        let who = node_id.to_owned();
        hub.store.write::<_, ApiError, _>(move |tx| Ok(events::advance_cursor(tx, &who, way, last)?)).await?;
    }
    Ok(news)
}

/// What a poll says, bare or in an envelope.
#[derive(Debug, Default, Deserialize)]
struct PollEventsRequest<'a> {
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

/// Waits for a node's events.
///
/// Answers at once when there is one, and otherwise after `timeout_ms`, 25 seconds at most. A client that sends the
/// `cursor` of the last answer as `after` loses nothing when an answer does not reach it.
#[utoipa::path(post, path = "/a2a/events/poll", tag = "events", request_body = crate::http::openapi::Object,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn poll(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let mut asked: PollEventsRequest<'_> = json::read(&text, "")?;
    if asked.protocol.is_some() {
        let envelope = idempotency::parse_envelope(&hub, &text, &["events_poll"])?;
        let inner: PollEventsRequest<'_> = envelope.payload()?;
        asked = PollEventsRequest {
            sender_id: Some(envelope.sender_id),
            node_secret: envelope.node_secret,
            ..inner
        };
    } else if let Some(payload) = asked.payload {
        let inner: PollEventsRequest<'_> = json::read(payload.get(), "payload")?;
        asked.timeout_ms = asked.timeout_ms.or(inner.timeout_ms);
        asked.after = asked.after.or(inner.after);
    }
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    let cursor = asked.after.map(read_after).transpose()?.flatten();
    let timeout = asked.timeout_ms.unwrap_or(DEFAULT_POLL_MS).clamp(0.0, MAX_POLL_MS);
    let until = Instant::now() + Duration::from_millis(timeout as u64);
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    let _of_address = enter_address(&hub, &credentials)?;
    let who = node_id.clone();
    let start = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| {
            Ok(events::begin(tx, &who, EventChannel::Poll, cursor)?)
        })
        .await?;
    let _of_node = enter_node(&hub, &node_id)?;
    if cursor.is_some_and(|cursor| cursor > 0) {
        // What lies before the cursor has arrived; a later poll without one goes on from there.
        let who = node_id.clone();
        hub.store.write::<_, ApiError, _>(move |tx| Ok(record_delivery(tx, &who, start)?)).await?;
    }
    let way = cursor.is_none().then_some(EventChannel::Poll);
    let news = wait_for(&hub, &node_id, start, way, until).await?;
    let place = news.last().map_or(start, |event| event.seq);
    let news: Vec<Value> = news.iter().map(event_view).collect();
    Ok(JsonReply::json(&json!({ "events": news, "count": news.len(), "cursor": place.to_string() })))
}

fn record_delivery(
    tx: &mut dyn capsid_store::db::tx::Tx,
    node_id: &str,
    place: i64,
) -> capsid_model::problem::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::lasts;

    #[test]
    fn a_stream_of_an_unknown_node_ends_after_a_minute() {
        let seconds = |asked, known| lasts(asked, known).as_secs();
        assert_eq!([seconds(300_000, false), seconds(5000, false)], [60, 5]);
        assert_eq!([seconds(300_000, true), seconds(u64::MAX, true)], [300, 600]);
    }
}
