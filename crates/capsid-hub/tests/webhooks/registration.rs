//! A node says in its hello where it wants to be called.

use crate::common::{TestHub, both, on_sqlite};
use serde_json::{Value, json};

const URL: &str = "https://agent.example.com/hook";

fn hello(hub: &TestHub, node: &str, secret: &str, url: &str) -> Value {
    hub.message_as(node, secret, "hello", json!({"webhook_url": url})).expect(200)
}

#[test]
fn the_secret_is_shown_when_the_address_is_new_and_never_again() {
    both(|hub| {
        let secret = hub.register("node_a");
        let first = hello(hub, "node_a", &secret, URL);
        assert_eq!(first["webhook_status"], "registered");
        let shown = first["webhook_secret"].as_str().unwrap();
        assert!(shown.starts_with("whsec_") && shown.len() >= 6 + 32, "{shown}");
        hub.names.asked();
        let again = hello(hub, "node_a", &secret, URL);
        assert_eq!((&again["webhook_status"], again.get("webhook_secret")), (&json!("registered"), None));
        assert!(hub.names.asked().is_empty(), "an address that is known is not looked up for every hello");
        let other = hello(hub, "node_a", &secret, "https://other.example.com/hook");
        assert_ne!(other["webhook_secret"], first["webhook_secret"]);
        assert!(other["webhook_secret"].is_string());
        // A hello that says nothing about it changes nothing.
        hub.message_as("node_a", &secret, "hello", json!({})).expect(200);
        let told = hub.get_as(&secret, "/a2a/webhook?node_id=node_a").expect(200);
        assert_eq!(
            (&told["url"], &told["enabled"]),
            (&json!("https://other.example.com/hook"), &json!(true))
        );
        assert!(!told.to_string().contains("whsec_"), "{told}");
    });
}

#[test]
fn a_webhook_can_be_taken_back() {
    on_sqlite(|hub| {
        let secret = hub.register("node_a");
        for nothing in ["", " ", "null"] {
            hello(hub, "node_a", &secret, URL);
            hub.post_as(&secret, "/a2a/webhook/test", &json!({"node_id": "node_a"})).expect(200);
            assert_eq!(hello(hub, "node_a", &secret, nothing)["webhook_status"], "removed");
            let told = hub.get_as(&secret, "/a2a/webhook?node_id=node_a").expect(200);
            assert_eq!((&told["registered"], &told["url"]), (&json!(false), &Value::Null));
            assert_eq!((&told["deliveries"]["queued"], &told["enabled"]), (&json!(0), &json!(false)));
            hub.post_as(&secret, "/a2a/webhook/test", &json!({"node_id": "node_a"}))
                .refused(404, "not_found");
        }
        assert!(hello(hub, "node_a", &secret, URL)["webhook_secret"].is_string());
    });
}

#[test]
fn a_stranger_neither_sets_nor_sees_a_webhook() {
    on_sqlite(|hub| {
        let secret = hub.register("node_a");
        hello(hub, "node_a", &secret, URL);
        let stranger = hub.message("node_a", "hello", json!({"webhook_url": "https://evil.example.com/"}));
        let told = stranger.expect(200);
        assert_eq!(told["webhook_status"], "rejected:node_secret_required");
        assert!(told.get("webhook_secret").is_none());
        assert_eq!(
            hub.message("node_a", "hello", json!({"webhook_url": ""})).expect(200)["webhook_status"],
            "rejected:node_secret_required"
        );
        let webhook = "/a2a/webhook?node_id=node_a";
        assert_eq!(hub.get_as(&secret, webhook).expect(200)["url"], URL);
        hub.get(webhook).refused(401, "node_secret_required");
        hub.get("/a2a/webhook/deliveries?node_id=node_a").refused(401, "node_secret_required");
        hub.get_as(&"0".repeat(64), webhook).refused(403, "node_secret_invalid");
        // Not even that of a node whose secret nobody has shown yet.
        hub.message("node_b", "hello", json!({"webhook_url": URL})).expect(200);
        hub.get("/a2a/webhook?node_id=node_b").refused(401, "node_secret_required");
        for (path, body) in [
            ("/a2a/webhook/test", json!({"node_id": "node_b"})),
            ("/a2a/webhook/replay", json!({"node_id": "node_b", "delivery_id": "evt_1"})),
        ] {
            hub.post(path, &body).refused(401, "node_secret_required");
        }
        hub.get("/a2a/webhook?node_id=node_nobody").refused(404, "node_not_found");
        hub.get("/a2a/webhook").refused(400, "validation_error");
    });
}

#[test]
fn a_name_is_looked_up_when_it_is_registered() {
    on_sqlite(|hub| {
        let secret = hub.register("node_a");
        for (n, (answers, status)) in [
            (&[][..], "registered"),
            (&[&["10.0.0.1"][..]][..], "rejected:private_address"),
            (&[&["93.184.215.14", "10.0.0.1"]], "rejected:private_address"),
            (&[&["93.184.215.14", "::1"]], "rejected:private_address"),
            (&[&["93.184.215.14", "2606:2800:220:1::1"]], "registered"),
        ]
        .into_iter()
        .enumerate()
        {
            let host = format!("h{n}.example.com");
            hub.names.set(&host, answers);
            let told = hello(hub, "node_a", &secret, &format!("https://{host}/hook"));
            assert_eq!(told["webhook_status"], status, "{answers:?}");
        }
    });
}
