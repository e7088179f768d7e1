//! Nodes of clients that never show a secret.

use super::*;
use crate::common::{Bundle, both};
use serde_json::json;

#[test]
fn a_keyless_node_is_never_refused_in_its_network() {
    each_profile(|hub| {
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
    on_public(|hub| {
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
    on_public(|hub| {
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
fn reports_of_keyless_nodes_count_on_a_private_hub_only() {
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
    on_public(|hub| {
        assert_eq!(weight(hub, None, NODE), 0.0);
        let secret = secret_in(&hub.from(HOME).hello("node_b", None, json!({})).expect(200));
        assert!(weight(hub, Some(&secret), "node_b") > 0.0, "showing the secret is enough");
    });
}
