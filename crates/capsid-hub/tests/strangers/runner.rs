//! The queue of the hub's runner: whose bundles come first, and what is run again.

use super::{claim, public, user};
use crate::common::economy::all_is_well;
use crate::common::{Bundle, TestHub, both_with};
use capsid_hub::config::{HubConfig, SecretText};
use serde_json::{Value, json};

pub(super) const TOKEN: &str = "runner_0123456789abcdef0123456789abcdef";
pub(super) const RUNTIME: &str = "linux x64, node v20.20.0";

pub(super) fn with_runner(config: &mut HubConfig) {
    public(config);
    config.runner.is_on = true;
    config.runner.token = SecretText(TOKEN.to_owned());
}

/// The asset that the next job is about, and the job.
pub(super) fn next(hub: &TestHub, runtime: &str) -> Option<(String, String)> {
    let answer = hub.post_as(TOKEN, "/runner/next", &json!({ "runtime": runtime })).expect(200);
    let member = |name: &str| answer["job"][name].as_str().map(str::to_owned);
    member("asset_id").zip(member("job_id"))
}

pub(super) fn report(hub: &TestHub, job: &str, outcome: &str, runtime: &str, seconds: f64) {
    let report = json!({"job_id": job, "outcome": outcome, "runtime": runtime, "seconds": seconds});
    hub.post_as(TOKEN, "/runner/report", &report).expect(200);
}

#[test]
fn bundles_of_owners_who_used_up_their_day_come_last_and_a_level_has_more_of_it() {
    both_with(with_runner, |hub| {
        let (known, _) = user(hub, "ann");
        claim(hub, &known, "node_known");
        hub.message("node_new", "hello", json!({})).expect(200);
        let publish = |node: &str, n: u64| {
            hub.publish(node, &Bundle::new(n)).expect(200);
            Bundle::new(n).capsule_id().to_owned()
        };
        for (node, n) in [("node_new", 1), ("node_known", 2)] {
            let asset = publish(node, n);
            let (given, job) = next(hub, RUNTIME).unwrap();
            assert_eq!(given, asset);
            report(hub, &job, "inconclusive", RUNTIME, 100.0);
        }
        let (of_new, of_known) = (publish("node_new", 3), publish("node_known", 4));
        let (first, job) = next(hub, RUNTIME).unwrap();
        assert_eq!(
            first, of_known,
            "a hundred seconds are more than a new owner has, and less than a known one"
        );
        report(hub, &job, "inconclusive", RUNTIME, 1.0);
        assert_eq!(next(hub, RUNTIME).unwrap().0, of_new);
    });
}

#[test]
fn promoted_assets_are_run_again_where_the_runtime_is_another() {
    both_with(with_runner, |hub| {
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_a");
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let (asset, job) = next(hub, RUNTIME).unwrap();
        report(hub, &job, "reproduced", RUNTIME, 1.0);
        super::run_jobs(hub);
        let status = || {
            let shown: Value = hub.get(&format!("/a2a/assets/{asset}")).expect(200);
            shown["status"].as_str().unwrap().to_owned()
        };
        assert_eq!(status(), "promoted");
        assert_eq!(next(hub, RUNTIME), None, "it was run here");
        assert_eq!(hub.post_as(TOKEN, "/runner/next", &json!({})).expect(200)["job"], Value::Null);
        let newer = "linux x64, node v24.1.0";
        let (again, job) = next(hub, newer).unwrap();
        assert_eq!(again, asset);
        assert_eq!(next(hub, newer), None, "one at a time");
        hub.clock.advance(1000);
        report(hub, &job, "failed", newer, 1.0);
        super::run_jobs(hub);
        assert_eq!(status(), "candidate", "it fails there");
        assert_eq!(next(hub, newer), None);
    });
}

#[test]
fn a_demoted_asset_is_run_again_unless_the_runner_failed_it() {
    both_with(with_runner, |hub| {
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_a");
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let (asset, job) = next(hub, RUNTIME).unwrap();
        report(hub, &job, "reproduced", RUNTIME, 1.0);
        super::run_jobs(hub);
        for (name, node) in [("bob", "node_b"), ("cid", "node_c")] {
            let (token, _) = user(hub, name);
            claim(hub, &token, node);
            hub.clock.advance(1000);
            super::credits::report(hub, node, &bundle, false);
        }
        hub.clock.advance(1000);
        super::run_jobs(hub);
        let shown = hub.get(&format!("/a2a/assets/{asset}")).expect(200);
        assert_eq!(shown["status"], "candidate");
        hub.clock.advance(1000);
        let (again, job) = next(hub, RUNTIME).unwrap();
        assert_eq!(again, asset, "what was found before does not count any more");
        report(hub, &job, "reproduced", RUNTIME, 1.0);
        assert_eq!(next(hub, RUNTIME), None, "once");
    });
}

#[test]
fn a_report_that_comes_after_the_lease_ran_out_is_refused() {
    both_with(with_runner, |hub| {
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_a");
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        let (asset, late) = next(hub, RUNTIME).unwrap();
        hub.clock.advance(super::DAY);
        let refused = |job: &str| {
            let found = json!({"job_id": job, "outcome": "reproduced", "runtime": RUNTIME, "seconds": 1.0});
            hub.post_as(TOKEN, "/runner/report", &found).refused(409, "runner_job_not_open");
        };
        refused(&late);
        let (again, job) = next(hub, RUNTIME).unwrap();
        assert_eq!(again, asset);
        refused(&late);
        report(hub, &job, "reproduced", RUNTIME, 1.0);
    });
}

#[test]
fn a_job_of_a_runner_that_was_killed_waits_once_more() {
    both_with(with_runner, |hub| {
        hub.message("node_a", "hello", json!({})).expect(200);
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        let runner = &hub.hub.config.runner;
        // Four folders of two commands each, and a minute.
        let lease_ms = 8 * runner.command_seconds as i64 * 1000 + 60_000;
        let (asset, first) = next(hub, RUNTIME).unwrap();
        hub.clock.advance(lease_ms - 1);
        assert_eq!(next(hub, RUNTIME), None, "the runner may still be at it");
        hub.clock.advance(1);
        let (again, second) = next(hub, RUNTIME).unwrap();
        assert_eq!((&again, next(hub, RUNTIME)), (&asset, None), "it is given once");
        assert_ne!(first, second, "each lease has an id of its own");
        hub.clock.advance(lease_ms);
        assert_eq!(
            next(hub, RUNTIME),
            None,
            "a bundle that ends its runner twice does not come a third time"
        );
        let late = json!({"job_id": second, "outcome": "reproduced", "runtime": RUNTIME, "seconds": 1.0});
        hub.post_as(TOKEN, "/runner/report", &late).refused(409, "runner_job_not_open");
        let shown = hub.get(&format!("/a2a/assets/{asset}")).expect(200);
        assert_eq!(shown["runner"]["outcome"], "inconclusive", "{shown}");
        assert_eq!(shown["validation"]["weight"]["passes"], 0.0, "{shown}");
        all_is_well(hub);
    });
}

#[test]
fn what_the_runner_found_is_in_the_graph_as_other_reports_are() {
    both_with(with_runner, |hub| {
        let (token, _) = user(hub, "ann");
        claim(hub, &token, "node_a");
        for (n, outcome) in [(1, "reproduced"), (2, "failed"), (3, "inconclusive")] {
            hub.publish("node_a", &Bundle::new(n)).expect(200);
            let (_, job) = next(hub, RUNTIME).unwrap();
            report(hub, &job, outcome, RUNTIME, 1.0);
            all_is_well(hub);
        }
        super::run_jobs(hub);
        hub.clock.advance(1000);
        // It is run again elsewhere, and then withdrawn with all that was said of it.
        let (asset, job) = next(hub, "linux x64, node v24.1.0").unwrap();
        report(hub, &job, "failed", "linux x64, node v24.1.0", 1.0);
        all_is_well(hub);
        hub.message("node_a", "revoke", json!({"target_asset_id": asset})).expect(200);
        all_is_well(hub);
    });
}
