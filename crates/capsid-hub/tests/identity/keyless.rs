//! Nodes of clients that never show a secret.

use super::*;
use crate::common::economy::{self, admin, all_is_well, node_balance, offer, pass, solve};
use crate::common::{Bundle, both, both_with};
use serde_json::json;

/// How long a held earning waits at most after its node is known.
const LOOK: i64 = 600 * SECOND;

#[test]
fn a_keyless_node_is_never_refused_in_its_network() {
    with_each_identity(|hub| {
        let home = hub.from(HOME);
        let payload = json!({"env_fingerprint": {"client": "evolver", "client_version": "1.20.4"}});
        home.hello(NODE, None, payload.clone()).expect(200);
        // Two hours of heartbeats, fetches and a hello now and then.
        for n in 0..24 {
            hub.clock.advance(300 * SECOND);
            run_jobs(hub);
            home.heartbeat(NODE, None).expect(200);
            home.message(NODE, None, "fetch", json!({"signals": ["timeout"], "search_only": true}))
                .expect(200);
            home.message(NODE, None, "publish", Bundle::new(n).payload()).expect(200);
            if n % 6 == 0 {
                home.hello(NODE, None, payload.clone()).expect(200);
            }
        }
    });
}

#[test]
fn a_public_hub_lets_a_keyless_node_act_from_its_own_network_alone() {
    with_public_identity(|hub| {
        let (home, neighbour, elsewhere) = (hub.from(HOME), hub.from(NEIGHBOUR), hub.from(ELSEWHERE));
        // One that said hello, and one that did not.
        home.hello(NODE, None, json!({})).expect(200);
        home.message("node_silent", None, "publish", Bundle::new(1).payload()).expect(200);
        for node in [NODE, "node_silent"] {
            neighbour.heartbeat(node, None).expect(200);
            let before = hub.dump();
            elsewhere.heartbeat(node, None).refused(401, "node_secret_required");
            let bundle = Bundle::new(9).payload();
            elsewhere.message(node, None, "publish", bundle).refused(401, "node_secret_required");
            let answer = elsewhere.hello(node, None, json!({"name": "mine"})).expect(200);
            holds_nothing(&answer["payload"]);
            assert_eq!(hub.dump(), before, "nothing changed");
        }
    });
}

#[test]
fn after_a_day_of_silence_a_keyless_node_may_move() {
    with_public_identity(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        home.hello(NODE, None, json!({})).expect(200);
        hub.clock.advance(23 * HOUR);
        home.heartbeat(NODE, None).expect(200);
        hub.clock.advance(23 * HOUR);
        let answer = elsewhere.hello(NODE, None, json!({})).expect(200);
        holds_nothing(&answer["payload"]);
        hub.clock.advance(HOUR);
        elsewhere.heartbeat(NODE, None).refused(401, "node_secret_required");
        secret_in(&elsewhere.hello(NODE, None, json!({})).expect(200));
        elsewhere.heartbeat(NODE, None).expect(200);
        home.heartbeat(NODE, None).refused(401, "node_secret_required");
    });
}

#[test]
fn a_private_hub_lets_a_keyless_node_act_from_anywhere() {
    both(|hub| {
        hub.from(HOME).hello(NODE, None, json!({})).expect(200);
        hub.from(ELSEWHERE).heartbeat(NODE, None).expect(200);
    });
}

#[test]
fn reports_of_keyless_nodes_count_with_the_private_identity_only() {
    let weight = |hub: &TestHub, secret: Option<&str>, node: &str| {
        let bundle = Bundle::new(1);
        hub.from(ELSEWHERE).message("node_author", None, "publish", bundle.payload()).expect(200);
        if secret.is_none() {
            hub.from(HOME).hello(node, None, json!({})).expect(200);
            hub.clock.advance(61_000);
        }
        let trial = json!({"asset_ids": [bundle.capsule_id()], "trial": true});
        hub.from(HOME).message(node, secret, "fetch", trial).expect(200);
        let report =
            json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true}});
        hub.from(HOME).message(node, secret, "report", report).expect(200);
        let id = node.to_owned();
        let weight = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            tx.query_one::<f64>("SELECT weight FROM reports WHERE node_id = $1", capsid_store::params![&id])
        };
        hub.hub.store.read_now(weight).unwrap()
    };
    both(|hub| assert!(weight(hub, None, NODE) > 0.0));
    with_public_identity(|hub| {
        assert_eq!(weight(hub, None, NODE), 0.0);
        let secret = secret_in(&hub.from(HOME).hello("node_b", None, json!({})).expect(200));
        assert!(weight(hub, Some(&secret), "node_b") > 0.0, "showing the secret is enough");
    });
}

/// A hub that pays for whole assets, and promotes nothing by itself.
fn selling(config: &mut HubConfig) {
    economy::quiet(config);
    (config.credits.fetch_price, config.credits.commission_milli) = (10_000, 10_000);
}

/// A node that never said hello earns by a bounty, a promotion and a sale; gives how much it has then.
fn earn(hub: &TestHub, root: &str, node: &str, n: u64) -> i64 {
    let (token, _) = economy::user(hub, &format!("creator{n}"));
    hub.publish(node, &Bundle::new(n)).expect(200);
    let before = node_balance(hub, node);
    let (bounty, task) = offer(hub, &token, 50.0);
    let asset = solve(hub, node, &task, n + 1);
    hub.post_as(&token, &format!("/bounty/{bounty}/accept"), &json!({})).expect(200);
    hub.post_as(root, &format!("/admin/assets/{asset}/promote"), &json!({})).expect(200);
    let buyer = format!("node_buyer_{n}");
    let secret = hub.register(&buyer);
    hub.message_as(&buyer, &secret, "fetch", json!({"asset_ids": [asset]})).expect(200);
    pass(hub, LOOK);
    node_balance(hub, node) - before
}

#[test]
fn what_a_keyless_node_earns_is_held_until_it_is_bound_or_claimed() {
    let holding = |config: &mut HubConfig| {
        selling(config);
        config.identity = HubConfig::for_profile(HubProfile::Public).identity;
    };
    both_with(holding, |hub| {
        let root = admin(hub);
        let held = |node: &str| hub.get(&format!("/billing/earnings/{node}")).expect(200)["pending"].clone();
        for (node, n) in [("node_bound", 10), ("node_owned", 20)] {
            assert_eq!(earn(hub, &root, node, n), 0, "{node} is nobody's");
            let earned = held(node).as_f64().unwrap();
            assert!(earned > 50.0, "{node}: {earned}");
            pass(hub, 5 * 24 * HOUR);
            assert_eq!(held(node), earned, "no time is enough");
            all_is_well(hub);
            let before = node_balance(hub, node);
            let hello = hub.message(node, "hello", json!({})).expect(200);
            match node {
                "node_bound" => {
                    let secret = secret_in(&hello);
                    hub.message_as(node, &secret, "fetch", json!({"tasks_only": true})).expect(200);
                }
                _ => {
                    let (token, _) = economy::user(hub, "owner");
                    let code = hello["claim_code"].as_str().unwrap();
                    hub.post_as(&token, &format!("/claim/{code}"), &json!({})).expect(200);
                }
            }
            pass(hub, LOOK);
            assert_eq!((node_balance(hub, node) - before) as f64 / 1000.0, earned, "{node} is somebody's");
            assert_eq!(held(node), 0);
            let shown = hub.get(&format!("/billing/earnings/{node}")).expect(200);
            assert_eq!(shown["total_earned"], earned, "{shown}");
            for source in ["bounty", "promotion", "sale"] {
                assert!(shown["by_source"][source].as_f64().unwrap() > 0.0, "{source}: {shown}");
            }
            all_is_well(hub);
        }
    });
}

#[test]
fn a_private_hub_pays_keyless_nodes_at_once() {
    both_with(selling, |hub| {
        let root = admin(hub);
        assert!(earn(hub, &root, "node_keyless", 10) > 50_000);
        assert_eq!(hub.get("/billing/earnings/node_keyless").expect(200)["pending"], 0);
        all_is_well(hub);
    });
}
