//! Secrets: who is told one, who has to show it, and what showing it does, on both databases.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Bundle, TestHub, both, both_with};
use serde_json::{Value, json};

const NODE: &str = "node_a";

fn rotate() -> Value {
    json!({"rotate_secret": true})
}

fn secret_in(answer: &Value) -> String {
    answer["node_secret"].as_str().unwrap_or_else(|| panic!("no secret in {answer}")).to_owned()
}

/// How the hub has a node's secret: its state, and whether it could still tell it.
fn kept(hub: &TestHub, node: &str) -> (&'static str, bool) {
    let id = node.to_owned();
    let node = hub.hub.store.read_now(move |tx| capsid_store::nodes::get(tx, &id)).unwrap().unwrap();
    (node.secret_state.as_str(), node.issued_secret.is_some())
}

/// A node that has shown its secret.
fn bound(hub: &TestHub, node: &str) -> String {
    let secret = hub.register(node);
    hub.message_as(node, &secret, "hello", json!({})).expect(200);
    assert_eq!(kept(hub, node), ("bound", false));
    secret
}

/// Makes an account and gives its session.
fn account(hub: &TestHub, email: &str) -> String {
    let login = json!({"email": email, "password": "correct horse battery"});
    let made = hub.post("/auth/register", &login).json();
    made["token"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

/// An account claims a node that has said hello.
fn claim(hub: &TestHub, node: &str, session: &str) {
    let code = hub.message(node, "hello", json!({})).expect(200)["claim_code"].as_str().unwrap().to_owned();
    hub.post_as(session, &format!("/claim/{code}"), &json!({})).expect(200);
}

/// Panics unless whoever shows nothing is told nothing and can do nothing in a node's name.
#[track_caller]
fn a_stranger_gets_nowhere(hub: &TestHub, node: &str) {
    let answer = hub.message(node, "hello", json!({})).expect(200);
    for key in ["node_secret", "claim_code", "claim_url"] {
        assert!(answer.get(key).is_none() && answer["payload"].get(key).is_none(), "{answer}");
    }
    assert_eq!(answer["node_secret_status"], "active");
    hub.publish(node, &Bundle::new(9)).refused(401, "node_secret_required");
    hub.message(node, "fetch", json!({})).refused(401, "node_secret_required");
    hub.post("/a2a/heartbeat", &json!({"node_id": node})).refused(401, "node_secret_required");
}

#[test]
fn a_bound_node_stays_bound_when_its_secret_is_replaced() {
    both(|hub| {
        let first = bound(hub, NODE);
        let answer = hub.message_as(NODE, &first, "hello", rotate()).expect(200);
        let second = secret_in(&answer["payload"]);
        assert_ne!(first, second);
        assert_eq!(answer["node_secret_version"], 2);
        assert_eq!(kept(hub, NODE), ("bound", false));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message(NODE, "hello", rotate()).refused(401, "node_secret_required");
        hub.message_as(NODE, &first, "fetch", json!({})).refused(403, "node_secret_invalid");
        hub.message_as(NODE, &second, "fetch", json!({})).expect(200);
    });
}

#[test]
fn the_device_of_an_unclaimed_node_gets_it_a_new_secret_and_nobody_else_sees_it() {
    both(|hub| {
        let device = json!({"device_id": "device-1"});
        hub.message(NODE, "hello", json!({"env_fingerprint": device})).expect(200);
        bound(hub, NODE);
        let other = json!({"rotate_secret": true, "env_fingerprint": {"device_id": "device-2"}});
        hub.message(NODE, "hello", other).refused(401, "node_secret_required");
        let same = json!({"rotate_secret": true, "env_fingerprint": device});
        let answer = hub.message(NODE, "hello", same).expect(200);
        assert!(answer.get("claim_code").is_none(), "{answer}");
        assert_eq!(kept(hub, NODE), ("bound", false));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &secret_in(&answer), "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_secret_that_was_never_shown_is_replaced_and_told_again() {
    both(|hub| {
        let first = hub.register(NODE);
        let second = secret_in(&hub.message(NODE, "hello", rotate()).expect(200));
        assert_ne!(first, second);
        assert_eq!(hub.register(NODE), second);
        assert_eq!(kept(hub, NODE), ("issued", true));
        let third = secret_in(&hub.message_as(NODE, &second, "hello", rotate()).expect(200));
        assert_eq!(kept(hub, NODE), ("bound", false), "the right secret was shown");
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &third, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_claimed_node_does_not_tell_its_secret() {
    both(|hub| {
        let secret = hub.register(NODE);
        claim(hub, NODE, &account(hub, "ann@example.org"));
        for payload in [json!({}), json!({"env_fingerprint": {"device_id": "d"}})] {
            let answer = hub.message(NODE, "hello", payload).expect(200);
            assert!(answer.get("node_secret").is_none(), "{answer}");
            assert_eq!((&answer["status"], &answer["claimed"]), (&json!("acknowledged"), &json!(true)));
        }
        for payload in [rotate(), json!({"rotate_secret": true, "env_fingerprint": {"device_id": "d"}})] {
            let answer = hub.message(NODE, "hello", payload).expect(200);
            assert_eq!(answer["status"], "rejected", "{answer}");
            assert_eq!(answer["reason"], "node_id_already_claimed");
        }
        assert_eq!(kept(hub, NODE), ("issued", true));
        hub.publish(NODE, &Bundle::new(1)).expect(200);
        hub.message(NODE, "fetch", json!({})).expect(200);

        let next = secret_in(&hub.message_as(NODE, &secret, "hello", rotate()).expect(200));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &next, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_claimed_node_that_never_said_hello_gets_its_secret_from_its_owner() {
    both(|hub| {
        hub.publish(NODE, &Bundle::new(1)).expect(200);
        let beat = hub.post("/a2a/heartbeat", &json!({"node_id": NODE})).expect(200);
        let code = beat["claim_state"]["claim_code"].as_str().unwrap().to_owned();
        let session = account(hub, "ann@example.org");
        hub.post_as(&session, &format!("/claim/{code}"), &json!({})).expect(200);
        let answer = hub.message(NODE, "hello", json!({})).expect(200);
        assert!(answer.get("node_secret").is_none(), "{answer}");
        assert_eq!(answer["node_secret_status"], "not_set");
        assert_eq!(hub.message(NODE, "hello", rotate()).expect(200)["reason"], "node_id_already_claimed");
        hub.message_as(NODE, &"0".repeat(64), "hello", json!({})).refused(403, "node_secret_invalid");
        hub.publish(NODE, &Bundle::new(2)).expect(200);

        let path = format!("/account/agents/{NODE}/reset-secret");
        let secret = secret_in(&hub.post_as(&session, &path, &json!({})).expect(200));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &secret, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_secret_that_was_reset_is_shown_once() {
    both(|hub| {
        let old = hub.register(NODE);
        let session = account(hub, "ann@example.org");
        claim(hub, NODE, &session);
        let path = format!("/account/agents/{NODE}/reset-secret");
        let fresh = secret_in(&hub.post_as(&session, &path, &json!({})).expect(200));
        assert_eq!(kept(hub, NODE), ("bound", false));
        a_stranger_gets_nowhere(hub, NODE);
        hub.message_as(NODE, &old, "fetch", json!({})).refused(403, "node_secret_invalid");
        hub.message_as(NODE, &fresh, "fetch", json!({})).expect(200);
    });
}

#[test]
fn a_vote_through_a_node_needs_its_secret() {
    use capsid_rules::access::RequireSecret;
    for policy in [RequireSecret::Tofu, RequireSecret::Never] {
        both_with(
            |config| config.require_secret = policy,
            |hub| {
                let bundle = Bundle::new(1);
                hub.publish("node_publisher", &bundle).expect(200);
                let secret = hub.register(NODE);
                claim(hub, NODE, &account(hub, "ann@example.org"));
                let path = format!("/a2a/assets/{}/vote", bundle.capsule_id());
                let vote = json!({"vote": "up", "sender_id": NODE});
                hub.post(&path, &vote).refused(401, "unauthorized");
                hub.post_as(&"0".repeat(64), &path, &vote).refused(403, "node_secret_invalid");
                assert_eq!(hub.post_as(&secret, &path, &vote).expect(200)["upvotes"], 1);
            },
        );
    }
}
