//! Counting use. Fetches and looks are gathered in memory and written a little later, many at once, so that a read
//! stays a read.

use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_store::assets::id::AssetId;
use capsid_store::graph::usage as graph_usage;
use capsid_store::graph::usage::GraphUsage;
use capsid_store::registry::usage;
use capsid_store::registry::usage::FetchCount;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long counts wait for others.
const DELAY: Duration = Duration::from_millis(500);
/// How many are written in one go.
const BATCH: usize = 200;

/// Counts that are not written yet.
#[derive(Debug, Default)]
pub struct UsageCounter {
    gathered: Mutex<PendingUsage>,
    waiting: AtomicBool,
    /// Whoever writes holds this, so that a flush returns only when everything before it is written.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct PendingUsage {
    fetches: HashMap<(String, AssetId), i64>,
    views: HashMap<AssetId, i64>,
    /// Questions to the knowledge graph that cost nothing, by who asked.
    asked: HashMap<String, i64>,
}

impl UsageCounter {
    /// Counts a node's fetch of some assets.
    pub fn fetched(&self, hub: &SharedHub, node_id: &str, assets: &[AssetId]) {
        if assets.is_empty() {
            return;
        }
        {
            let mut counts = self.counts();
            for id in assets {
                *counts.fetches.entry((node_id.to_owned(), *id)).or_default() += 1;
            }
        }
        self.write_later(hub);
    }

    /// Counts a look at an asset.
    pub fn viewed(&self, hub: &SharedHub, id: AssetId) {
        *self.counts().views.entry(id).or_default() += 1;
        self.write_later(hub);
    }

    /// Counts a question to the knowledge graph that costs nothing.
    pub fn count_query(&self, hub: &SharedHub, who: &str) {
        *self.counts().asked.entry(who.to_owned()).or_default() += 1;
        self.write_later(hub);
    }

    /// Writes all that was counted up to now.
    pub async fn flush(&self, hub: &SharedHub) -> ApiResult<()> {
        let _alone = self.writing.lock().await;
        let PendingUsage { fetches, views, asked } = std::mem::take(&mut *self.counts());
        let mut fetches: Vec<FetchCount> = fetches
            .into_iter()
            .map(|((node_id, asset_id), calls)| FetchCount { node_id, asset_id, calls })
            .collect();
        fetches.sort_unstable_by(|a, b| (&a.asset_id, &a.node_id).cmp(&(&b.asset_id, &b.node_id)));
        let mut views: Vec<(AssetId, i64)> = views.into_iter().collect();
        views.sort_unstable();
        let mut outcome = Ok(());
        for some in fetches.chunks(BATCH) {
            if outcome.is_err() || {
                outcome = write_fetches(hub, some).await;
                outcome.is_err()
            } {
                self.restore_counts(some, &[]);
            }
        }
        for some in views.chunks(BATCH) {
            if outcome.is_err() || {
                outcome = write_views(hub, some).await;
                outcome.is_err()
            } {
                self.restore_counts(&[], some);
            }
        }
        let mut asked: Vec<(String, i64)> = asked.into_iter().collect();
        asked.sort_unstable();
        for some in asked.chunks(BATCH) {
            if outcome.is_err() || {
                outcome = write_asked(hub, some).await;
                outcome.is_err()
            } {
                self.restore_queries(some);
            }
        }
        outcome
    }

    fn restore_queries(&self, asked: &[(String, i64)]) {
        let mut counts = self.counts();
        for (who, questions) in asked {
            *counts.asked.entry(who.clone()).or_default() += questions;
        }
    }

    fn restore_counts(&self, fetches: &[FetchCount], views: &[(AssetId, i64)]) {
        let mut counts = self.counts();
        for fetch in fetches {
            *counts.fetches.entry((fetch.node_id.clone(), fetch.asset_id)).or_default() += fetch.calls;
        }
        for (id, looks) in views {
            *counts.views.entry(*id).or_default() += looks;
        }
    }

    fn write_later(&self, hub: &SharedHub) {
        if self.waiting.swap(true, Ordering::AcqRel) {
            return;
        }
        let hub = Arc::clone(hub);
        tokio::spawn(async move {
            tokio::time::sleep(DELAY).await;
            hub.usage.waiting.store(false, Ordering::Release);
            if let Err(error) = hub.usage.flush(&hub).await {
                tracing::warn!(
                    code = error.code.as_str(),
                    "fetches could not be counted yet: {}",
                    error.problem
                );
                hub.usage.write_later(&hub);
            }
        });
    }

    fn counts(&self) -> MutexGuard<'_, PendingUsage> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write_fetches(hub: &SharedHub, fetches: &[FetchCount]) -> ApiResult<()> {
    let (fetches, rewards, now) = (fetches.to_vec(), hub.config.rewards(), hub.now());
    hub.store.write::<_, ApiError, _>(move |tx| Ok(usage::count(tx, &fetches, &rewards, now)?)).await
}

async fn write_views(hub: &SharedHub, views: &[(AssetId, i64)]) -> ApiResult<()> {
    let views = views.to_vec();
    hub.store.write::<_, ApiError, _>(move |tx| Ok(usage::count_views(tx, &views)?)).await
}

async fn write_asked(hub: &SharedHub, asked: &[(String, i64)]) -> ApiResult<()> {
    let (asked, now) = (asked.to_vec(), hub.now());
    let write = hub.store.write::<_, ApiError, _>(move |tx| {
        for (who, questions) in &asked {
            graph_usage::count(tx, who, GraphUsage { queries: *questions, ..GraphUsage::default() }, now)?;
        }
        Ok(())
    });
    write.await
}
