//! Counting use. Fetches and looks are gathered in memory and written a little later, many at once, so that a read
//! stays a read.

use super::batcher::{BatchTiming, Batcher, write_in_batches};
use crate::error::{ApiError, ApiResult};
use capsid_model::time::Clock;
use capsid_store::Store;
use capsid_store::assets::id::AssetId;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::graph::usage as graph_usage;
use capsid_store::graph::usage::GraphUsage;
use capsid_store::registry::usage;
use capsid_store::registry::usage::FetchCount;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const TIMING: BatchTiming = BatchTiming { delay: Duration::from_millis(500), after_failure: Duration::ZERO };

/// Counts use, and writes the counts a little later.
pub struct UsageCounter {
    pending: Arc<PendingWrites>,
    batcher: Arc<Batcher>,
}

/// What was counted and is not written yet, and what it is written with.
struct PendingWrites {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    rewards: RewardRates,
    gathered: Mutex<PendingUsage>,
    /// Whoever writes holds this, so that a flush returns only when everything before it is written.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct PendingUsage {
    /// By the asset and the node that fetched it.
    fetches: HashMap<(AssetId, String), i64>,
    views: HashMap<AssetId, i64>,
    /// Questions to the knowledge graph that cost nothing, by who asked.
    asked: HashMap<String, i64>,
}

impl UsageCounter {
    pub fn new(store: Arc<Store>, clock: Arc<dyn Clock>, rewards: RewardRates) -> Self {
        let (gathered, writing) = (Mutex::default(), tokio::sync::Mutex::default());
        let pending = PendingWrites { store, clock, rewards, gathered, writing };
        Self { pending: Arc::new(pending), batcher: Arc::default() }
    }

    /// Counts a node's fetch of some assets.
    pub fn fetched(&self, node_id: &str, assets: &[AssetId]) {
        let fetches = assets.iter().map(|id| ((*id, node_id.to_owned()), 1));
        add(&mut self.pending.counts().fetches, fetches);
        if !assets.is_empty() {
            self.write_later();
        }
    }

    /// Counts a look at an asset.
    pub fn viewed(&self, id: AssetId) {
        add(&mut self.pending.counts().views, [(id, 1)]);
        self.write_later();
    }

    /// Counts a question to the knowledge graph that costs nothing.
    pub fn count_query(&self, who: &str) {
        add(&mut self.pending.counts().asked, [(who.to_owned(), 1)]);
        self.write_later();
    }

    /// Writes all that was counted up to now.
    pub async fn flush(&self) -> ApiResult<()> {
        self.pending.flush().await
    }

    fn write_later(&self) {
        let pending = Arc::clone(&self.pending);
        self.batcher.schedule(TIMING, "fetches could not be counted yet", move || {
            let pending = Arc::clone(&pending);
            async move { pending.flush().await }
        });
    }
}

impl PendingWrites {
    async fn flush(&self) -> ApiResult<()> {
        let _alone = self.writing.lock().await;
        let PendingUsage { fetches, views, asked } = std::mem::take(&mut *self.counts());
        let put_back = |rest: &[_]| add(&mut self.counts().fetches, rest.iter().cloned());
        let outcome =
            write_in_batches(Ok(()), sorted(fetches), |some| self.write_fetches(some), put_back).await;
        let put_back = |rest: &[_]| add(&mut self.counts().views, rest.iter().copied());
        let outcome = write_in_batches(outcome, sorted(views), |some| self.write_views(some), put_back).await;
        let put_back = |rest: &[_]| add(&mut self.counts().asked, rest.iter().cloned());
        write_in_batches(outcome, sorted(asked), |some| self.write_queries(some), put_back).await
    }

    async fn write_fetches(&self, fetches: Vec<((AssetId, String), i64)>) -> ApiResult<()> {
        let fetches: Vec<FetchCount> = fetches
            .into_iter()
            .map(|((asset_id, node_id), calls)| FetchCount { node_id, asset_id, calls })
            .collect();
        let (rewards, now) = (self.rewards, self.clock.now());
        self.store.write::<_, ApiError, _>(move |tx| Ok(usage::count(tx, &fetches, &rewards, now)?)).await
    }

    async fn write_views(&self, views: Vec<(AssetId, i64)>) -> ApiResult<()> {
        self.store.write::<_, ApiError, _>(move |tx| Ok(usage::count_views(tx, &views)?)).await
    }

    async fn write_queries(&self, asked: Vec<(String, i64)>) -> ApiResult<()> {
        let now = self.clock.now();
        let write = self.store.write::<_, ApiError, _>(move |tx| {
            for (who, queries) in &asked {
                graph_usage::count(tx, who, GraphUsage { queries: *queries, ..GraphUsage::default() }, now)?;
            }
            Ok(())
        });
        write.await
    }

    fn counts(&self) -> MutexGuard<'_, PendingUsage> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add<K: Eq + Hash>(counts: &mut HashMap<K, i64>, more: impl IntoIterator<Item = (K, i64)>) {
    for (key, count) in more {
        *counts.entry(key).or_default() += count;
    }
}

/// In one order for every hub, so that no two wait for each other's rows.
fn sorted<K: Ord>(counts: HashMap<K, i64>) -> Vec<(K, i64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}
