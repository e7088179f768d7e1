//! The hub's numbers as they change, for whoever watches.

use super::health::uptime_s;
use super::stats::{StatsResponse, load_stats};
use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::ops::events::stream::{MAX_STREAM_MS, PING, StreamItem, enter_address};
use crate::state::{Hub, SharedHub};
use capsid_model::time::Time;
use capsid_store::system::stats::HubStats;
use futures_util::Stream;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How often the numbers are looked at while somebody watches.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How long to watch.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LiveStatsParams {
    /// How long the stream should last: 10 minutes at most, which is the usual.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 600_000)]
    duration_ms: Option<String>,
}

/// Streams the hub's numbers: at once, then whenever they changed.
#[tracing::instrument(skip_all)]
pub async fn stream_stats(
    hub: SharedHub,
    credentials: Credentials,
    params: LiveStatsParams,
) -> ApiResult<impl Stream<Item = StreamItem<StatsResponse>>> {
    hub.limit_reads(&credentials).await?;
    let asked = params.duration_ms.and_then(|ms| ms.parse::<u64>().ok()).unwrap_or(MAX_STREAM_MS);
    let until = Instant::now() + Duration::from_millis(asked.min(MAX_STREAM_MS));
    let held = enter_address(&hub, &credentials)?;
    // A failing database is told before the stream begins.
    latest_stats(&hub).await?;
    Ok(async_stream::stream! {
        // As long as the stream is open, it takes up its place.
        let _held = held;
        let mut shown: Option<Arc<(HubStats, Time)>> = None;
        let (mut ping, mut closing) = (Instant::now() + PING, hub.closing.clone());
        loop {
            // The stream has begun, so an error can only end it; the browser comes again.
            let Ok(stats) = latest_stats(&hub).await else { break };
            // Time alone is no news.
            if shown.as_ref().is_none_or(|shown| shown.0 != stats.0) {
                yield StreamItem::Data(StatsResponse::new(&stats.0, uptime_s(&hub, stats.1)));
                shown = Some(stats);
            }
            if Instant::now() >= ping {
                yield StreamItem::Ping;
                ping = Instant::now() + PING;
            }
            let next = until.min(Instant::now() + LOOK_EVERY);
            let closes = timeout_at(next, closing.wait_for(|closes| *closes)).await.is_ok();
            if closes || Instant::now() >= until {
                break;
            }
        }
    })
}

/// The latest statistics. One watcher loads them for all.
async fn latest_stats(hub: &Hub) -> ApiResult<Arc<(HubStats, Time)>> {
    let load = async { Ok((Arc::new((load_stats(hub).await?, hub.now())), Some(LOOK_EVERY))) };
    hub.live.get_or_load(load).await
}
