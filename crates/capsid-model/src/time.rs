//! Moments in milliseconds since the epoch. Rules take them as arguments; only a [`Clock`] reads one.

use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    /// Reads an ISO 8601 time such as `2026-02-07T15:20:54.155Z`.
    pub fn parse(text: &str) -> Option<Self> {
        text.trim().parse::<jiff::Timestamp>().ok().map(|t| Self(t.as_millisecond()))
    }

    /// The UTC date, as `2026-02-07`.
    pub fn date(self) -> String {
        self.iso().chars().take(10).collect()
    }

    /// `2026-02-07T15:20:54.155Z`, always with three decimals, as ECMAScript writes it.
    pub fn iso(self) -> String {
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        format!("{moment:.3}")
    }

    /// Days from `earlier` to this moment; negative when `earlier` is later.
    pub fn days_since(self, earlier: Time) -> f64 {
        (self.0 - earlier.0) as f64 / 86_400_000.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iso())
    }
}

/// Where time comes from. Tests pass their own.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Time;

    /// Milliseconds since some fixed moment. Setting the clock does not change their pace.
    fn ticks(&self) -> i64 {
        self.now().0
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        Time(jiff::Timestamp::now().as_millisecond())
    }

    fn ticks(&self) -> i64 {
        static START: OnceLock<Instant> = OnceLock::new();
        i64::try_from(START.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

impl Clock for Time {
    /// A clock that stands still, for tests and replays.
    fn now(&self) -> Time {
        *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_has_three_decimals_and_round_trips() {
        assert_eq!(Time(1_770_477_654_155).iso(), "2026-02-07T15:20:54.155Z");
        assert_eq!(Time(1_770_477_654_000).iso(), "2026-02-07T15:20:54.000Z");
        assert_eq!(Time::parse("2026-02-07T15:20:54.155Z"), Some(Time(1_770_477_654_155)));
        assert_eq!(Time::parse("yesterday"), None);
        assert_eq!(Time(1_770_477_654_155).date(), "2026-02-07");
    }
}
