//! The hub's time. It never goes back: rows that follow each other have times that do, whatever happens to the machine's
//! clock. Hubs that share a database go by the database's clock.

use capsid_model::time::{Clock, Time};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// From this difference on, clocks are reported to differ.
pub const MAX_DIFFERENCE_MS: i64 = 5_000;

/// The time of one hub.
pub struct HubClock {
    machine: Arc<dyn Clock>,
    /// The hub's time when the ticks of the machine were zero.
    offset: AtomicI64,
    /// The latest moment that was given out.
    latest: AtomicI64,
    /// Whether the offset comes from the database.
    is_shared: AtomicBool,
}

impl HubClock {
    /// A clock that begins with the machine's.
    pub fn new(machine: Arc<dyn Clock>) -> Arc<Self> {
        let offset = machine.now().0.saturating_sub(machine.ticks());
        Arc::new(Self {
            offset: AtomicI64::new(offset),
            latest: AtomicI64::new(i64::MIN),
            is_shared: AtomicBool::new(false),
            machine,
        })
    }

    /// Goes by the database's time from here on. It is told again from time to time, for clocks drift.
    pub fn follow(&self, database: Time) {
        self.is_shared.store(true, Ordering::Relaxed);
        self.offset.store(database.0.saturating_sub(self.machine.ticks()), Ordering::Relaxed);
    }

    /// The present moment. It is never before one that was given out.
    pub fn now(&self) -> Time {
        let ticks = self.machine.ticks();
        let now = ticks.saturating_add(self.offset(ticks));
        Time(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    /// How far the hub's time is ahead of the machine's clock, in milliseconds.
    pub fn difference_ms(&self) -> i64 {
        self.now().0.saturating_sub(self.machine.now().0)
    }

    fn offset(&self, ticks: i64) -> i64 {
        if self.is_shared.load(Ordering::Relaxed) {
            return self.offset.load(Ordering::Relaxed);
        }
        // A clock that is set forward is followed, as after the machine slept. One that is set back is not.
        let offset = self.machine.now().0.saturating_sub(ticks);
        self.offset.fetch_max(offset, Ordering::Relaxed).max(offset)
    }
}

impl fmt::Debug for HubClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubClock").field("latest", &self.latest).finish_non_exhaustive()
    }
}

impl Clock for HubClock {
    fn now(&self) -> Time {
        Self::now(self)
    }

    fn ticks(&self) -> i64 {
        self.machine.ticks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose clock can be set while its ticks go on.
    #[derive(Default)]
    struct Machine {
        wall: AtomicI64,
        ticks: AtomicI64,
    }

    impl Machine {
        fn pass(&self, ms: i64) {
            self.wall.fetch_add(ms, Ordering::Relaxed);
            self.ticks.fetch_add(ms, Ordering::Relaxed);
        }

        fn set(&self, ms: i64) {
            self.wall.fetch_add(ms, Ordering::Relaxed);
        }
    }

    impl Clock for Machine {
        fn now(&self) -> Time {
            Time(self.wall.load(Ordering::Relaxed))
        }
        fn ticks(&self) -> i64 {
            self.ticks.load(Ordering::Relaxed)
        }
    }

    const DAY: i64 = 86_400_000;

    #[test]
    fn a_clock_set_back_neither_stops_nor_turns_the_time() {
        let machine = Arc::new(Machine::default());
        machine.set(10 * DAY);
        let clock = HubClock::new(Arc::clone(&machine) as Arc<dyn Clock>);
        assert_eq!(clock.now(), Time(10 * DAY));
        machine.set(-DAY);
        assert_eq!(clock.now(), Time(10 * DAY));
        machine.pass(1_000);
        assert_eq!(clock.now(), Time(10 * DAY + 1_000));
        assert_eq!(clock.difference_ms(), DAY);
        machine.set(2 * DAY);
        assert_eq!(clock.now(), Time(11 * DAY + 1_000), "set forward, it is followed");
        assert_eq!(clock.difference_ms(), 0);
    }

    #[test]
    fn hubs_that_share_a_database_share_its_time() {
        let hubs = [0, 90_000].map(|skew| {
            let machine = Arc::new(Machine::default());
            machine.set(5 * DAY + skew);
            (HubClock::new(Arc::clone(&machine) as Arc<dyn Clock>), machine)
        });
        for (clock, machine) in &hubs {
            let before = clock.now();
            machine.pass(7);
            clock.follow(Time(6 * DAY));
            machine.pass(3);
            machine.set(-DAY);
            assert_eq!(clock.now(), Time(6 * DAY + 3));
            assert!(clock.now() > before);
        }
        let (clock, machine) = &hubs[0];
        clock.follow(Time(4 * DAY));
        machine.pass(1);
        assert_eq!(clock.now(), Time(6 * DAY + 3), "it waits until the database is there");
    }
}
