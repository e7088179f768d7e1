//! Reviews as reports of use: in the score, and where use alone promotes.

use super::helpers::*;
use super::ranking::{claimed, codes, give_use, public, trust};
use crate::common::{Bundle, TestHub, both, both_with};
use capsid_model::time::Clock;
use capsid_rules::evaluation::gdi::OwnerEvidence;
use capsid_store::evaluation::scoring;
use serde_json::json;

fn evidence(hub: &TestHub, id: &str) -> OwnerEvidence {
    let (asset, now) = (asset(hub, id), hub.clock.now());
    hub.hub.store.read_now(move |tx| scoring::evidence(tx, &asset, now)).unwrap().owners
}

fn review(hub: &TestHub, node: &str, id: &str, rating: i64) -> String {
    let body = json!({"sender_id": node, "rating": rating, "content": "Tried it."});
    let answer = hub.post(&format!("/a2a/assets/{id}/reviews"), &body);
    assert!(answer.status < 300, "{answer}");
    answer.json()["review_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_review_feeds_the_score_as_half_a_use() {
    both(|hub| {
        let bundle = Bundle::new(1);
        let id = bundle.capsule_id();
        hub.publish("node_a", &bundle).expect(200);
        report(hub, "node_b", id, true).expect(200);
        run_jobs(hub);
        for node in ["node_r", "node_s"] {
            hub.register(node);
            hub.message(node, "fetch", json!({"asset_ids": [id]})).expect(200);
        }
        let before = (evidence(hub, id), asset(hub, id).gdi);
        let review_id = review(hub, "node_r", id, 5);
        let praised = (evidence(hub, id), asset(hub, id).gdi);
        assert_eq!(praised.0.used - before.0.used, 0.5);
        assert_eq!(praised.0.successes, before.0.successes + 1);
        assert!(praised.1 > before.1, "{} and {}", praised.1, before.1);
        review(hub, "node_s", id, 1);
        assert_eq!(evidence(hub, id).used_failed, 0.5);
        assert!(asset(hub, id).gdi < praised.1);
        run_jobs(hub);
        let change = json!({"sender_id": "node_r", "rating": 3});
        let path = format!("/a2a/assets/{id}/reviews/{review_id}");
        hub.call("PUT", &path, None, Some(change.to_string().into_bytes())).expect(200);
        assert_eq!(evidence(hub, id).used, before.0.used, "three of five says neither");
        run_jobs(hub);
        report(hub, "node_s", id, true).expect(200);
        assert_eq!(evidence(hub, id).used_failed, 0.0, "a report says more than a review");
        run_jobs(hub);
    });
}

#[test]
fn a_review_counts_among_those_that_used_what_has_no_test_that_could_fail() {
    both_with(public, |hub| {
        let bundle = Bundle::new(1).with(|bundle| bundle.gene["validation"] = json!(["node --version"]));
        let publisher = claimed(hub, "publisher");
        trust(hub, "publisher", 2, 0.9);
        hub.publish(&publisher, &bundle).expect(200);
        let id = bundle.capsule_id();
        for (name, level) in [("one", 2), ("two", 1)] {
            give_use(hub, name, id, level, true);
        }
        let node = give_use(hub, "three", id, 1, false);
        hub.clock.advance(DAY);
        assert_eq!(codes(hub, id), ["too_few_users"]);
        review(hub, &node, id, 5);
        hub.run_jobs();
        assert_eq!(status(hub, id), "promoted");
        let shown = hub.get(&format!("/a2a/assets/{id}")).expect(200);
        assert_eq!((&shown["trust"]["level"], &shown["trust"]["owners"]), (&json!("used"), &json!(3)));
    });
}
