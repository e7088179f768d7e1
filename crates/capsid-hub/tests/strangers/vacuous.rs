//! A test that passes without the change, as the runner and reports show it.

use super::runner::{RUNTIME, next, report, with_runner};
use super::{claim, run_jobs, user};
use crate::common::{Bundle, TestHub, both_with};
use capsid_store::fsck::{self, FsckReport};
use serde_json::Value;

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
