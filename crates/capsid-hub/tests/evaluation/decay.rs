//! What time does to assets.

use super::helpers::{DAY, asset, id, report, run_jobs, status};
use crate::common::{Bundle, both, on_sqlite};
use capsid_model::time::Clock;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::registry::usage;
use capsid_store::registry::usage::FetchCount;

#[test]
fn what_nobody_uses_grows_old_step_by_step_and_use_brings_it_back() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
        hub.clock.advance(170 * DAY);
        assert_eq!(run_jobs(hub)["ageing"], 0);
        hub.clock.advance(DAY);
        assert_eq!(run_jobs(hub)["ageing"], 1);
        assert_eq!(status(hub, bundle.capsule_id()), "stale");
        assert_eq!(status(hub, bundle.gene_id()), "stale", "its gene goes with it");
        assert_eq!(run_jobs(hub)["ageing"], 0);
        hub.clock.advance(99 * DAY);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "archived");
        for expected in ["stale", "promoted", "promoted"] {
            let fetch =
                FetchCount { node_id: "node_b".to_owned(), asset_id: id(bundle.capsule_id()), calls: 1 };
            let now = hub.clock.now();
            hub.hub
                .store
                .write_now(move |tx| usage::count(tx, std::slice::from_ref(&fetch), &RewardRates::NONE, now))
                .unwrap();
            assert_eq!(status(hub, bundle.capsule_id()), expected);
        }
    });
}

#[test]
fn nothing_ages_two_steps_in_one_run() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", bundle.capsule_id(), true).expect(200);
        run_jobs(hub);
        hub.clock.advance(1000 * DAY);
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "stale");
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "archived");
    });
}

#[test]
fn a_score_is_brought_up_to_date_after_a_day() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let fresh = asset(hub, bundle.capsule_id()).gdi;
        hub.clock.advance(DAY - 1);
        assert_eq!(run_jobs(hub)["rescoring"], 0);
        hub.clock.advance(30 * DAY);
        assert_eq!(run_jobs(hub)["rescoring"], 3);
        assert!(asset(hub, bundle.capsule_id()).gdi < fresh);
        assert_eq!(run_jobs(hub)["rescoring"], 0);
    });
}
