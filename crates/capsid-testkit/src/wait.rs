//! Waiting for what another thread or process does. A check is repeated every 20 ms until it holds.
//!
//! A limit is there to end a test that would hang, not to measure: choose one that the slowest machine meets.

use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(20);

/// Waits until a check holds; panics at the limit.
#[track_caller]
pub fn until(what: &str, limit: Duration, check: impl FnMut() -> bool) {
    assert!(happens(limit, check), "waited {limit:?} in vain: {what}");
}

/// Waits until there is a value; panics at the limit.
#[track_caller]
pub fn until_some<T>(what: &str, limit: Duration, mut check: impl FnMut() -> Option<T>) -> T {
    let mut value = None;
    until(what, limit, || {
        value = check();
        value.is_some()
    });
    value.unwrap()
}

/// Waits until a check holds, and returns whether it did within the limit.
pub fn happens(limit: Duration, mut check: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if check() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a check holds, on a tokio runtime; panics at the limit.
#[cfg(feature = "database")]
pub async fn until_async(what: &str, limit: Duration, mut check: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !check().await {
        assert!(start.elapsed() < limit, "waited {limit:?} in vain: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
