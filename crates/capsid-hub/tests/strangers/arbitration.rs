//! What an arbiter decides: the runner, an administrator, or an owner whom the operator appointed.

use super::runner::{RUNTIME, next, report as run, with_runner};
use super::{appoint, claim, credits, pay_out, public, run_jobs, user};
use crate::common::economy::{admin, text};
use crate::common::{Bundle, TestHub, both_with};
use capsid_hub::config::HubConfig;
use capsid_rules::credits::CreditSource;
use capsid_rules::evaluation::quorum::{ArbiterRule, QuorumRule};
use capsid_store::evaluation::owners::outcomes;
use serde_json::{Value, json};

/// An account with a validator of 50 staked credits; gives the id of the account.
fn staked(hub: &TestHub, name: &str, node: &str) -> String {
    let (token, id) = user(hub, name);
    claim(hub, &token, node);
    pay_out(hub, &format!("node:{node}"), 50, CreditSource::Earned);
    hub.post("/a2a/validator/stake", &json!({"sender_id": node})).expect(200);
    id
}

/// A capsule of a claimed node.
fn published(hub: &TestHub, n: u64) -> Bundle {
    let bundle = Bundle::new(n);
    let (token, _) = user(hub, "publisher");
    claim(hub, &token, "node_publisher");
    hub.publish("node_publisher", &bundle).expect(200);
    bundle
}

fn stake(hub: &TestHub, node: &str) -> f64 {
    let shown = hub.get(&format!("/a2a/validator/status?node_id={node}")).expect(200);
    shown["stake"]["amount"].as_f64().unwrap()
}

/// How many reports of an account were settled, and how many of them were right.
fn settled(hub: &TestHub, user: &str) -> (u32, u32) {
    let user = user.to_owned();
    hub.hub.store.read_now(move |tx| outcomes::count_settled(tx, &user, 0)).unwrap()
}

fn status(hub: &TestHub, bundle: &Bundle) -> String {
    text(&hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200)["status"])
}

fn obstacles(hub: &TestHub, bundle: &Bundle) -> Vec<String> {
    let shown = hub.get(&format!("/a2a/assets/{}", bundle.capsule_id())).expect(200);
    shown["why_not_promoted"].as_array().unwrap().iter().map(|one| text(&one["code"])).collect()
}

#[test]
fn a_verdict_of_the_runner_settles_reports_and_slashes_those_that_say_otherwise() {
    both_with(with_runner, |hub| {
        let bundle = published(hub, 1);
        let (wrong, right) = (staked(hub, "wrong", "node_wrong"), staked(hub, "right", "node_right"));
        credits::report(hub, "node_wrong", &bundle, true);
        credits::report(hub, "node_right", &bundle, false);
        hub.clock.advance(1000);
        let (asset, job) = next(hub, RUNTIME).unwrap();
        assert_eq!(asset, bundle.capsule_id());
        assert_eq!((settled(hub, &wrong), settled(hub, &right)), ((0, 0), (0, 0)));
        run(hub, &job, "failed", RUNTIME, 1.0);
        assert_eq!((settled(hub, &wrong), settled(hub, &right)), ((1, 0), (1, 1)));
        assert_eq!((stake(hub, "node_wrong"), stake(hub, "node_right")), (40.0, 50.0));
        // The next runtime says otherwise. Whoever was right before pays nothing, and nobody pays twice.
        hub.change("UPDATE runner_jobs SET state = 'queued'");
        hub.clock.advance(1000);
        let (_, job) = next(hub, RUNTIME).unwrap();
        run(hub, &job, "reproduced", RUNTIME, 1.0);
        assert_eq!((stake(hub, "node_wrong"), stake(hub, "node_right")), (40.0, 50.0));
    });
}

#[test]
fn a_later_run_of_the_runner_settles_only_reports_since() {
    both_with(with_runner, |hub| {
        let bundle = published(hub, 1);
        let (early, late) = (staked(hub, "early", "node_early"), staked(hub, "late", "node_late"));
        credits::report(hub, "node_early", &bundle, true);
        let runs = |outcome: &str| {
            hub.clock.advance(1000);
            let (_, job) = next(hub, RUNTIME).unwrap();
            run(hub, &job, outcome, RUNTIME, 1.0);
            hub.change("UPDATE runner_jobs SET state = 'queued'");
            hub.clock.advance(1000);
        };
        runs("reproduced");
        credits::report(hub, "node_late", &bundle, true);
        runs("failed");
        assert_eq!((settled(hub, &early), settled(hub, &late)), ((1, 1), (1, 0)));
        assert_eq!((stake(hub, "node_early"), stake(hub, "node_late")), (50.0, 40.0));
        runs("reproduced");
        assert_eq!((settled(hub, &early), settled(hub, &late)), ((1, 1), (1, 0)));
    });
}

#[test]
fn an_administrator_who_rejects_a_promoted_asset_settles_the_reports_on_it() {
    both_with(public, |hub| {
        let root = admin(hub);
        let bundle = published(hub, 1);
        let (wrong, right) = (staked(hub, "wrong", "node_wrong"), staked(hub, "right", "node_right"));
        let path = |word: &str| format!("/admin/assets/{}/{word}", bundle.capsule_id());
        hub.post_as(&root, &path("promote"), &json!({})).expect(200);
        hub.clock.advance(1000);
        credits::report(hub, "node_wrong", &bundle, true);
        credits::report(hub, "node_right", &bundle, false);
        hub.clock.advance(1000);
        let rejected = hub.post_as(&root, &path("reject"), &json!({"reason": "It breaks."})).expect(200);
        assert_eq!(rejected["asset_status"], "candidate", "what is given out is demoted");
        assert_eq!((settled(hub, &wrong), settled(hub, &right)), ((1, 0), (1, 1)));
        assert_eq!((stake(hub, "node_wrong"), stake(hub, "node_right")), (40.0, 50.0));
    });
}

/// A hub with a runner that asks arbiters as a public hub does.
fn arbitrated(config: &mut HubConfig) {
    with_runner(config);
    config.promotion.rule.quorum = QuorumRule::PUBLIC;
}

fn always_arbitrated(config: &mut HubConfig) {
    public(config);
    config.promotion.rule.quorum.arbiter = ArbiterRule::Always;
}

#[test]
fn an_outcome_from_before_a_demotion_does_not_pass_the_gate_of_the_arbiter() {
    both_with(always_arbitrated, |hub| {
        let root = admin(hub);
        let bundle = published(hub, 1);
        let promote =
            || hub.post_as(&root, &format!("/admin/assets/{}/promote", bundle.capsule_id()), &json!({}));
        promote().expect(200);
        for n in 0..2 {
            let (name, node) = (format!("failing{n}"), format!("node_failing{n}"));
            let (token, _) = user(hub, &name);
            claim(hub, &token, &node);
            hub.clock.advance(1000);
            credits::report(hub, &node, &bundle, false);
        }
        run_jobs(hub);
        assert_eq!(status(hub, &bundle), "candidate");
        hub.clock.advance(1000);
        let (token, _) = user(hub, "passing");
        claim(hub, &token, "node_passing");
        credits::report(hub, "node_passing", &bundle, true);
        let waits = |hub: &TestHub| obstacles(hub, &bundle).contains(&"waiting_for_arbiter".to_owned());
        assert!(waits(hub), "the administrator passed what was demoted since");
        hub.clock.advance(1000);
        let id = capsid_store::assets::id::AssetId::parse(bundle.capsule_id()).unwrap();
        let now = hub.hub.now();
        hub.hub.store.write_now(move |tx| outcomes::record_outcome(tx, &id, true, "operator", now)).unwrap();
        assert!(!waits(hub), "a new outcome passes it");
    });
}

#[test]
fn a_pass_of_the_runner_does_not_make_an_asset_immune_to_two_owners() {
    both_with(with_runner, |hub| {
        let bundle = published(hub, 1);
        let fail = |n: u64| {
            let (name, node) = (format!("failing{n}"), format!("node_failing{n}"));
            let (token, _) = user(hub, &name);
            claim(hub, &token, &node);
            hub.clock.advance(1000);
            credits::report(hub, &node, &bundle, false);
        };
        let (_, job) = next(hub, RUNTIME).unwrap();
        fail(1);
        fail(2);
        hub.clock.advance(1000);
        run(hub, &job, "reproduced", RUNTIME, 1.0);
        hub.change("UPDATE reports SET weight = 0.05 WHERE label = 'assigned'");
        run_jobs(hub);
        run_jobs(hub);
        assert_eq!(status(hub, &bundle), "promoted", "the runner settled what was said before");
        fail(3);
        run_jobs(hub);
        assert_eq!(status(hub, &bundle), "promoted", "one owner is no verdict");
        fail(4);
        run_jobs(hub);
        assert_eq!(status(hub, &bundle), "candidate", "two owners are");
    });
}

/// Reports of three owners, each with an account of its own.
fn reports(hub: &TestHub, bundle: &Bundle, said: [bool; 3]) {
    for (n, ok) in said.into_iter().enumerate() {
        let (name, node) = (format!("member{n}"), format!("node_member{n}"));
        let (token, _) = user(hub, &name);
        claim(hub, &token, &node);
        credits::report(hub, &node, bundle, ok);
    }
}

fn disagreements(hub: &TestHub, token: &str, state: &str) -> Vec<Value> {
    let listed = hub.get_as(token, &format!("/admin/moderation?state={state}")).expect(200);
    let cases = listed["cases"].as_array().unwrap().clone();
    cases.into_iter().filter(|case| case["kind"] == "disagreement").collect()
}

#[test]
fn an_arbiter_is_asked_where_reports_disagree_and_decides() {
    both_with(arbitrated, |hub| {
        let bundle = Bundle::new(1);
        let (publisher, _) = user(hub, "publisher");
        claim(hub, &publisher, "node_publisher");
        hub.publish("node_publisher", &bundle).expect(200);
        let (mia, id) = user(hub, "mia");
        appoint(hub, &id);
        reports(hub, &bundle, [true, true, true]);
        run_jobs(hub);
        assert!(disagreements(hub, &mia, "open").is_empty(), "they agree");
        hub.change("UPDATE reports SET overall_ok = 0 WHERE node_id = 'node_member1'");
        run_jobs(hub);
        let case = disagreements(hub, &mia, "open").remove(0);
        assert_eq!(case["subject"], bundle.capsule_id());
        let decide = |decision: &str| {
            let path = format!("/admin/moderation/{}/decide", case["case_id"]);
            hub.post_as(&mia, &path, &json!({"decision": decision, "reason": "I ran it."})).expect(200)
        };
        hub.clock.advance(1000);
        decide("reject");
        run_jobs(hub);
        assert!(disagreements(hub, &mia, "open").is_empty(), "it was decided");
        assert_eq!(status(hub, &bundle), "candidate");
        assert!(obstacles(hub, &bundle).contains(&"arbiter_failed".to_owned()));
        hub.clock.advance(1000);
        let path = format!("/a2a/moderation/{}/appeal", bundle.capsule_id());
        let appeal = json!({"sender_id": "node_publisher", "reason": "It works on Linux."});
        hub.post_as(&publisher, &path, &appeal).expect(200);
        decide("approve");
        let found = obstacles(hub, &bundle);
        assert!(!found.iter().any(|code| code.contains("arbiter")), "{found:?}");
    });
}

#[test]
fn a_verdict_of_the_runner_closes_the_case_of_a_disagreement() {
    both_with(arbitrated, |hub| {
        let root = admin(hub);
        let bundle = published(hub, 1);
        reports(hub, &bundle, [true, false, true]);
        run_jobs(hub);
        assert_eq!(disagreements(hub, &root, "open").len(), 1);
        let (_, job) = next(hub, RUNTIME).unwrap();
        run(hub, &job, "failed", RUNTIME, 1.0);
        let closed = disagreements(hub, &root, "decided").remove(0);
        assert_eq!(closed["decision"], "reject");
    });
}

#[test]
fn an_appointed_owner_decides_as_an_arbiter_but_not_about_its_own_work() {
    both_with(arbitrated, |hub| {
        let bundle = published(hub, 1);
        let (mia, id) = user(hub, "mia");
        claim(hub, &mia, "node_mia");
        appoint(hub, &id);
        let own = Bundle::new(2);
        hub.publish("node_mia", &own).expect(200);
        let decide = |bundle: &Bundle, word: &str| {
            let payload =
                json!({"target_asset_id": bundle.capsule_id(), "decision": word, "reason": "Ran it."});
            hub.message_as("node_mia", &mia, "decision", payload).expect(200)
        };
        let on_own = decide(&own, "accept");
        assert_eq!((&on_own["payload"]["status"], &on_own["label"]), (&json!("recorded"), &json!("self")));
        assert!(obstacles(hub, &own).contains(&"waiting_for_arbiter".to_owned()));
        let accepted = decide(&bundle, "accept");
        assert_eq!((&accepted["status"], &accepted["label"]), (&json!("applied"), &json!("arbiter")));
        assert_eq!(accepted["asset_status"], "candidate", "the other gates hold");
        let found = obstacles(hub, &bundle);
        assert!(!found.contains(&"waiting_for_arbiter".to_owned()), "{found:?}");
        assert!(found.contains(&"no_report_by_others".to_owned()), "{found:?}");
        hub.clock.advance(1000);
        assert_eq!(decide(&bundle, "reject")["asset_status"], "rejected");
    });
}

#[test]
fn a_failing_report_of_an_appointed_owner_is_that_of_an_arbiter() {
    both_with(public, |hub| {
        let root = admin(hub);
        let bundle = published(hub, 1);
        hub.post_as(&root, &format!("/admin/assets/{}/promote", bundle.capsule_id()), &json!({})).expect(200);
        let (mia, id) = user(hub, "mia");
        claim(hub, &mia, "node_mia");
        hub.clock.advance(1000);
        credits::report(hub, "node_mia", &bundle, false);
        run_jobs(hub);
        assert_eq!(status(hub, &bundle), "promoted", "one owner is no verdict");
        appoint(hub, &id);
        run_jobs(hub);
        assert_eq!(status(hub, &bundle), "candidate", "an arbiter is");
    });
}
