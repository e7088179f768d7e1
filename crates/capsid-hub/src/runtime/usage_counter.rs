//! Counting use. Fetches and looks are gathered in memory and written a little later, many at once, so that a read
//! stays a read.

use super::batcher::{BatchTiming, Batcher, write_in_batches};
use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_store::assets::id::AssetId;
use capsid_store::graph::usage as graph_usage;
use capsid_store::graph::usage::GraphUsage;
use capsid_store::registry::usage;
use capsid_store::registry::usage::FetchCount;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const TIMING: BatchTiming = BatchTiming { delay: Duration::from_millis(500), after_failure: Duration::ZERO };

/// Counts that are not written yet.
#[derive(Debug, Default)]
pub struct UsageCounter {
    gathered: Mutex<PendingUsage>,
    batcher: Arc<Batcher>,
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
    /// Counts a node's fetch of some assets.
    pub fn fetched(&self, hub: &SharedHub, node_id: &str, assets: &[AssetId]) {
        let fetches = assets.iter().map(|id| ((*id, node_id.to_owned()), 1));
        add(&mut self.counts().fetches, fetches);
        if !assets.is_empty() {
            self.write_later(hub);
        }
    }

    /// Counts a look at an asset.
    pub fn viewed(&self, hub: &SharedHub, id: AssetId) {
        add(&mut self.counts().views, [(id, 1)]);
        self.write_later(hub);
    }

    /// Counts a question to the knowledge graph that costs nothing.
    pub fn count_query(&self, hub: &SharedHub, who: &str) {
        add(&mut self.counts().asked, [(who.to_owned(), 1)]);
        self.write_later(hub);
    }

    /// Writes all that was counted up to now.
    pub async fn flush(&self, hub: &SharedHub) -> ApiResult<()> {
        let _alone = self.writing.lock().await;
        let PendingUsage { fetches, views, asked } = std::mem::take(&mut *self.counts());
        let put_back = |rest: &[_]| add(&mut self.counts().fetches, rest.iter().cloned());
        let outcome =
            write_in_batches(Ok(()), sorted(fetches), |some| write_fetches(hub, some), put_back).await;
        let put_back = |rest: &[_]| add(&mut self.counts().views, rest.iter().copied());
        let outcome = write_in_batches(outcome, sorted(views), |some| write_views(hub, some), put_back).await;
        let put_back = |rest: &[_]| add(&mut self.counts().asked, rest.iter().cloned());
        write_in_batches(outcome, sorted(asked), |some| write_asked(hub, some), put_back).await
    }

    fn write_later(&self, hub: &SharedHub) {
        let hub = Arc::clone(hub);
        self.batcher.schedule(TIMING, "fetches could not be counted yet", move || {
            let hub = Arc::clone(&hub);
            async move { hub.usage.flush(&hub).await }
        });
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

async fn write_fetches(hub: &SharedHub, fetches: Vec<((AssetId, String), i64)>) -> ApiResult<()> {
    let fetches: Vec<FetchCount> = fetches
        .into_iter()
        .map(|((asset_id, node_id), calls)| FetchCount { node_id, asset_id, calls })
        .collect();
    let (rewards, now) = (hub.config.rewards(), hub.now());
    hub.store.write::<_, ApiError, _>(move |tx| Ok(usage::count(tx, &fetches, &rewards, now)?)).await
}

async fn write_views(hub: &SharedHub, views: Vec<(AssetId, i64)>) -> ApiResult<()> {
    hub.store.write::<_, ApiError, _>(move |tx| Ok(usage::count_views(tx, &views)?)).await
}

async fn write_asked(hub: &SharedHub, asked: Vec<(String, i64)>) -> ApiResult<()> {
    let now = hub.now();
    let write = hub.store.write::<_, ApiError, _>(move |tx| {
        for (who, questions) in &asked {
            graph_usage::count(tx, who, GraphUsage { queries: *questions, ..GraphUsage::default() }, now)?;
        }
        Ok(())
    });
    write.await
}
