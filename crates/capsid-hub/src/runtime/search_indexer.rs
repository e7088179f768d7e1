//! Bringing new assets into the search index, a moment after they were published and many at once.

use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_store::search;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long new assets wait for others.
const DELAY: Duration = Duration::from_millis(50);
/// How long to wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(5);
/// How many assets are indexed in one go. Writes that come meanwhile wait for it.
const BATCH: usize = 100;

/// Whether indexing is due, and whether it goes on. There is one run at a time, for all of them would wait for one row.
#[derive(Debug, Default)]
pub struct SearchIndexer {
    due: AtomicBool,
    running: AtomicBool,
}

impl SearchIndexer {
    /// Something was published: it will be indexed soon. Searches see it already.
    pub fn published(&self, hub: &SharedHub) {
        self.due.store(true, Ordering::Release);
        if !self.running.swap(true, Ordering::AcqRel) {
            tokio::spawn(run(Arc::clone(hub)));
        }
    }

    /// Indexes what an earlier run of the hub, or another hub, has left behind.
    pub async fn catch_up(&self, hub: &SharedHub) -> ApiResult<()> {
        while hub.store.write::<_, ApiError, _>(|tx| Ok(search::index_missed(tx, BATCH)?)).await? == BATCH {}
        Ok(())
    }
}

/// Indexes until nothing is due any more.
async fn run(hub: SharedHub) {
    let indexer = &hub.indexer;
    loop {
        while indexer.due.swap(false, Ordering::AcqRel) {
            tokio::time::sleep(DELAY).await;
            if let Err(error) = index_all(&hub).await {
                tracing::warn!(
                    code = error.code.as_str(),
                    "new assets wait for the index: {}",
                    error.problem
                );
                indexer.due.store(true, Ordering::Release);
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
        indexer.running.store(false, Ordering::Release);
        // Something may have come just before the end was told.
        let more = indexer.due.load(Ordering::Acquire) && !indexer.running.swap(true, Ordering::AcqRel);
        if !more {
            return;
        }
    }
}

/// Indexes all that is new.
pub async fn index_all(hub: &SharedHub) -> ApiResult<()> {
    while hub.store.write::<_, ApiError, _>(|tx| Ok(search::index_pending(tx, BATCH)?)).await? == BATCH {}
    Ok(())
}

/// How often missed assets are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// Looks for missed assets from time to time, until the hub stops.
pub async fn run_sweeps(hub: SharedHub) {
    let mut closing = hub.closing.clone();
    loop {
        if let Err(error) = hub.indexer.catch_up(&hub).await {
            tracing::warn!(code = error.code.as_str(), "the index is behind: {}", error.problem);
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            _ = closing.wait_for(|closed| *closed) => return,
        }
    }
}
