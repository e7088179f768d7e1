//! What keeps one client from taking more than its share.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

mod common;

use axum::body::Body;
use axum::http::Request;
use common::{TestHub, send};
use serde_json::json;
use tower::ServiceExt;

#[test]
fn an_answer_does_not_repeat_what_was_sent() {
    let hub = TestHub::sqlite();
    let key = "k\u{202e}".repeat(100_000);
    let twice = format!("{{{0}:1,{0}:2}}", json!(key));
    let asset = format!("/a2a/assets/sha256:{}/reviews", "0".repeat(64));
    let long = "x".repeat(500_000);
    for (path, body) in [
        ("/a2a/hello", twice),
        (&asset, json!({"node_id": "node_a", "rating": long}).to_string()),
        (&asset, json!({"node_id": long, "rating": 5}).to_string()),
        ("/a2a/events/poll", json!({"node_id": "node_a", "timeout_ms": long}).to_string()),
        ("/a2a/events/poll", format!("{{\"node_id\":\"node_a\",\"payload\":{{{}:{}}}}}", json!(long), 1)),
        ("/a2a/mailbox/outbound", json!({"node_id": "node_a", "messages": [{"id": long}]}).to_string()),
        ("/a2a/publish", hub.envelope("node_a", "publish", json!({"assets": [{"type": long}]})).to_string()),
    ] {
        let answer = hub.call("POST", path, None, Some(body.into_bytes()));
        assert!(answer.text.len() < 4000, "{path}: {} bytes, {:.200}", answer.text.len(), answer.text);
        assert!(!answer.text.contains('\u{202e}'));
    }
}

#[test]
fn a_node_has_a_few_streams_at_a_time_and_an_address_some_more() {
    let hub = TestHub::sqlite();
    let open = |node: &str| {
        let uri = format!("/a2a/events/stream?node_id={node}");
        let request = Request::builder().uri(uri).body(Body::empty()).unwrap();
        hub.runtime.block_on(hub.router().oneshot(request)).unwrap()
    };
    let poll = |node: &str| hub.post("/a2a/events/poll", &json!({"node_id": node, "timeout_ms": 0}));
    let of_node: Vec<_> = (0..4).map(|_| open("node_a")).collect();
    assert!(of_node.iter().all(|answer| answer.status() == 200));
    assert_eq!(open("node_a").status(), 429);
    assert!(poll("node_a").refused(429, "rate_limited")["retry_after_ms"].is_number());
    let others: Vec<_> = (0..60).map(|n| open(&format!("node_{n}"))).collect();
    assert!(others.iter().all(|answer| answer.status() == 200));
    poll("node_z").refused(429, "rate_limited");
    drop(others);
    poll("node_z").expect(200);
    poll("node_a").refused(429, "rate_limited");
    drop(of_node);
    poll("node_a").expect(200);
}

#[test]
fn heads_that_are_too_large_are_refused_in_json() {
    let hub = TestHub::sqlite();
    let path = format!("/a2a/assets?x={}", "a".repeat(20_000));
    hub.get(&path).refused(414, "uri_too_long");
    let request = Request::builder().uri("/health").header("x-long", "a".repeat(70_000));
    let answer = hub.runtime.block_on(send(hub.router(), request.body(Body::empty()).unwrap()));
    answer.refused(431, "headers_too_large");
}
