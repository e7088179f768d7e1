//! Jobs are done when they are due, and by one hub.

use super::helpers::{DAY, MINUTE, report, status};
use crate::common::{Bundle, On, TestHub, both, on_sqlite, on_sqlite_with};
use capsid_hub::jobs::{Job, run_due};
use capsid_hub::random::SeededRandom;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::time::Clock;
use capsid_store::{Store, StoreOptions};
use std::sync::Arc;

fn due(hub: &TestHub) -> Vec<Job> {
    hub.runtime.block_on(run_due(&hub.hub))
}

#[test]
fn a_job_is_done_when_it_is_due_and_not_before() {
    both(|hub| {
        let first = due(hub);
        // Those that are looked at every second are done only where there is something to do.
        let idle = [
            Job::Reevaluation,
            Job::Deadlines,
            Job::Announcements,
            Job::IssuedSecrets,
            Job::HeldCredits,
            Job::Scanning,
            Job::Embedding,
        ];
        assert!(Job::ALL.iter().all(|job| first.contains(job) != idle.contains(job)), "{first:?}");
        assert_eq!(due(hub), []);
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        hub.clock.advance(MINUTE - 1);
        assert_eq!(due(hub), []);
        assert_eq!(status(hub, bundle.capsule_id()), "candidate");
        hub.clock.advance(1);
        assert!(due(hub).contains(&Job::Promotion));
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn an_interval_of_zero_means_never() {
    on_sqlite_with(
        |config| config.promotion.interval_ms = 0,
        |hub| {
            let bundle = Bundle::new(1);
            hub.publish("node_a", &bundle).expect(200);
            report(hub, "node_b", bundle.capsule_id(), true).expect(200);
            assert!(!due(hub).contains(&Job::Promotion));
            hub.clock.advance(DAY);
            assert!(!due(hub).contains(&Job::Promotion));
            assert_eq!(status(hub, bundle.capsule_id()), "candidate");
        },
    );
}

#[test]
fn a_clock_that_was_set_back_does_not_stop_the_jobs() {
    on_sqlite(|hub| {
        hub.clock.advance(DAY);
        assert!(due(hub).contains(&Job::Promotion));
        hub.clock.advance(-DAY);
        // The hub's time stands until the clock has caught up; it never goes back.
        assert!(!due(hub).contains(&Job::Promotion));
        hub.clock.advance(DAY + MINUTE);
        assert!(due(hub).contains(&Job::Promotion));
    });
}

#[test]
fn of_several_hubs_on_one_database_one_does_a_job() {
    let hub = TestHub::start(On::Postgres, |_| {});
    let other: Vec<SharedHub> = (0..2).map(|n| another(&hub, n)).collect();
    for _ in 0..5 {
        let ran = hub.runtime.block_on(async {
            let all = tokio::join!(run_due(&hub.hub), run_due(&other[0]), run_due(&other[1]));
            [all.0, all.1, all.2].concat()
        });
        let promotions = ran.iter().filter(|job| **job == Job::Promotion).count();
        assert_eq!(promotions, 1, "{ran:?}");
        hub.clock.advance(MINUTE);
    }
}

fn another(hub: &TestHub, seed: u64) -> SharedHub {
    let config = hub.hub.config.clone();
    let options =
        StoreOptions { readers: 1, writers: 1, ..StoreOptions::new(&config.data, config.database.clone()) };
    let store = Store::open(&options, hub.clock.now()).unwrap();
    let clock = Arc::clone(&hub.clock) as Arc<dyn Clock>;
    Hub::new(store, config, clock, Arc::new(SeededRandom::new(seed))).unwrap()
}
