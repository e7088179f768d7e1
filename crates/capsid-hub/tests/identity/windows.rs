//! The issue window: the same secret for two hellos at once, and calls without it.

use super::*;
use crate::common::{both, request, send};
use axum::extract::ConnectInfo;
use serde_json::json;
use std::net::SocketAddr;

fn evolver(version: &str) -> Value {
    json!({"env_fingerprint": {"client": "@evomap/evolver", "client_version": version}})
}

#[test]
fn two_hellos_at_once_get_the_same_secret() {
    with_each_identity(|hub| {
        let answers = hub.runtime.block_on(async {
            let calls: Vec<_> = (0..4)
                .map(|_| {
                    let body = hub.envelope(NODE, "hello", evolver("1.94.0")).to_string().into_bytes();
                    let mut request = request("POST", "/a2a/hello", None, Some(body));
                    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(HOME.parse().unwrap(), 1)));
                    tokio::spawn(send(hub.router(), request))
                })
                .collect();
            let mut answers = Vec::new();
            for call in calls {
                answers.push(call.await.unwrap().expect(200));
            }
            answers
        });
        for answer in &answers {
            assert_eq!(secret_in(answer), secret_in(&answers[0]));
            assert_eq!(answer["claim_code"], answers[0]["claim_code"]);
            assert_eq!(answer["node_secret_version"], 1);
        }
    });
}

#[test]
fn a_hello_after_the_window_gets_another_secret_while_none_was_shown() {
    with_each_identity(|hub| {
        let (home, neighbour) = (hub.from(HOME), hub.from(NEIGHBOUR));
        let first = secret_in(&home.hello(NODE, None, evolver("1.94.0")).expect(200));
        hub.clock.advance(61 * SECOND);
        let answer = neighbour.hello(NODE, None, evolver("1.94.0")).expect(200);
        let second = secret_in(&answer);
        assert_ne!(first, second);
        assert_eq!(answer["node_secret_version"], 2);
        // Both are valid until one is shown, and that one wins.
        home.heartbeat(NODE, Some(&first)).expect(200);
        home.heartbeat(NODE, Some(&first)).expect(200);
        home.heartbeat(NODE, Some(&second)).refused(403, "node_secret_invalid");
        let answer = home.hello(NODE, None, evolver("1.94.0")).expect(200);
        assert!(answer.get("node_secret").is_none(), "{answer}");
    });
}

#[test]
fn the_newer_of_two_secrets_wins_as_well() {
    both(|hub| {
        let home = hub.from(HOME);
        let first = secret_in(&home.hello(NODE, None, json!({})).expect(200));
        hub.clock.advance(61 * SECOND);
        run_jobs(hub);
        let second = secret_in(&home.hello(NODE, None, json!({})).expect(200));
        home.heartbeat(NODE, Some(&second)).expect(200);
        home.heartbeat(NODE, Some(&first)).refused(403, "node_secret_invalid");
    });
}

#[test]
fn a_client_that_stores_secrets_is_bound_when_the_window_ends() {
    with_each_identity(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let secret = secret_in(&home.hello(NODE, None, evolver("1.94.0")).expect(200));
        // A slow client sends its first calls without the secret.
        home.message(NODE, None, "fetch", json!({})).expect(200);
        home.heartbeat(NODE, None).expect(200);
        elsewhere.heartbeat(NODE, None).refused(401, "node_secret_required");
        hub.clock.advance(59 * SECOND);
        home.heartbeat(NODE, None).expect(200);
        hub.clock.advance(SECOND);
        home.heartbeat(NODE, None).refused(401, "node_secret_required");
        home.message(NODE, None, "fetch", json!({})).refused(401, "node_secret_required");
        home.heartbeat(NODE, Some(&secret)).expect(200);
    });
}

#[test]
fn only_a_client_that_is_known_to_store_secrets_is_bound_by_time() {
    both(|hub| {
        let clients = [
            (json!({"env_fingerprint": {"client": "evolver", "client_version": "1.29.8"}}), true),
            (json!({"env_fingerprint": {"client": "capsid", "client_version": "0.1.0"}}), true),
            (json!({"capabilities": {"node_secret": true}}), true),
            (json!({"env_fingerprint": {"client": "evolver", "client_version": "1.20.4"}}), false),
            (json!({"env_fingerprint": {"client": "my-app", "client_version": "3.2.1"}}), false),
            (json!({"capabilities": {"node_secret": "yes"}}), false),
            (json!({}), false),
        ];
        let home = hub.from(HOME);
        for (n, (payload, _)) in clients.iter().enumerate() {
            home.hello(&format!("node_{n}"), None, payload.clone()).expect(200);
        }
        hub.clock.advance(61 * SECOND);
        run_jobs(hub);
        for (n, (payload, is_bound)) in clients.iter().enumerate() {
            let node = format!("node_{n}");
            let status = home.heartbeat(&node, None).status;
            assert_eq!(status, if *is_bound { 401 } else { 200 }, "{payload}");
            assert_eq!(hub.get(&format!("/a2a/identity/{node}")).expect(200)["bound"], *is_bound);
        }
    });
}

#[test]
fn a_claimed_node_whose_first_answer_was_lost_gets_its_secret() {
    with_each_identity(|hub| {
        let (home, elsewhere) = (hub.from(HOME), hub.from(ELSEWHERE));
        let code = home.hello(NODE, None, evolver("1.94.0")).expect(200)["claim_code"].clone();
        let ann = account(hub, "ann@example.org");
        hub.post_as(&ann, &format!("/claim/{}", code.as_str().unwrap()), &json!({})).expect(200);
        hub.clock.advance(5 * 60 * SECOND);
        let rotate = json!({"rotate_secret": true});
        elsewhere.hello(NODE, None, rotate.clone()).refused(401, "node_secret_required");
        let answer = elsewhere.hello(NODE, None, json!({})).expect(200);
        holds_nothing(&answer["payload"]);
        let secret = secret_in(&home.hello(NODE, None, rotate.clone()).expect(200));
        home.heartbeat(NODE, Some(&secret)).expect(200);
        home.hello(NODE, None, rotate).refused(409, "node_id_already_claimed");
    });
}

#[test]
fn a_hub_that_was_started_again_in_the_window_still_gives_a_secret() {
    let hub = TestHub::sqlite();
    let first = secret_in(&hub.from(HOME).hello(NODE, None, json!({})).expect(200));
    let hub = hub.restart();
    let home = hub.from(HOME);
    let second = secret_in(&home.hello(NODE, None, json!({})).expect(200));
    assert_ne!(first, second, "the key to the first one is gone");
    home.heartbeat(NODE, Some(&first)).expect(200);
}
