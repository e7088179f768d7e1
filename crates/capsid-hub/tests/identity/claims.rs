//! Claim codes, and claims that a node refuses.

use super::*;
use crate::common::{Bundle, both};
use serde_json::json;

fn claim(hub: &TestHub, session: &str, code: &Value) -> crate::common::TestResponse {
    hub.post_as(session, &format!("/claim/{}", code.as_str().unwrap()), &json!({}))
}

#[test]
fn a_claim_code_is_returned_with_the_secret_or_to_whoever_shows_it() {
    with_each_identity(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let met = home.hello(NODE, None, json!({})).expect(200);
        let (secret, code) = (secret_in(&met), &met["claim_code"]);
        holds_nothing(&home.heartbeat(NODE, None).expect(200));
        let foreign = elsewhere.heartbeat(NODE, None);
        assert!(!foreign.text.contains("claim_code"), "{foreign}");
        let beat = home.heartbeat(NODE, Some(&secret)).expect(200);
        assert_eq!(&beat["claim_state"]["claim_code"], code, "the code that was printed stays");
        assert_eq!(&home.hello(NODE, Some(&secret), json!({})).expect(200)["claim_code"], code);
    });
}

#[test]
fn a_rotation_and_a_claim_end_all_codes() {
    both(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let (ann, eve) = (account(hub, "ann@example.org"), account(hub, "eve@example.org"));
        let met = home.hello(NODE, None, json!({})).expect(200);
        let rotated = home.hello(NODE, Some(&secret_in(&met)), json!({"rotate_secret": true})).expect(200);
        claim(hub, &eve, &met["claim_code"]).refused(410, "claim_code_expired");
        let secret = secret_in(&rotated);
        // The node moves about, so it has a second code.
        let second = elsewhere.hello(NODE, Some(&secret), json!({})).expect(200)["claim_code"].clone();
        assert_ne!(second, rotated["claim_code"]);
        claim(hub, &ann, &rotated["claim_code"]).expect(200);
        claim(hub, &eve, &second).refused(410, "claim_code_expired");
        claim(hub, &eve, &rotated["claim_code"]).refused(409, "already_claimed");
    });
}

#[test]
fn a_node_refuses_a_claim_while_it_can() {
    with_public_identity(|hub| {
        let home = hub.from(HOME);
        let met = home.hello(NODE, None, json!({})).expect(200);
        let secret = secret_in(&met);
        let eve = account(hub, "eve@example.org");
        claim(hub, &eve, &met["claim_code"]).expect(200);
        let beat = home.heartbeat(NODE, Some(&secret)).expect(200);
        let news = beat["pending_events"].to_string();
        assert!(news.contains("node_claimed") && news.contains("/a2a/claim/refuse"), "{news}");

        // Until then the owner can neither reset the secret nor move credits.
        let reset = format!("/account/agents/{NODE}/reset-secret");
        hub.post_as(&eve, &reset, &json!({})).refused(409, "claim_in_grace");
        let all = json!({"from": NODE, "to": "user", "amount": 1, "reference": "r1"});
        hub.post_as(&eve, "/account/transfer", &all).refused(409, "claim_in_grace");
        let ask = json!({"node_id": NODE, "question": "Why does the parser stop?", "amount": 1});
        hub.post_as(&eve, "/a2a/ask", &ask).refused(409, "claim_in_grace");

        let refuse = json!({"node_id": NODE});
        home.post("/a2a/claim/refuse", None, &refuse).refused(401, "node_secret_required");
        home.post("/a2a/claim/refuse", Some(&"0".repeat(64)), &refuse).refused(403, "node_secret_invalid");
        hub.post_as(&eve, "/a2a/claim/refuse", &refuse).refused(401, "node_secret_required");
        hub.clock.advance(71 * HOUR);
        let answer = home.post("/a2a/claim/refuse", Some(&secret), &refuse).expect(200);
        assert_eq!(answer, json!({"status": "refused", "node_id": NODE, "claimed": false}));
        home.post("/a2a/claim/refuse", Some(&secret), &refuse).refused(409, "claim_not_refusable");
        claim(hub, &eve, &met["claim_code"]).refused(410, "claim_code_expired");
        assert_eq!(hub.get(&format!("/a2a/nodes/{NODE}")).expect(200)["claimed"], false);
        let logged = home.get(&format!("/a2a/audit/{NODE}"), Some(&secret)).expect(200);
        let actions: Vec<_> =
            logged["logs"].as_array().unwrap().iter().map(|log| log["action"].clone()).collect();
        assert_eq!(actions, ["refuse_claim", "claim"]);
    });
}

#[test]
fn a_claim_stands_when_its_grace_is_over() {
    with_public_identity(|hub| {
        let home = hub.from(HOME);
        let met = home.hello(NODE, None, json!({})).expect(200);
        let secret = secret_in(&met);
        home.heartbeat(NODE, Some(&secret)).expect(200);
        let ann = account(hub, "ann@example.org");
        claim(hub, &ann, &met["claim_code"]).expect(200);
        hub.clock.advance(72 * HOUR);
        let refuse = json!({"node_id": NODE});
        home.post("/a2a/claim/refuse", Some(&secret), &refuse).refused(409, "claim_not_refusable");
        let login = json!({"email": "ann@example.org", "password": "correct horse battery"});
        let ann = hub.post("/auth/login", &login).expect(200)["token"].as_str().unwrap().to_owned();
        hub.post_as(&ann, &format!("/account/agents/{NODE}/reset-secret"), &json!({})).expect(200);
    });
}

#[test]
fn a_private_hub_has_no_grace() {
    both(|hub| {
        let home = hub.from(HOME);
        let met = home.hello(NODE, None, json!({})).expect(200);
        let secret = secret_in(&met);
        home.message(NODE, Some(&secret), "publish", Bundle::new(1).payload()).expect(200);
        let ann = account(hub, "ann@example.org");
        claim(hub, &ann, &met["claim_code"]).expect(200);
        let refuse = json!({"node_id": NODE});
        home.post("/a2a/claim/refuse", Some(&secret), &refuse).refused(409, "claim_not_refusable");
        hub.post_as(&ann, &format!("/account/agents/{NODE}/reset-secret"), &json!({})).expect(200);
    });
}
