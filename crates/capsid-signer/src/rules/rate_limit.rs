//! How many records a user may have signed: a bucket that fills at a steady pace.

/// The sustained pace, in records per second.
pub const RECORDS_PER_SECOND: u64 = 5_000;
/// How many may come at once.
pub const BURST: u64 = 500_000;

/// The bucket of one user. Time comes in as milliseconds that never go back.
#[derive(Debug, Clone)]
pub struct RecordBucket {
    /// In thousandths of a record.
    available: u64,
    since: i64,
}

impl RecordBucket {
    /// A full one.
    pub fn full(now: i64) -> Self {
        Self { available: BURST * 1000, since: now }
    }

    /// Takes records out, or says in how many milliseconds they are there.
    pub fn withdraw(&mut self, records: u64, now: i64) -> Result<(), u64> {
        let elapsed = u64::try_from(now.saturating_sub(self.since)).unwrap_or_default();
        self.since = self.since.max(now);
        let filled = elapsed.saturating_mul(RECORDS_PER_SECOND);
        self.available = self.available.saturating_add(filled).min(BURST * 1000);
        let wanted = records.saturating_mul(1000);
        match self.available.checked_sub(wanted) {
            Some(rest) => {
                self.available = rest;
                Ok(())
            }
            None => Err((wanted - self.available).div_ceil(RECORDS_PER_SECOND)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_pace_holds() {
        let mut bucket = RecordBucket::full(0);
        assert_eq!(bucket.withdraw(BURST, 0), Ok(()));
        assert_eq!(bucket.withdraw(1000, 0), Err(200));
        assert_eq!(bucket.withdraw(1000, 199), Err(1));
        assert_eq!(bucket.withdraw(1000, 200), Ok(()));
        assert_eq!(bucket.withdraw(1, 100), Err(1), "a clock that goes back fills nothing");
        assert_eq!(bucket.withdraw(BURST, i64::MAX), Ok(()));
        assert_eq!(bucket.withdraw(1, i64::MAX), Err(1), "it never holds more than a burst");
    }
}
