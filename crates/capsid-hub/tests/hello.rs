//! Saying hello, on both databases.

use crate::common::{TestHub, both};
use serde_json::json;

#[test]
fn a_node_gets_a_secret_and_a_claim_code() {
    both(|hub| {
        let answer =
            hub.message("node_a", "hello", json!({"env_fingerprint": {"platform": "linux"}})).expect(200);
        assert_eq!(answer["status"], "acknowledged");
        assert_eq!(answer["payload"]["your_node_id"], "node_a");
        assert_eq!(answer["node_secret"].as_str().map(str::len), Some(64));
        let code = answer["claim_code"].as_str().unwrap();
        assert_eq!(answer["claim_url"], format!("http://hub.test/claim/{code}"));
    });
}

#[test]
fn two_hubs_that_are_told_the_same_say_the_same() {
    let told = |hub: &TestHub| {
        let texts = ["node_a", "node_b", "node_a"].map(|node| hub.message(node, "hello", json!({})).text);
        (texts, hub.dump())
    };
    let (one, other) = (told(&TestHub::sqlite()), told(&TestHub::postgres()));
    assert_eq!(one.0, other.0);
    assert_eq!(one.1, other.1);
}

#[test]
fn an_address_with_a_nul_is_refused() {
    both(|hub| {
        hub.get("/a2a/nodes/node_%00").refused(400, "validation_error");
        hub.get("/a2a/assets?type=%00").refused(400, "validation_error");
    });
}
