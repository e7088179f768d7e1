//! Bringing new assets into the search index, a moment after they were published and many at once.

use crate::error::{ApiError, Result};
use crate::state::Shared;
use capsid_store::search;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long new assets wait for others.
const LATER: Duration = Duration::from_millis(50);
/// How long to wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(5);
/// How many assets are indexed in one go.
const AT_ONCE: usize = 300;

/// Whether indexing is due.
#[derive(Debug, Default)]
pub struct Indexer {
    waiting: AtomicBool,
}

impl Indexer {
    /// Something was published: it will be indexed soon. Searches see it already.
    pub fn published(&self, hub: &Shared) {
        self.index_after(hub, LATER);
    }

    fn index_after(&self, hub: &Shared, delay: Duration) {
        if self.waiting.swap(true, Ordering::AcqRel) {
            return;
        }
        let hub = Arc::clone(hub);
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            hub.indexer.waiting.store(false, Ordering::Release);
            if let Err(error) = index_all(&hub).await {
                tracing::warn!(
                    code = error.code.as_str(),
                    "new assets wait for the index: {}",
                    error.problem
                );
                hub.indexer.index_after(&hub, AFTER_FAILURE);
            }
        });
    }

    /// Indexes what an earlier run of the hub, or another hub, has left behind.
    pub async fn catch_up(&self, hub: &Shared) -> Result<()> {
        while hub.store.write::<_, ApiError, _>(|tx| Ok(search::index_missed(tx, AT_ONCE)?)).await? == AT_ONCE
        {
        }
        Ok(())
    }
}

/// Indexes all that is new.
pub async fn index_all(hub: &Shared) -> Result<()> {
    while hub.store.write::<_, ApiError, _>(|tx| Ok(search::index_pending(tx, AT_ONCE)?)).await? == AT_ONCE {}
    Ok(())
}

/// How often missed assets are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// Looks for missed assets from time to time, until the hub stops.
pub async fn keep_up(hub: Shared) {
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
