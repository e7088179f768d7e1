//! A test that passes without the change, as the runner and reports show it.

use super::runner::{RUNTIME, next, report, with_runner};
use super::{claim, run_jobs, user};
use crate::common::{Bundle, TestHub, both, both_with};
use capsid_store::assets::{self, id::AssetId};
use capsid_store::evaluation::owners::quorum;
use capsid_store::fsck::{self, FsckReport};
use serde_json::{Value, json};

fn check(hub: &TestHub) -> FsckReport {
    hub.hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap()
}

/// What the pages of an asset and the rows of lists call its test.
fn labels(hub: &TestHub, bundle: &Bundle) -> (Value, Value) {
    let shown = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
    let listed = hub.get("/a2a/assets?type=Capsule&status=candidate").expect(200);
    (shown["validation"]["label"].clone(), listed["assets"][0]["validation_label"].clone())
}

#[test]
fn what_the_runner_found_vacuous_stays_so_and_is_no_damage() {
    both_with(with_runner, |hub| {
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_a");
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let (_, job) = next(hub, RUNTIME).unwrap();
        report(hub, &job, "vacuous_base", RUNTIME, 1.0);
        let is_vacuous = |hub: &TestHub| labels(hub, &bundle) == ("vacuous".into(), "vacuous".into());
        assert!(is_vacuous(hub), "{:?}", labels(hub, &bundle));
        assert!(check(hub).is_clean(), "{:?}", check(hub).findings);
        hub.change("UPDATE assets SET confidence = 0.99 WHERE asset_type = 'Capsule'");
        let damaged = check(hub);
        assert!(damaged.counts.contains_key("trait_wrong"), "{:?}", damaged.findings);
        fsck::repair(&hub.hub.store, &damaged, hub.hub.now()).unwrap();
        assert!(check(hub).is_clean() && is_vacuous(hub), "a repair keeps it");
        hub.change("UPDATE assets SET unproven = 1");
        run_jobs(hub);
        hub.clock.advance(8 * super::DAY);
        run_jobs(hub);
        assert!(check(hub).is_clean() && is_vacuous(hub), "an evaluation after an upgrade keeps it");
        hub.change("UPDATE runner_jobs SET state = 'queued', attempts = 0");
        for _ in 0..3 {
            next(hub, RUNTIME);
            hub.clock.advance(super::DAY);
        }
        assert!(check(hub).is_clean() && is_vacuous(hub), "a runner that does not answer changes nothing");
    });
}

#[test]
fn the_line_of_trust_the_label_and_the_gate_go_by_one_validation() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.take_on_trial("node_b", bundle.capsule_id());
        let report = |bare: bool| {
            let found = json!({"overall_ok": true, "control": {"bare": bare, "base": false}});
            let payload = json!({"target_asset_id": bundle.capsule_id(), "validation_report": found});
            hub.message("node_b", "report", payload).expect(200);
            let shown = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
            let id = AssetId::parse(bundle.capsule_id()).unwrap();
            let (rule, now) = (hub.hub.config.promotion.rule, hub.hub.now());
            let quorum = hub.hub.store.read_now(move |tx| {
                let asset = assets::get(tx, &id)?.unwrap();
                quorum::load_quorum(tx, &asset, &rule, now)
            });
            (shown["trust"]["level"].clone(), labels(hub, &bundle).1, quorum.unwrap().is_testable)
        };
        assert_eq!(report(false), ("tested".into(), "real".into(), true));
        assert_eq!(report(true), ("used".into(), "vacuous".into(), false));
        assert_eq!(report(false), ("tested".into(), "real".into(), true), "it was withdrawn");
        assert!(check(hub).is_clean());
    });
}
