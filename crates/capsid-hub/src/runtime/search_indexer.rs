//! Bringing new assets into the search index, a moment after they were published and many at once.

use super::batcher::{BatchTiming, Batcher};
use crate::error::{ApiError, ApiResult};
use crate::state::SharedHub;
use capsid_store::search;
use std::sync::Arc;
use std::time::Duration;

const TIMING: BatchTiming =
    BatchTiming { delay: Duration::from_millis(50), after_failure: Duration::from_secs(5) };
/// How many assets are indexed in one go. Writes that come meanwhile wait for it.
const BATCH: usize = 100;

/// Indexes what was published.
#[derive(Debug, Default)]
pub struct SearchIndexer(Arc<Batcher>);

impl SearchIndexer {
    /// Something was published: it will be indexed soon. Searches see it already.
    pub fn published(&self, hub: &SharedHub) {
        let hub = Arc::clone(hub);
        self.0.schedule(TIMING, "new assets wait for the index", move || {
            let hub = Arc::clone(&hub);
            async move { index_all(&hub).await }
        });
    }

    /// Indexes what an earlier run of the hub, or another hub, has left behind.
    pub async fn catch_up(&self, hub: &SharedHub) -> ApiResult<()> {
        while hub.store.write::<_, ApiError, _>(|tx| Ok(search::index_missed(tx, BATCH)?)).await? == BATCH {}
        Ok(())
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
