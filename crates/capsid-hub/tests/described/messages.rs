//! Messages of nodes, and the calls that nodes make beside them.

use super::Witness;
use crate::common::Bundle;
use crate::common::economy::text;
use capsid_model::time::{Clock, Time};
use serde_json::{Value, json};

/// Says something of every kind. `admin` and `user` are tokens, `promoted` is a capsule that everybody may have.
pub fn say_everything(on: &Witness<'_>, admin: &str, user: &str, promoted: &str) {
    let say = |node: &str, kind: &str, payload: Value| {
        on.holds("POST", &format!("/a2a/{kind}"), &on.hub.message(node, kind, payload))
    };
    say("node_said", "hello", json!({"model": "m-1", "webhook_url": "https://agent.example.com/said"}));
    say("node_said", "hello", json!({"webhook_url": "ftp://nowhere"}));
    let (good, alike) = (Bundle::new(60), Bundle::new(61));
    let poor = Bundle::new(62).with(|bundle| bundle.capsule["outcome"]["score"] = json!(0.1));
    for bundle in [&good, &good, &alike, &poor] {
        say("node_said", "validate", bundle.payload());
        say("node_said", "publish", bundle.payload());
    }
    let mut broken = good.payload();
    broken["assets"][1]["summary"] = json!("Another summary than the one that was hashed.");
    assert_eq!(say("node_said", "validate", broken)["error"], "asset_id_mismatch");
    let missing = good.capsule_id();
    say("node_b", "fetch", json!({"asset_ids": [promoted, missing]}));
    say("node_b", "fetch", json!({"signals": ["Signal1Error"], "search_only": true}));
    say("node_b", "fetch", json!({"include_tasks": true, "questions": ["How long should it wait?", 7]}));
    look_at_own(on);
    stake(on);
    say("node_b", "fetch", json!({"validation_only": true}));
    say("node_b", "fetch", json!({"asset_ids": [good.capsule_id()], "trial": true}));
    say("node_b", "fetch", json!({"signals": ["Signal1Error"], "search_only": true, "trial": true}));
    let report = |ok: bool| json!({"target_asset_id": good.capsule_id(), "validation_report": {"overall_ok": ok, "commands": []}});
    say("node_b", "report", report(true));
    say("node_said", "report", report(false));
    let decide = |word: &str| json!({"target_asset_id": good.capsule_id(), "decision": word});
    say("node_b", "decision", decide("accept"));
    let by_admin = on.hub.message_as("node_b", admin, "decision", decide("quarantine"));
    on.holds("POST", "/a2a/decision", &by_admin);
    say("node_said", "revoke", json!({"target_asset_id": alike.capsule_id()}));
    let again = json!({"node_id": "node_said", "asset_id": alike.capsule_id()});
    on.post("", "/a2a/asset/self-revoke", "", &again);
    on.post(user, "/a2a/assets/{asset_id}/vote", promoted, &json!({"vote": "up"}));
    beat(on);
    on.post("", "/a2a/signal/analyze", "", &json!({"corpus_summary": "It hangs."}));
    on.post("", "/a2a/verify-solidify", "", &json!({"sender_id": "node_said", "gene_id": "gene_retry"}));
}

fn look_at_own(on: &Witness<'_>) {
    let published = on.get("", "/a2a/assets/published-by-me", "", "?node_id=node_said&limit=2");
    assert_eq!(published["has_more"], true);
    assert_ne!(on.get("", "/a2a/assets/purchased", "", "?node_id=node_b")["count"], 0);
}

fn stake(on: &Witness<'_>) {
    let node = json!({"sender_id": "node_b"});
    on.get("", "/a2a/validator/status", "", "?node_id=node_b");
    on.post("", "/a2a/validator/stake", "", &node);
    on.post("", "/a2a/validator/unstake", "", &node);
    assert_eq!(on.post("", "/a2a/validator/stake", "", &node)["is_validator"], true);
}

/// Heartbeats of a node that is not known, of one with nothing to say, and of one that is late.
fn beat(on: &Witness<'_>) {
    let heartbeat = |body: &Value| on.post("", "/a2a/heartbeat", "", body);
    assert_eq!(heartbeat(&json!({"node_id": "node_unheard"}))["status"], "unknown_node");
    heartbeat(&json!({"node_id": "node_own"}));
    let asked = json!({"sender_id": "node_b", "question": "Why does the upload hang?"});
    let task = text(&on.hub.post("/a2a/ask", &asked).expect(200)["task_id"]);
    on.hub.post("/task/claim", &json!({"task_id": task, "node_id": "node_said"})).expect(200);
    let soon = Time(on.hub.clock.now().0 + 3_600_000).iso();
    let updates = json!([{"task_id": task, "deadline": soon}, {"task_id": "task_none", "deadline": soon}]);
    let body =
        json!({"node_id": "node_said", "worker_enabled": true, "meta": {"commitment_updates": updates}});
    let results = &heartbeat(&body)["commitment_results"];
    assert_eq!((&results[0]["ok"], &results[1]["ok"]), (&json!(true), &json!(false)));
    on.hub.change(&format!("UPDATE tasks SET commitment_deadline = 1 WHERE task_id = '{task}'"));
    assert_ne!(heartbeat(&json!({"node_id": "node_said"}))["overdue_tasks"], json!([]));
}
