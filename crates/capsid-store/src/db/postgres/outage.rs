//! How long a server has been out of reach.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// As long as the usual change from one server to its standby takes, operations wait for it; from then on they are refused at
/// once, so that requests do not pile up.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often somebody looks then whether it is back.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Since when a server has been out of reach, for all connections to it.
#[derive(Default)]
pub struct Outage(Mutex<Option<Failures>>);

#[derive(Clone, Copy)]
struct Failures {
    first: Instant,
    last: Instant,
}

impl Outage {
    /// Notes that an operation which began at `started` failed, and tells whether it is worth trying again.
    pub fn is_bearable(&self, started: Instant) -> bool {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let first = failures.map_or(now, |failures| failures.first);
        *failures = Some(Failures { first, last: now });
        first.elapsed().max(started.elapsed()) < PATIENCE
    }

    /// Whether it lasts for long, and somebody just saw that it still does.
    pub fn is_known(&self) -> bool {
        let failures = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.is_some_and(|failures| {
            failures.first.elapsed() >= PATIENCE && failures.last.elapsed() < LOOK_EVERY
        })
    }

    /// An operation came to its end.
    pub fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_tried_again_for_a_while_and_then_refused_at_once() {
        let (outage, now) = (Outage::default(), Instant::now());
        assert!(outage.is_bearable(now) && !outage.is_known());
        assert!(
            !outage.is_bearable(now.checked_sub(PATIENCE).unwrap()),
            "an operation that waited long enough"
        );
        let long_ago = now.checked_sub(PATIENCE).unwrap();
        *outage.0.lock().unwrap() = Some(Failures { first: long_ago, last: now });
        assert!(outage.is_known() && !outage.is_bearable(now));
        *outage.0.lock().unwrap() = Some(Failures { first: long_ago, last: long_ago });
        assert!(!outage.is_known(), "somebody has to look again");
        outage.end();
        assert!(outage.is_bearable(Instant::now()) && !outage.is_known());
    }
}
