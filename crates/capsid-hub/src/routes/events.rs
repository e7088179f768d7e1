//! `/a2a/events/*`: what is new for a node.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonText;
use crate::http::openapi::ErrorBody;
use crate::http::query::QueryParams;
use crate::ops::events::poll::{self, PollEventsRequest, PollEventsResponse};
use crate::ops::events::stream::{self, StreamEventsParams, StreamItem};
use crate::state::SharedHub;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use serde::Serialize;
use std::convert::Infallible;

/// Streams a node's events as server-sent events.
///
/// Each event carries its place as `id`; a client that reconnects with `Last-Event-ID` goes on after it.
#[utoipa::path(get, path = "/a2a/events/stream", tag = "events", params(StreamEventsParams),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "4XX", body = ErrorBody)))]
pub async fn stream(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    headers: HeaderMap,
    QueryParams(params): QueryParams<StreamEventsParams>,
) -> ApiResult<Response> {
    let last = headers.get("last-event-id").map(|value| String::from_utf8_lossy(value.as_bytes()));
    let events = stream::stream_events(hub, credentials, params, last.as_deref()).await?;
    Ok(server_sent_events(events, |event| format!("id: {}", event.seq)))
}

/// A stream as server-sent events. `head` is the line before the data of each.
pub(super) fn server_sent_events<T: Serialize>(
    stream: impl Stream<Item = StreamItem<T>> + Send + 'static,
    head: impl Fn(&T) -> String + Send + 'static,
) -> Response {
    let parts = stream.map(move |item| {
        Ok::<_, Infallible>(match item {
            StreamItem::Ping => Bytes::from_static(b": ping\n\n"),
            StreamItem::Data(data) => {
                let text = serde_json::to_string(&data).unwrap_or_default();
                Bytes::from(format!("{}\ndata: {text}\n\n", head(&data)))
            }
        })
    });
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Some proxies collect an answer before they pass it on, unless they are told not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Waits for a node's events.
///
/// Answers at once when there is one, and otherwise after `timeout_ms`, 25 seconds at most. A client that sends the
/// `cursor` of the last answer as `after` loses nothing when an answer does not reach it.
#[utoipa::path(post, path = "/a2a/events/poll", tag = "events", request_body = Object,
    responses((status = 200, body = PollEventsResponse), (status = "4XX", body = ErrorBody)))]
pub async fn poll(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<Json<PollEventsResponse>> {
    let request = PollEventsRequest::read(&hub, &text)?;
    Ok(Json(poll::poll_events(&hub, credentials, request).await?))
}
