//! Writing a little later and many at once, so that a request does not wait for it.

use crate::error::ApiResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many items are written in one go. Writes that come meanwhile wait for it.
const BATCH: usize = 200;

/// When a batch is written.
#[derive(Debug, Clone, Copy)]
pub struct BatchTiming {
    /// How long items wait for others.
    pub delay: Duration,
    /// How much longer they wait after a failure.
    pub after_failure: Duration,
}

/// Whether a write is due, and whether one is under way. There is one at a time: several would wait for the same rows.
#[derive(Debug, Default)]
pub struct Batcher {
    due: AtomicBool,
    running: AtomicBool,
}

impl Batcher {
    /// Something waits to be written: `write` is called soon, and again until it works. `delayed` says in the log what
    /// a failure means.
    pub fn schedule<F>(
        self: &Arc<Self>,
        timing: BatchTiming,
        delayed: &'static str,
        write: impl Fn() -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ApiResult<()>> + Send,
    {
        self.due.store(true, Ordering::Release);
        if !self.running.swap(true, Ordering::AcqRel) {
            let batcher = Arc::clone(self);
            tokio::spawn(async move { batcher.run(timing, delayed, write).await });
        }
    }

    /// Whether something came since the last write began.
    pub fn is_due(&self) -> bool {
        self.due.load(Ordering::Acquire)
    }

    /// Writes until nothing is due any more.
    async fn run<F: Future<Output = ApiResult<()>>>(
        &self,
        timing: BatchTiming,
        delayed: &'static str,
        write: impl Fn() -> F,
    ) {
        loop {
            while self.due.swap(false, Ordering::AcqRel) {
                tokio::time::sleep(timing.delay).await;
                // Whatever came during the delay is part of this write.
                self.due.store(false, Ordering::Release);
                if let Err(error) = write().await {
                    tracing::warn!(code = error.code.as_str(), "{delayed}: {}", error.problem);
                    self.due.store(true, Ordering::Release);
                    tokio::time::sleep(timing.after_failure).await;
                }
            }
            self.running.store(false, Ordering::Release);
            // Something may have come just before the end was told.
            if !self.due.load(Ordering::Acquire) || self.running.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }
}

/// Writes items, some at a time. After a failure, also an earlier one, the rest is put back instead.
pub async fn write_in_batches<T: Clone, F: Future<Output = ApiResult<()>>>(
    mut outcome: ApiResult<()>,
    items: Vec<T>,
    write: impl Fn(Vec<T>) -> F,
    put_back: impl Fn(&[T]),
) -> ApiResult<()> {
    for some in items.chunks(BATCH) {
        if outcome.is_ok() {
            outcome = write(some.to_vec()).await;
        }
        if outcome.is_err() {
            put_back(some);
        }
    }
    outcome
}
