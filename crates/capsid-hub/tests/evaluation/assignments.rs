//! Whom the hub asks, and what it takes as an answer.

use super::helpers::{HOUR, MINUTE, account, node, own, report, run_jobs, status, validator};
use crate::common::{Bundle, TestHub, both, on_sqlite};
use capsid_model::time::Clock;
use capsid_store::accounts::AccountRole;
use capsid_store::evaluation::assignments;
use capsid_store::evaluation::assignments::Assignment;
use serde_json::{Value, json};

fn open(hub: &TestHub, node_id: &str) -> Vec<Assignment> {
    let (node_id, now) = (node_id.to_owned(), hub.clock.now());
    hub.hub.store.read_now(move |tx| assignments::open_for(tx, &node_id, now)).unwrap()
}

fn poll(hub: &TestHub, node_id: &str) -> Vec<Assignment> {
    let (node, terms, now) = (node(hub, node_id), hub.hub.assignment_terms(), hub.clock.now());
    hub.hub.store.write_now(move |tx| assignments::poll(tx, &node, &terms, now)).unwrap()
}

fn answer(assignment: &Assignment, ok: bool) -> Value {
    json!({"task_id": assignment.task_id, "nonce": assignment.nonce, "overall_ok": ok, "commands_passed": 1,
        "commands_total": 1, "reproduction_score": 1.0, "env_fingerprint": {"platform": "linux", "arch": "x64"}})
}

#[test]
fn staked_nodes_of_others_are_asked_and_their_answer_promotes() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_unstaked");
        for name in ["node_a", "node_v1", "node_v2", "node_v3", "node_v4"] {
            validator(hub, name);
        }
        assert_eq!(run_jobs(hub)["assignments"], 3);
        assert!(open(hub, "node_a").is_empty() && open(hub, "node_unstaked").is_empty());
        assert!(open(hub, "node_v4").is_empty(), "three are enough");
        let asked = open(hub, "node_v1");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].target_asset_id.to_string(), bundle.capsule_id());
        assert_eq!(asked[0].validation_commands, ["node tests/retry.test.js"]);
        assert_eq!(asked[0].nonce.len(), 32);
        let told = hub.message("node_v1", "report", answer(&asked[0], true)).expect(200);
        assert_eq!(
            (&told["label"], &told["weight"], &told["status"]),
            (&json!("assigned"), &json!(1.0), &json!("accepted"))
        );
        assert_eq!(told["target_asset_id"], bundle.capsule_id());
        assert!(open(hub, "node_v1").is_empty());
        run_jobs(hub);
        assert_eq!(status(hub, bundle.capsule_id()), "promoted");
    });
}

#[test]
fn a_wrong_or_used_nonce_and_another_node_are_refused() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_v1");
        validator(hub, "node_v2");
        run_jobs(hub);
        let asked = open(hub, "node_v1").remove(0);
        let mut wrong = answer(&asked, true);
        wrong["nonce"] = "0".repeat(32).into();
        hub.message("node_v1", "report", wrong).refused(409, "assignment_not_open");
        hub.message("node_v2", "report", answer(&asked, true)).refused(409, "assignment_not_open");
        let mut other = answer(&asked, true);
        other["target_asset_id"] = bundle.gene_id().into();
        hub.message("node_v1", "report", other).refused(400, "validation_error");
        hub.message("node_v1", "report", answer(&asked, true)).expect(200);
        hub.message("node_v1", "report", answer(&asked, false)).refused(409, "assignment_not_open");
        report(hub, "node_v1", bundle.capsule_id(), false).refused(409, "state_conflict");
    });
}

#[test]
fn what_is_not_answered_expires_and_is_asked_again_later() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        validator(hub, "node_v");
        run_jobs(hub);
        let asked = open(hub, "node_v").remove(0);
        hub.clock.advance(HOUR);
        hub.message("node_v", "report", answer(&asked, true)).refused(409, "assignment_not_open");
        run_jobs(hub);
        assert!(open(hub, "node_v").is_empty(), "it just let one expire");
        hub.clock.advance(6 * HOUR);
        run_jobs(hub);
        assert!(open(hub, "node_v").is_empty(), "it was not heard of lately");
        hub.register("node_v");
        run_jobs(hub);
        let again = open(hub, "node_v").remove(0);
        assert_ne!((&again.task_id, &again.nonce), (&asked.task_id, &asked.nonce));
        hub.message("node_v", "report", answer(&again, true)).expect(200);
    });
}

#[test]
fn one_node_of_an_owner_is_asked_and_none_of_the_publishers() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        for name in ["node_v1", "node_v2", "node_v3"] {
            validator(hub, name);
        }
        account(hub, "ann", AccountRole::User);
        account(hub, "bob", AccountRole::User);
        own(hub, "ann", "node_a");
        own(hub, "ann", "node_v1");
        own(hub, "bob", "node_v2");
        own(hub, "bob", "node_v3");
        run_jobs(hub);
        let counts = ["node_v1", "node_v2", "node_v3"].map(|name| open(hub, name).len());
        assert_eq!(counts, [0, 1, 0]);
    });
}

#[test]
fn nobody_is_asked_to_run_what_is_absent_or_proves_nothing() {
    on_sqlite(|hub| {
        for (n, commands) in [json!([]), json!(["node --version"])].into_iter().enumerate() {
            let bundle = Bundle::new(n as u64).with(|bundle| bundle.gene["validation"] = commands);
            hub.publish("node_a", &bundle).expect(200);
        }
        validator(hub, "node_v");
        assert_eq!(run_jobs(hub)["assignments"], 0);
        assert!(poll(hub, "node_v").is_empty());
    });
}

#[test]
fn nobody_is_asked_to_run_what_only_this_hub_allows() {
    crate::common::on_sqlite_with(
        |config| config.extra_programs = vec!["cargo".to_owned()],
        |hub| {
            let bundle = Bundle::new(1).with(|bundle| bundle.gene["validation"] = json!(["cargo test"]));
            hub.publish("node_a", &bundle).expect(200);
            validator(hub, "node_v");
            assert_eq!(run_jobs(hub)["assignments"], 0);
            assert!(poll(hub, "node_v").is_empty());
        },
    );
}

#[test]
fn a_validator_that_asks_gets_something_to_do() {
    on_sqlite(|hub| {
        let bundles = hub.fill(6);
        hub.register("node_u");
        assert!(poll(hub, "node_u").is_empty(), "without a stake nobody is asked");
        validator(hub, "node_v");
        let first = poll(hub, "node_v");
        assert_eq!(first.len(), 2);
        assert_eq!(poll(hub, "node_v"), first, "what is open is given again");
        for asked in &first {
            hub.message("node_v", "report", answer(asked, true)).expect(200);
        }
        let next = poll(hub, "node_v");
        assert_eq!(next.len(), 2);
        assert!(
            next.iter().all(|asked| !first.iter().any(|done| done.target_asset_id == asked.target_asset_id))
        );
        assert!(bundles.iter().any(|bundle| bundle.capsule_id() == next[0].target_asset_id.to_string()));
    });
}

#[test]
fn those_with_the_least_to_do_are_asked_first() {
    both(|hub| {
        for name in ["node_v1", "node_v2", "node_v3", "node_v4"] {
            validator(hub, name);
        }
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        run_jobs(hub);
        hub.clock.advance(MINUTE);
        hub.publish("node_a", &Bundle::new(2)).expect(200);
        run_jobs(hub);
        let counts = ["node_v1", "node_v2", "node_v3", "node_v4"].map(|name| open(hub, name).len());
        assert_eq!(counts, [2, 2, 1, 1]);
    });
}
