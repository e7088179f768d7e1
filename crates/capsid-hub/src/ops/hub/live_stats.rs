//! `GET /a2a/live`: the hub's numbers as they change, for whoever watches.

use super::stats;
use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::query::QueryParams;
use crate::ops::events::stream::{MAX_STREAM_MS, PING, as_stream, enter_address};
use crate::state::SharedHub;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How often the numbers are looked at while somebody watches.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The numbers that were last looked at. Whoever watches looks for all the others too.
#[derive(Debug, Default)]
pub struct LiveStatsCache(tokio::sync::Mutex<Option<(Instant, Arc<Value>)>>);

impl LiveStatsCache {
    async fn refresh(&self, hub: &SharedHub) -> ApiResult<Arc<Value>> {
        let mut last = self.0.lock().await;
        if let Some((at, body)) = &*last
            && at.elapsed() < LOOK_EVERY
        {
            return Ok(Arc::clone(body));
        }
        let body = Arc::new(stats::body(hub).await?);
        *last = Some((Instant::now(), Arc::clone(&body)));
        Ok(body)
    }
}

/// How long to watch.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LiveStatsParams {
    /// How long the stream should last: 10 minutes at most, which is the usual.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 600_000)]
    duration_ms: Option<String>,
}

/// Streams the hub's numbers as server-sent events.
///
/// Each event has the type `stats` and the body of `/a2a/stats`: one at once, then one whenever the numbers changed, at
/// most every two seconds.
#[utoipa::path(get, path = "/a2a/live", tag = "hub", params(LiveStatsParams),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn live(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<LiveStatsParams>,
) -> ApiResult<Response> {
    hub.limit_reads(&credentials).await?;
    let asked = asked.duration_ms.and_then(|ms| ms.parse::<u64>().ok()).unwrap_or(MAX_STREAM_MS);
    let until = Instant::now() + Duration::from_millis(asked.min(MAX_STREAM_MS));
    let held = enter_address(&hub, &credentials)?;
    // A failing database is told before the stream begins.
    hub.live.refresh(&hub).await?;
    Ok(as_stream(Body::from_stream(stream_stats(hub, until).map(move |part| {
        // As long as the stream is open, it takes up its place.
        let _held = &held;
        part
    }))))
}

fn stream_stats(
    hub: SharedHub,
    until: Instant,
) -> impl futures_util::Stream<Item = ApiResult<Bytes, Infallible>> {
    async_stream::stream! {
        let mut told: Option<Arc<Value>> = None;
        let (mut ping, mut closing) = (Instant::now() + PING, hub.closing.clone());
        loop {
            // The stream has begun, so an error can only end it; the browser comes again.
            let Ok(body) = hub.live.refresh(&hub).await else { break };
            if !told.as_ref().is_some_and(|told| is_same(told, &body)) {
                yield Ok(Bytes::from(format!("event: stats\ndata: {body}\n\n")));
                told = Some(body);
            }
            if Instant::now() >= ping {
                yield Ok(Bytes::from_static(b": ping\n\n"));
                ping = Instant::now() + PING;
            }
            let next = until.min(Instant::now() + LOOK_EVERY);
            let closes = timeout_at(next, closing.wait_for(|closes| *closes)).await.is_ok();
            if closes || Instant::now() >= until {
                break;
            }
        }
    }
}

/// Whether the numbers are the same, whatever the time since the hub began.
fn is_same(before: &Value, now: &Value) -> bool {
    let (Some(before), Some(now)) = (before.as_object(), now.as_object()) else { return before == now };
    before.len() == now.len()
        && before.iter().all(|(name, value)| name == "uptime_s" || now.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::is_same;
    use serde_json::json;

    #[test]
    fn time_alone_is_no_news() {
        let before = json!({"uptime_s": 1, "total_nodes": 2});
        assert!(is_same(&before, &json!({"uptime_s": 3, "total_nodes": 2})));
        assert!(!is_same(&before, &json!({"uptime_s": 1, "total_nodes": 3})));
        assert!(!is_same(&before, &json!({"uptime_s": 1, "total_nodes": 2, "more": 1})));
    }
}
