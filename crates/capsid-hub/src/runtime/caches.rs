//! What the hub knows of itself and does not work out for every request.

use capsid_model::time::Time;
use capsid_store::graph::GraphCounts;
use capsid_store::system::backlog::HubBacklog;
use capsid_store::system::stats::HubStats;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// A value that is loaded anew once it is too old. While one request loads it, the others wait for it.
#[derive(Debug)]
pub struct TimedCache<T>(Mutex<Option<(T, Instant)>>);

impl<T> Default for TimedCache<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> TimedCache<T> {
    /// The value. `load` says how long its outcome may be kept; nothing means that it is loaded anew every time.
    pub async fn get_or_load<E>(
        &self,
        load: impl Future<Output = Result<(T, Option<Duration>), E>>,
    ) -> Result<T, E> {
        let mut last = self.0.lock().await;
        if let Some((value, until)) = &*last
            && Instant::now() < *until
        {
            return Ok(value.clone());
        }
        let (value, keep) = load.await?;
        *last = keep.map(|keep| (value.clone(), Instant::now() + keep));
        Ok(value)
    }
}

/// Whether the database could be written.
pub type HealthCache = TimedCache<bool>;
/// What waits in the database.
pub type BacklogCache = TimedCache<HubBacklog>;
/// The hub in numbers.
pub type StatsCache = TimedCache<HubStats>;
/// The same for whoever watches them, and when they were counted.
pub type LiveStatsCache = TimedCache<Arc<(HubStats, Time)>>;
/// How much there is in the knowledge graph.
pub type GraphCountCache = TimedCache<GraphCounts>;
