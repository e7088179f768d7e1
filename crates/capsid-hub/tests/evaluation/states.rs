//! The store moves assets exactly as the rules say, whatever is asked in whatever order.

use super::helpers::{audited, id, status};
use crate::common::{Bundle, On, TestHub};
use capsid_model::time::Clock;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus, step};
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::StatusChangeOutcome;
use capsid_testkit::rounds::{rounds, seeded_rng};

#[test]
fn the_store_follows_the_rules_step_by_step() {
    let mut rng = seeded_rng();
    for on in [On::Sqlite, On::Postgres] {
        let hub = TestHub::start(on, |_| {});
        for round in 0..rounds(12, 400) {
            let bundle = Bundle::new(round as u64);
            hub.publish("node_a", &bundle).expect(200);
            let (capsule, mut expected, mut written) = (id(bundle.capsule_id()), AssetStatus::Candidate, 0);
            for _ in 0..12 {
                let change = AssetEvent::ALL[rng.usize(..AssetEvent::ALL.len())];
                let now = hub.clock.now();
                let made = hub
                    .hub
                    .store
                    .write_now(move |tx| lifecycle::change(tx, &capsule, change, "operator", None, now))
                    .unwrap();
                match step(expected, change) {
                    Ok(to) => {
                        assert_eq!(made, StatusChangeOutcome::Done { from: expected, to }, "{change:?}");
                        (expected, written) = (to, written + 1);
                    }
                    Err(refusal) => assert_eq!(made, StatusChangeOutcome::Refused(refusal)),
                }
                assert_eq!(status(&hub, bundle.capsule_id()), expected.as_str());
                hub.clock.advance(1000);
            }
            assert_eq!(audited(&hub, "asset", bundle.capsule_id()).len(), written, "every change is audited");
        }
    }
}
