//! What clients get: an id where they have none, and the audit of a node.

use super::*;
use crate::common::{Bundle, both, both_with};
use serde_json::json;

fn without_sender(hub: &TestHub) -> Value {
    let mut message = hub.envelope("", "hello", json!({}));
    message.as_object_mut().unwrap().remove("sender_id");
    message
}

#[test]
fn a_hello_without_sender_id_is_refused_with_an_id_that_it_can_use() {
    both(|hub| {
        let missing = without_sender(hub);
        for value in [None, Some(Value::Null), Some(json!(""))] {
            let mut message = missing.clone();
            if let Some(value) = value {
                message["sender_id"] = value;
            }
            let refused = hub.post("/a2a/hello", &message).refused(400, "invalid_protocol_message");
            let mut proposed = refused["correction"]["example"].clone();
            let id = proposed["sender_id"].as_str().unwrap().to_owned();
            assert!(id.starts_with("node_") && id.len() == 21, "{id}");
            proposed["message_id"] = json!("msg_again");
            let met = hub.post("/a2a/hello", &proposed).expect(200);
            assert_eq!(met["your_node_id"], id);
            assert!(met.get("node_id_assigned_by_hub").is_none(), "{met}");
        }
        hub.message("", "publish", Bundle::new(1).payload()).refused(400, "invalid_protocol_message");
    });
}

#[test]
fn a_hub_that_assigns_ids_gives_one_to_a_hello_without() {
    both_with(
        |config| config.identity.assign_ids = true,
        |hub| {
            let met = hub.post("/a2a/hello", &without_sender(hub)).expect(200);
            assert_eq!(met["node_id_assigned_by_hub"], true);
            let id = met["your_node_id"].as_str().unwrap();
            hub.get(&format!("/a2a/nodes/{id}")).expect(200);
            let next = hub.post("/a2a/hello", &without_sender(hub)).expect(200);
            assert_ne!(next["your_node_id"], *id);
            // Only a missing id is chosen; every other fault is told.
            let mut other = without_sender(hub);
            other["protocol"] = json!("other");
            hub.post("/a2a/hello", &other).refused(400, "invalid_protocol_message");
        },
    );
}

#[test]
fn the_audit_of_a_node_is_for_the_node_its_owner_and_admins() {
    both(|hub| {
        let home = hub.from(HOME);
        let met = home.hello(NODE, None, json!({})).expect(200);
        let secret = secret_in(&met);
        let ann = account(hub, "ann@example.org");
        let eve = account(hub, "eve@example.org");
        let path = format!("/a2a/audit/{NODE}");
        home.get(&path, None).refused(401, "node_secret_required");
        hub.post_as(&ann, &format!("/claim/{}", met["claim_code"].as_str().unwrap()), &json!({})).expect(200);
        hub.clock.advance(1000);
        let bundle = Bundle::new(1);
        home.message(NODE, Some(&secret), "publish", bundle.payload()).expect(200);
        home.message(NODE, Some(&secret), "revoke", json!({"target_asset_id": bundle.capsule_id()}))
            .expect(200);

        home.get(&path, None).refused(401, "node_secret_required");
        home.get(&path, Some(&"0".repeat(64))).refused(403, "node_secret_invalid");
        home.get(&path, Some(&eve)).refused(401, "node_secret_required");
        let all = home.get(&path, Some(&secret)).expect(200);
        assert_eq!(home.get(&path, Some(&ann)).expect(200), all);
        assert_eq!((&all["limit"], &all["offset"]), (&json!(50), &json!(0)));
        let logs = all["logs"].as_array().unwrap();
        assert_eq!(all["total"], logs.len());
        let first = logs.last().unwrap();
        assert_eq!((&first["action"], &first["subject"]), (&json!("claim"), &json!(NODE)));
        assert!(logs.len() > 1 && logs[0]["actor"] == format!("node:{NODE}"), "{all}");

        let claims =
            home.get(&format!("{path}?action=claim&limit=1&sender_id={NODE}"), Some(&secret)).expect(200);
        assert_eq!((&claims["total"], &claims["limit"]), (&json!(1), &json!(1)));
        let rest = home.get(&format!("{path}?offset=1"), Some(&secret)).expect(200);
        assert_eq!(rest["logs"].as_array().unwrap().len(), logs.len() - 1);
        let until = logs.last().unwrap()["at"].as_str().unwrap();
        let before = home.get(&format!("{path}?until={until}"), Some(&secret)).expect(200);
        assert_eq!(before["total"], 0);
        let since = home.get(&format!("{path}?since={until}"), Some(&secret)).expect(200);
        assert_eq!(since["total"], all["total"]);
        for odd in ["since=yesterday", "offset=-1", "offset=x", "sender_id=a%20b"] {
            home.get(&format!("{path}?{odd}"), Some(&secret)).refused(400, "validation_error");
        }
        home.get("/a2a/audit/node_unknown", Some(&secret)).refused(404, "node_not_found");

        // Another node of the same owner may ask; a stranger's may not.
        let sibling = hub.from(ELSEWHERE).hello("node_sibling", None, json!({})).expect(200);
        let theirs = secret_in(&sibling);
        let asked = format!("{path}?sender_id=node_sibling");
        home.get(&asked, Some(&theirs)).refused(401, "node_secret_required");
        hub.post_as(&ann, &format!("/claim/{}", sibling["claim_code"].as_str().unwrap()), &json!({}))
            .expect(200);
        home.get(&asked, Some(&theirs)).expect(200);
    });
}
