//! Ids made of a millisecond stamp, as existing stores have them, that still never collide.

use crate::Time;

/// Hands out millisecond stamps, each larger than every one before it.
///
/// Ids such as `evt_1770477654236` hold nothing but a time. Whoever holds the store's lock seeds this with the
/// newest stamp in the store, so two ids never meet, even within one millisecond or after the clock went back.
#[derive(Debug, Clone, Default)]
pub struct IdMaker {
    last: i64,
}

impl IdMaker {
    /// Starts above the newest stamp already used.
    pub fn after(newest: i64) -> Self {
        Self { last: newest }
    }

    /// The next stamp: now, or one above the last.
    pub fn stamp(&mut self, now: Time) -> i64 {
        self.last = now.0.max(self.last + 1);
        self.last
    }

    /// The next id with the given prefix, such as `evt`.
    pub fn make(&mut self, prefix: &str, now: Time) -> String {
        format!("{prefix}_{}", self.stamp(now))
    }
}

/// The stamp inside an id such as `evt_1770477654236`, if it has one.
pub fn stamp_of(id: &str) -> Option<i64> {
    id.rsplit('_').find_map(|part| part.parse().ok().filter(|stamp| *stamp > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_differ() {
        let mut ids = IdMaker::after(41);
        let now = Time(42);
        assert_eq!(ids.make("evt", now), "evt_42");
        assert_eq!(ids.make("evt", now), "evt_43");
        assert_eq!(ids.make("evt", Time(7)), "evt_44", "a clock that went back changes nothing");
        assert_eq!(stamp_of("evt_1770477654236"), Some(1_770_477_654_236));
        assert_eq!(stamp_of("gene_gep_repair_from_errors"), None);
    }
}
