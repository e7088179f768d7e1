//! What a stranger asks first, and what nodes keep: skills, memories, events and their mailbox.

use super::Witness;
use crate::common::economy::text;
use serde_json::{Value, json};

/// Calls everything of it.
pub fn call_everything(on: &Witness<'_>) {
    discover(on);
    identify(on);
    share_skills(on);
    remember(on);
    exchange_messages(on);
}

fn discover(on: &Witness<'_>) {
    on.get("", "/", "", "");
    on.get("", "/a2a/policy/model-tiers", "", "");
    on.get("", "/a2a/skill", "", "");
    on.get("", "/a2a/skill", "", "?topic=publish");
    for words in ["publish", "skill", "rate%20limit"] {
        assert_ne!(on.get("", "/a2a/help", "", &format!("?q={words}"))["matches"], json!([]), "{words}");
    }
}

/// Who nodes are.
fn identify(on: &Witness<'_>) {
    let secret = on.hub.register("node_known");
    on.get("", "/a2a/identity/{node_id}", "node_known", "");
    on.get("", "/a2a/identity/{node_id}/attestation", "node_known", "");
    on.get(&secret, "/a2a/audit/{node_id}", "node_known", "");
}

/// A node refuses a claim, on a hub where it can.
pub fn refuse_claim(on: &Witness<'_>) {
    let met = on.hub.message("node_known", "hello", json!({})).expect(200);
    let login = json!({"email": "ann@example.org", "password": "correct horse battery"});
    let token = on.hub.post("/auth/register", &login).expect(201)["token"].clone();
    let secret = text(&met["node_secret"]);
    on.hub.post_as(&text(&token), &format!("/claim/{}", text(&met["claim_code"])), &json!({})).expect(200);
    on.post(&secret, "/a2a/claim/refuse", "", &json!({"node_id": "node_known"}));
    assert_ne!(on.get(&secret, "/a2a/audit/{node_id}", "node_known", "")["total"], 0);
}

fn share_skills(on: &Witness<'_>) {
    on.hub.register("node_skilled");
    let bare = json!({"node_id": "node_skilled", "skill_id": "bare", "content": "Be brief."});
    on.post("", "/a2a/skill/store/publish", "", &bare);
    let mut whole = json!({"node_id": "node_skilled", "skill_id": "retry", "content": "Wait, then try again.",
        "category": "network", "tags": ["timeout"], "changelog": "First.",
        "bundled_files": [{"name": "retry.js", "content": "1"}]});
    on.post("", "/a2a/skill/store/publish", "", &whole);
    whole["content"] = json!("Wait longer each time.");
    assert_eq!(on.send("PUT", "", "/a2a/skill/store/update", "", &whole)["version"], "2");
    on.get("", "/a2a/skill/store/list", "", "");
    on.get("", "/a2a/skill/store/list", "", "?limit=1");
    on.get("", "/a2a/skill/store/fetch", "", "?name=retry");
    on.get("", "/a2a/skill/store/{skill_id}/download", "bare", "");
    on.post("", "/a2a/skill/store/{skill_id}/download", "retry", &json!({"node_id": "node_skilled"}));
    let gone = json!({"node_id": "node_skilled", "skill_id": "bare"});
    on.post("", "/a2a/skill/store/delete", "", &gone);
    on.send("DELETE", "", "/a2a/skill/store/{skill_id}", "retry?node_id=node_skilled", &json!({}));
}

fn remember(on: &Witness<'_>) {
    on.hub.register("node_minded");
    on.get("", "/a2a/memory/status", "", "?node_id=node_minded");
    let learned = json!({"node_id": "node_minded", "signals": ["TimeoutError"], "gene_id": "gene_retry",
        "status": "success", "score": 0.9, "summary": "It works."});
    on.post("", "/a2a/memory/record", "", &learned);
    let event = json!({"node_id": "node_minded", "event": {"kind": "signal", "signals": ["TimeoutError"]}});
    on.post("", "/a2a/memory/event", "", &event);
    let asked = json!({"node_id": "node_minded", "signals": ["TimeoutError"]});
    assert_eq!(on.post("", "/a2a/memory/recall", "", &asked)["count"], 2);
    on.get("", "/a2a/memory/status", "", "?node_id=node_minded");
}

fn exchange_messages(on: &Witness<'_>) {
    let secret = on.hub.register("node_mailed");
    let send = |messages: Value| {
        let batch = json!({"sender_id": "node_mailed", "messages": messages});
        on.post(&secret, "/a2a/mailbox/outbound", "", &batch)["results"].clone()
    };
    let to_itself = json!({"recipient_node_id": "node_mailed", "content": "Hello."});
    let results = send(json!([
        {"id": "m1", "type": "dm", "payload": to_itself},
        {"id": "m2", "type": "dm", "payload": {"recipient_node_id": "node_nobody", "content": "Hello."}},
        {"id": "m3", "type": "proxy_trace"},
        {"id": "m4", "type": "task_subscribe", "payload": {}},
    ]));
    let outcomes: Vec<_> = results.as_array().unwrap().iter().map(|result| text(&result["status"])).collect();
    assert_eq!(outcomes, ["accepted", "failed", "rejected", "accepted"]);
    let asked = json!({"sender_id": "node_mailed", "timeout_ms": 0});
    let waiting = on.post(&secret, "/a2a/mailbox/inbound", "", &asked);
    on.post(&secret, "/a2a/events/poll", "", &asked);
    on.get(&secret, "/a2a/mailbox/status", "", "?node_id=node_mailed");
    let arrived = json!({"sender_id": "node_mailed", "message_ids": [waiting["messages"][0]["id"]]});
    assert_eq!(on.post(&secret, "/a2a/mailbox/ack", "", &arrived)["acknowledged"], 1);
}
