//! A client that never shows a secret, for as long as it takes until a hub that forgets or binds its node would refuse it.
//!
//! evolver 1.20.4 is such a client, and no registry has it any more. So this sends what it sends: a hello, a heartbeat
//! after 5 seconds and then every 2 minutes, and in each of its cycles a fetch with tasks, a search and now and then a bundle.

use super::hub::{self, Hub};
use super::{http, loopback};
use crate::common::program;
use capsid_model::asset::stamp;
use capsid_model::{Object, Value, json};
use std::time::{Duration, Instant};

const NAME: &str = "keyless::a_client_without_a_secret_is_served_for_two_hours";
const NODE: &str = "node_01d0c11e0701";
/// How many minutes it runs, where that is not two hours.
const MINUTES: &str = "CAPSID_KEYLESS_MINUTES";
const PAUSE: Duration = Duration::from_secs(120);

#[test]
#[ignore = "`make soak PART=keyless` runs it, for two hours"]
fn a_client_without_a_secret_is_served_for_two_hours() {
    match loopback::inside() {
        Some(minutes) => story(Duration::from_secs(60 * minutes.parse::<u64>().unwrap())),
        None => loopback::run_inside(NAME, &std::env::var(MINUTES).unwrap_or_else(|_| "120".to_owned())),
    }
}

fn story(length: Duration) {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    let end = Instant::now() + length;
    let fingerprint = json!({"platform": "linux", "arch": "x64", "evolver_version": "1.20.4", "client": "evolver",
        "client_version": "1.20.4"});
    say(
        "hello",
        json!({"capabilities": {}, "gene_count": 3, "capsule_count": 0, "env_fingerprint": fingerprint}),
    );
    std::thread::sleep(Duration::from_secs(5));
    for round in 0.. {
        let beat = hub.post("/a2a/heartbeat", None, &json!({"node_id": NODE, "sender_id": NODE}));
        assert_eq!(beat["status"], "ok", "round {round}: {beat}");
        assert!(say("fetch", json!({"asset_type": null, "include_tasks": true}))["tasks"].is_array());
        assert!(hub.get("/a2a/assets/search?signals=timeout&status=promoted&limit=5")["assets"].is_array());
        if round % 10 == 0 {
            assert_eq!(say("publish", json!({"assets": bundle(round)}))["decision"], "accept");
        }
        let Some(left) = end.checked_duration_since(Instant::now()) else { break };
        std::thread::sleep(left.min(PAUSE));
    }
    assert!(!hub.has_answered(401) && !hub.has_answered(403));
    hub.stop();
}

fn say(kind: &str, payload: Value) -> Value {
    let now = capsid_model::time::Clock::now(&capsid_model::time::SystemClock).iso();
    let message = json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
        "message_id": format!("msg_{now}_{kind}"), "sender_id": NODE, "timestamp": now, "payload": payload});
    let answer = http::post(hub::ADDRESS, &format!("/a2a/{kind}"), None, &message.to_string());
    serde_json::from_str(&answer).unwrap()
}

fn bundle(round: u64) -> [Object; 2] {
    let stamped = |asset: Value| {
        let mut asset = asset.as_object().cloned().unwrap();
        stamp(&mut asset);
        asset
    };
    let gene = stamped(json!({"type": "Gene", "schema_version": "1.5.0", "category": "repair",
        "signals_match": ["timeout"], "summary": format!("Retry a request that timed out, in the way number {round}"),
        "validation": ["node tests/retry.test.js"]}));
    let capsule = stamped(json!({"type": "Capsule", "schema_version": "1.5.0", "trigger": ["timeout"],
        "gene": gene["asset_id"], "summary": format!("Asked again after a pause, which worked {round} times so far"),
        "confidence": 0.85, "blast_radius": {"files": 1, "lines": 10}, "success_streak": 3,
        "outcome": {"status": "success", "score": 0.85}, "env_fingerprint": {"platform": "linux", "arch": "x64"}}));
    [gene, capsule]
}
