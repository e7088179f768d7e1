//! How long an endpoint that failed is left alone, and that it is said once.

use super::client::EmbeddingError;
use capsid_model::time::Time;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// No pause is longer. What is further away was set by a clock that was wrong.
const MAX_MS: i64 = 3_600_000;

/// Whether something fails, and until when it is not tried again.
#[derive(Debug)]
pub struct CircuitBreaker {
    /// What an outage means, for the log.
    means: &'static str,
    trouble: Mutex<BreakerState>,
}

#[derive(Debug, Default)]
struct BreakerState {
    failures: i64,
    until: i64,
    suspects: usize,
    code: Option<&'static str>,
}

impl CircuitBreaker {
    /// None yet.
    pub fn new(means: &'static str) -> Self {
        Self { means, trouble: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BreakerState> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is too early to try again.
    pub fn is_resting(&self, now: Time) -> bool {
        let left = self.lock().until - now.0;
        (1..=MAX_MS).contains(&left)
    }

    /// How often it failed since it last worked.
    pub fn failures(&self) -> i64 {
        self.lock().failures
    }

    /// Why it failed last, if it has not worked since.
    pub fn last_error(&self) -> Option<&'static str> {
        self.lock().code
    }

    /// It failed, and is left alone for a while.
    pub fn failed(&self, fault: EmbeddingError, pause_ms: i64, now: Time) {
        let mut trouble = self.lock();
        trouble.failures += 1;
        trouble.suspects = 0;
        trouble.until = now.0.saturating_add(pause_ms.min(MAX_MS));
        // Once for an outage, and again only when something else is the matter.
        if trouble.code.replace(fault.as_str()) != Some(fault.as_str()) {
            tracing::warn!(
                code = fault.as_str(),
                "the endpoint for embeddings cannot be used: {}",
                self.means
            );
        }
    }

    /// One text failed, which may be its own fault. Tells how many did in a row.
    pub fn suspect(&self) -> usize {
        let mut trouble = self.lock();
        trouble.suspects += 1;
        trouble.suspects
    }

    /// It worked.
    pub fn worked(&self) {
        let before = std::mem::take(&mut *self.lock());
        if before.code.is_some() {
            tracing::info!(failures = before.failures, "the endpoint for embeddings works again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_that_failed_is_left_alone_for_a_while() {
        let outage = CircuitBreaker::new("x");
        let at = |ms| Time(1_000_000 + ms);
        assert!(!outage.is_resting(at(0)));
        outage.failed(EmbeddingError::Timeout, 500, at(0));
        outage.failed(EmbeddingError::Denied, 500, at(0));
        assert!(outage.is_resting(at(499)) && !outage.is_resting(at(500)));
        assert!(!outage.is_resting(at(-2 * MAX_MS)), "a clock that was set back");
        assert_eq!((outage.failures(), outage.last_error()), (2, Some("key_refused")));
        assert_eq!([outage.suspect(), outage.suspect()], [1, 2]);
        outage.worked();
        assert_eq!(outage.suspect(), 1);
        assert!(!outage.is_resting(at(0)));
        assert_eq!((outage.failures(), outage.last_error()), (0, None));
    }
}
