//! A node is told what is new as soon as it is.

use super::view::EventView;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::http::validate;
use crate::runtime::keyed_semaphore::KeyedPermit;
use crate::state::{Hub, SharedHub};
use capsid_store::notifications::events;
use capsid_store::notifications::events::{EventChannel, EventRow};
use futures_util::Stream;
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;

/// The most events in one answer.
const MAX: i64 = 100;
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

/// What a stream is asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StreamEventsParams {
    /// The node whose events are wanted.
    node_id: Option<String>,
    /// How long the stream should last; 5 minutes where it is missing, 10 at most.
    duration_ms: Option<String>,
}

/// A part of a stream.
#[derive(Debug)]
pub enum StreamItem<T> {
    /// Shows that the stream is alive.
    Ping,
    Data(T),
}

/// Streams a node's events. `last_event_id` is the place after which a client goes on that was here before.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn stream_events(
    hub: SharedHub,
    credentials: Credentials,
    params: StreamEventsParams,
    last_event_id: Option<&str>,
) -> ApiResult<impl Stream<Item = StreamItem<EventView>> + use<>> {
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let asked = params.duration_ms.and_then(|ms| ms.parse::<u64>().ok()).unwrap_or(DEFAULT_STREAM_MS);
    let cursor = last_event_id.map(str::trim).filter(|text| !text.is_empty());
    let cursor = cursor.map(|text| place(text).ok_or_else(|| bad_cursor("Last-Event-ID"))).transpose()?;
    let of_address = enter_address(&hub, &credentials)?;
    let (who, own_cursor) = (node_id.clone(), cursor.is_some());
    let (known, mut place) = Sender::new(&node_id, credentials)
        .read(&hub, move |tx, node| {
            Ok((node.is_some(), events::begin(tx, &who, EventChannel::Stream, cursor)?))
        })
        .await?;
    let held = [of_address, enter_node(&hub, &node_id)?];
    let until = Instant::now() + lasts(asked, known);
    Ok(async_stream::stream! {
        // As long as the stream is open, it takes up its places.
        let _held = held;
        let mut listener = hub.events.listen();
        let mut ping = Instant::now();
        loop {
            if Instant::now() >= ping {
                yield StreamItem::Ping;
                ping = Instant::now() + PING;
            }
            let way = (!own_cursor).then_some(EventChannel::Stream);
            let news = next_events(&hub, &node_id, place, way).await;
            match news.and_then(|news| news.into_iter().map(EventView::from_row).collect::<ApiResult<Vec<_>>>()) {
                Ok(news) => {
                    for event in news {
                        place = event.seq;
                        yield StreamItem::Data(event);
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
    })
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
pub(super) fn enter_node(hub: &Hub, node_id: &str) -> ApiResult<KeyedPermit> {
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

/// A place as clients send it: `12` or `evt_12`.
pub(super) fn place(text: &str) -> Option<i64> {
    text.strip_prefix("evt_").unwrap_or(text).parse().ok().filter(|seq| *seq >= 0)
}

pub(super) fn bad_cursor(name: &str) -> ApiError {
    ApiError::new(
        HubCode::InvalidCursor,
        format!("`{name}` is not a place in the stream of events."),
        "Send the `id` of the last event that you received, or leave it out.",
    )
}

/// The events after a place. Those that are told a way that has no cursor of the client's own are noted as told.
pub(super) async fn next_events(
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
