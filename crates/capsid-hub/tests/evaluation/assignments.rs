//! Whom the hub asks, and what it takes as an answer.

use super::helpers::{HOUR, MINUTE, account, node, own, report, run_jobs, status, validator};
use crate::common::{Bundle, TestHub, both, both_with, on_sqlite};
use capsid_hub::config::{HubConfig, HubProfile};
use capsid_model::time::Clock;
use capsid_store::accounts::AccountRole;
use capsid_store::evaluation::assignments;
use capsid_store::evaluation::assignments::Assignment;
use capsid_store::params;
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

/// Nodes that staked and were just heard of, each in a network of its own or all in one.
fn add_validators(hub: &TestHub, count: usize, network: fn(usize) -> String) {
    let now = hub.clock.now();
    hub.hub
        .store
        .write_now(move |tx| {
            for n in 0..count {
                let (node_id, network) = (format!("node_{n:03}"), network(n));
                tx.run(
                    "INSERT INTO nodes (node_id, secret_state, secret_hash, issued_network, created_at, last_seen_at)
                     VALUES ($1, 'bound', $2, $3, $4, $4)",
                    params![&node_id, &[7_u8; 32][..], &network, now],
                )?;
                tx.run(
                    "INSERT INTO stakes (node_id, amount, status, staked_at) VALUES ($1, 0, 'active', $2)",
                    params![&node_id, now],
                )?;
            }
            Ok(())
        })
        .unwrap();
}

/// Draws validators for all candidates; gives the nodes that were asked.
fn drawn(hub: &TestHub) -> Vec<String> {
    let (terms, now) = (hub.hub.assignment_terms(), hub.clock.now());
    assert!(terms.is_drawn);
    hub.hub
        .store
        .write_now(move |tx| {
            assignments::assign_next(tx, 0, &terms, now)?;
            tx.query_all("SELECT node_id FROM assignments ORDER BY node_id", params![])
        })
        .unwrap()
}

fn public(config: &mut HubConfig) {
    config.profile = HubProfile::Public;
    config.credits.validator_stake = 0;
    config.owners = HubConfig::for_profile(HubProfile::Public).owners;
}

#[test]
fn the_draw_reaches_every_validator_and_not_the_first_two_hundred_alone() {
    both_with(public, |hub| {
        add_validators(hub, 300, |n| format!("10.{}.{}.0/24", n / 200, n % 200));
        for n in 0..14 {
            hub.publish("node_a", &Bundle::new(n)).expect(200);
        }
        let drawn = drawn(hub);
        assert_eq!(drawn.len(), 42);
        let late = drawn.iter().filter(|node| node.as_str() >= "node_200").count();
        assert!((5..=24).contains(&late), "a third of 42: {late}");
    });
}

#[test]
fn free_nodes_of_one_network_are_one_owner_in_the_draw() {
    both_with(public, |hub| {
        add_validators(hub, 9, |n| if n < 8 { "10.0.0.0/24".to_owned() } else { "10.0.1.0/24".to_owned() });
        account(hub, "ann", AccountRole::User);
        hub.register("node_a");
        own(hub, "ann", "node_a");
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        let asked = drawn(hub);
        assert_eq!(asked.len(), 2, "one of the eight, and the other: {asked:?}");
        hub.change("DELETE FROM assignments");
        hub.change("UPDATE nodes SET owner = NULL, issued_network = '10.0.0.0/24' WHERE node_id = 'node_a'");
        assert_eq!(drawn(hub), ["node_008"], "nobody is asked about the work of its own network");
    });
}

#[test]
fn a_validator_that_could_not_run_the_commands_is_replaced() {
    both_with(
        |config| config.promotion.rule.quorum.min_owners = 3,
        |hub| {
            let bundle = Bundle::new(1);
            hub.publish("node_a", &bundle).expect(200);
            for n in 1..=5 {
                validator(hub, &format!("node_v{n}"));
            }
            let asked = |hub: &TestHub| -> Vec<usize> {
                (1..=5).map(|n| open(hub, &format!("node_v{n}")).len()).collect()
            };
            assert_eq!(run_jobs(hub)["assignments"], 3);
            assert_eq!(asked(hub), [1, 1, 1, 0, 0]);
            let mut unable = answer(&open(hub, "node_v1")[0], false);
            unable["failure_class"] = json!("spawn_failed");
            unable["commands_passed"] = json!(0);
            let told = hub.message("node_v1", "report", unable).expect(200);
            assert_eq!(told["weight"], 0.0, "{told}");
            let able = answer(&open(hub, "node_v2")[0], true);
            hub.message("node_v2", "report", able).expect(200);
            assert_eq!(run_jobs(hub)["assignments"], 1);
            assert_eq!(asked(hub), [0, 0, 1, 1, 0], "one is asked in place of the first");
            assert_eq!(poll(hub, "node_v5"), [], "three answer now");
        },
    );
}

#[test]
fn an_owner_that_did_not_answer_is_not_asked_at_once_with_another_node() {
    on_sqlite(|hub| {
        hub.publish("node_a", &Bundle::new(1)).expect(200);
        account(hub, "ann", AccountRole::User);
        for node in ["node_v1", "node_v2", "node_v3"] {
            validator(hub, node);
        }
        own(hub, "ann", "node_v1");
        own(hub, "ann", "node_v2");
        let asked = |hub: &TestHub| ["node_v1", "node_v2", "node_v3"].map(|node| open(hub, node).len());
        run_jobs(hub);
        assert_eq!(asked(hub), [1, 0, 1]);
        hub.clock.advance(HOUR);
        hub.register("node_v2");
        run_jobs(hub);
        assert_eq!(asked(hub), [0, 0, 0]);
    });
}
