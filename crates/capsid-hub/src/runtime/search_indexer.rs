//! Bringing new assets into the search index, a moment after they were published and many at once.

use super::batcher::{BatchTiming, Batcher};
use crate::error::{ApiError, ApiResult};
use capsid_store::Store;
use capsid_store::search;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

const TIMING: BatchTiming =
    BatchTiming { delay: Duration::from_millis(50), after_failure: Duration::from_secs(5) };
/// How many assets are indexed in one go. Writes that come meanwhile wait for it.
const BATCH: usize = 100;
/// How often missed assets are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// Indexes what was published.
pub struct SearchIndexer {
    store: Arc<Store>,
    batcher: Arc<Batcher>,
}

impl SearchIndexer {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, batcher: Arc::default() }
    }

    /// Something was published: it will be indexed soon. Searches see it already.
    pub fn published(&self) {
        let store = Arc::clone(&self.store);
        self.batcher.schedule(TIMING, "new assets wait for the index", move || {
            let store = Arc::clone(&store);
            async move { index_all(&store).await }
        });
    }

    /// Looks from time to time for assets that an earlier run of the hub, or another hub, has left behind. Ends when
    /// the hub closes.
    pub async fn run_sweeps(&self, mut closing: watch::Receiver<bool>) {
        loop {
            if let Err(error) = self.catch_up().await {
                tracing::warn!(code = error.code.as_str(), "the index is behind: {}", error.problem);
            }
            tokio::select! {
                () = tokio::time::sleep(SWEEP) => {}
                _ = closing.wait_for(|closed| *closed) => return,
            }
        }
    }

    async fn catch_up(&self) -> ApiResult<()> {
        while self.store.write::<_, ApiError, _>(|tx| Ok(search::index_missed(tx, BATCH)?)).await? == BATCH {}
        Ok(())
    }
}

/// Indexes all that is new.
pub async fn index_all(store: &Store) -> ApiResult<()> {
    while store.write::<_, ApiError, _>(|tx| Ok(search::index_pending(tx, BATCH)?)).await? == BATCH {}
    Ok(())
}
