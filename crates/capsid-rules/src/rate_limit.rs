//! Rate limits by the generic cell rate algorithm: one number remembers all that matters of the past.
//!
//! A limit of `count` per window lets `count` requests through at once and then one for each `window / count` that
//! passes. So no more than `count` pass at one moment, and no more than `count` a window in the long run.

/// How many leases a window has.
const LEASES_PER_WINDOW: u32 = 16;

/// How many requests may pass in how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct RateLimit {
    pub count: u32,
    pub window_ms: i64,
}

impl RateLimit {
    /// So many in each second.
    pub const fn per_second(count: u32) -> Self {
        Self { count, window_ms: 1_000 }
    }

    /// So many in each minute.
    pub const fn per_minute(count: u32) -> Self {
        Self { count, window_ms: 60_000 }
    }

    /// So many in each hour.
    pub const fn per_hour(count: u32) -> Self {
        Self { count, window_ms: 3_600_000 }
    }

    /// How many requests a hub takes at once where several share a limit.
    pub fn lease_size(self) -> u32 {
        (self.count / LEASES_PER_WINDOW).max(1)
    }

    /// The time between two requests in microseconds, rounded up so that rounding never lets more through.
    pub fn interval_us(self) -> i64 {
        let count = i64::from(self.count).max(1);
        let window = self.window_ms.max(0).saturating_mul(1_000);
        window / count + i64::from(window % count != 0)
    }
}

/// Takes one request: the number to remember, or the milliseconds to wait.
///
/// `previous` is what was remembered; it counts microseconds and means nothing to others. `now` is in milliseconds.
/// What was remembered from beyond the window comes from another clock or another limit, and is discarded: a refused
/// request remembers nothing, so holding on to it would refuse everything until the clock gets there.
pub fn check(previous: Option<i64>, now: i64, limit: RateLimit) -> Result<i64, i64> {
    if limit.count == 0 {
        return Err(limit.window_ms.max(1));
    }
    let (interval, furthest) = (limit.interval_us(), furthest(now, limit));
    let now = now.saturating_mul(1_000);
    let known = previous.filter(|previous| *previous <= furthest);
    let next = known.unwrap_or(now).max(now).saturating_add(interval);
    if next <= furthest {
        return Ok(next);
    }
    let wait = next - furthest;
    Err((wait / 1_000 + i64::from(wait % 1_000 != 0)).max(1))
}

/// The furthest number that may be remembered at a moment, in microseconds.
pub fn furthest(now: i64, limit: RateLimit) -> i64 {
    now.saturating_mul(1_000).saturating_add(limit.interval_us().saturating_mul(i64::from(limit.count)))
}

/// Takes a request back that turned out not to count: the number to remember.
pub fn refund(previous: i64, limit: RateLimit) -> i64 {
    previous.saturating_sub(limit.interval_us())
}

#[cfg(test)]
#[path = "rate_limit_tests.rs"]
mod tests;
