//! Taking a candidate on trial.

use super::helpers::asset;
use crate::common::{Bundle, both, on_sqlite};
use serde_json::{Value, json};

#[test]
fn nobody_but_assigned_validators_can_try_a_candidate_before_reporting_on_it() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        let fetch = |payload: Value| hub.message("node_b", "fetch", payload).expect(200);
        let (id, signal) = (bundle.capsule_id(), bundle.capsule["trigger"][0].clone());
        let plain = fetch(json!({"asset_ids": [id]}));
        assert_eq!(
            (&plain["count"], &plain["missing"][0]),
            (&json!(0), &json!(id)),
            "a plain fetch stays empty"
        );
        assert_eq!(fetch(json!({"signals": [signal], "search_only": true}))["count"], 0);
        assert_eq!(fetch(json!({"signals": [signal]}))["count"], 0);
        let trial = fetch(json!({"asset_ids": [id, bundle.gene_id()], "trial": true}));
        assert_eq!(trial["results"][0], bundle.capsule);
        assert_eq!(
            (&trial["trials"][0]["asset_id"], trial["trials"].as_array().unwrap().len()),
            (&json!(id), 2)
        );
        assert_eq!(trial["trials"][0]["expires_at"], "2026-01-01T01:00:00.000Z");
        assert_eq!(fetch(json!({"asset_ids": [id]}))["count"], 0, "a trial opens nothing else");
        assert_eq!(asset(hub, id).call_count, 0, "it is no use yet");
    });
}

#[test]
fn a_search_offers_candidates_to_whoever_asks_for_a_trial() {
    both(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        hub.register("node_b");
        let signal = bundle.capsule["trigger"][0].clone();
        let ask = json!({"signals": [signal], "search_only": true, "trial": true});
        let found = hub.message("node_b", "fetch", ask.clone()).expect(200);
        assert_eq!(found["count"], 0, "the results are as without it");
        let offered = &found["candidates"][0];
        assert_eq!(
            (&offered["asset_id"], &offered["status"], &offered["offer"]),
            (&json!(bundle.capsule_id()), &json!("candidate"), &json!("trial"))
        );
        assert!(offered.get("diff").is_none(), "a row has no body");
        let own = hub.message("node_a", "fetch", ask.clone()).expect(200);
        assert_eq!(own["candidates"], json!([]), "nobody tries what it made");
        let stranger = hub.message("node_z", "fetch", ask).expect(200);
        assert!(stranger.get("candidates").is_none());
    });
}

#[test]
fn a_node_that_the_hub_does_not_know_gets_no_trial_and_nobody_gets_what_is_held() {
    on_sqlite(|hub| {
        let (bundle, held) = (Bundle::new(1), Bundle::new(2));
        hub.publish("node_a", &bundle).expect(200);
        hub.publish("node_a", &held).expect(200);
        let ask = json!({"asset_ids": [bundle.capsule_id(), held.capsule_id()], "trial": true});
        hub.message("node_b", "fetch", ask.clone()).refused(403, "trial_not_allowed");
        hub.register("node_b");
        hub.message("node_a", "revoke", json!({"target_asset_id": held.capsule_id()})).expect(200);
        let trial = hub.message("node_b", "fetch", ask).expect(200);
        assert_eq!((&trial["count"], &trial["missing"]), (&json!(1), &json!([held.capsule_id()])));
    });
}

#[test]
fn a_ticket_that_is_still_valid_is_given_again() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let nonce = |node: &str| {
            hub.take_on_trial(node, bundle.capsule_id()).expect(200)["trials"][0]["nonce"].clone()
        };
        let first = nonce("node_b");
        hub.clock.advance(3_000_000);
        assert_eq!(nonce("node_b"), first);
        assert_ne!(nonce("node_c"), first, "another node has another one");
    });
}
