//! Which asset the real client reuses. It ignores the hub's score and computes its own from confidence, streak and
//! reputation of each row; so a hub for strangers sends these only as far as others bear them out.

use super::evolver::Evolver;
use super::hub::{self, Hub};
use super::tasks::{NOTES, Offer, has_experience};
use super::{http, loopback};
use crate::common::program;
use capsid_model::asset::stamp;
use capsid_model::{Object, Value, json};

const NAME: &str = "reuse_choice::the_real_client_reuses_what_was_reproduced_and_not_what_declares_the_most";
const TOKEN: &str = "runner_0123456789abcdef0123456789abcdef";

#[test]
fn the_real_client_reuses_what_was_reproduced_and_not_what_declares_the_most() {
    match loopback::inside() {
        Some(_) => {
            // By what publishers declare, the inflated one is far ahead: 2.5 to 1.3.
            let (reused, [_, inflated]) = reuse_with("declared");
            assert_eq!(reused, inflated, "the client no longer goes by the values of a row");
            // By what others bear out, 0.9 to 0.1 or less.
            let (reused, [honest, _]) = reuse_with("adjusted");
            assert_eq!(reused, honest);
        }
        None => loopback::run_inside(NAME, ""),
    }
}

/// Lets the client choose between example 3 and example 8 of the table of scores, on a hub that sends rows in this way. Gives
/// what it chose, and both of them.
fn reuse_with(row_values: &str) -> (String, [String; 2]) {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let settings = format!(
        "[ranking]\nrow_values = \"{row_values}\"\n[validation]\nrunner = \"on\"\nrunner_token = \"{TOKEN}\"\n"
    );
    std::fs::write(data.join("hub.toml"), settings).unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    let honest =
        publish("node_0a0b0c0d0e0f0001", "node tests/retry.test.js", 0.85, 3, "Orders are asked for again");
    let inflated = publish(
        "node_0a0b0c0d0e0f0002",
        "npm test --if-present",
        1.0,
        50,
        "Every failing request is mended at once",
    );
    reproduce(&hub, &honest);
    for asset in [&honest, &inflated] {
        hub.promote(asset);
    }
    let client = Evolver::new("chooser", hub::ADDRESS);
    client.register();
    has_experience(&client);
    Offer::post(&hub);
    let ran = client.run_well(&["run"]);
    let notes: Value = serde_json::from_str(&client.file(NOTES)).unwrap();
    let last = &notes["last_run"];
    let reused = last["reused_asset_id"].as_str().unwrap_or_else(|| panic!("{last:#}\n{ran}")).to_owned();
    hub.stop();
    (reused, [honest, inflated])
}

/// Publishes a bundle for the signal of the task; gives its capsule.
fn publish(node: &str, command: &str, confidence: f64, streak: u64, summary: &str) -> String {
    let stamped = |asset: Value| -> Object {
        let mut asset = asset.as_object().cloned().unwrap();
        stamp(&mut asset);
        asset
    };
    let gene = stamped(json!({"type": "Gene", "schema_version": "1.5.0", "category": "repair",
        "signals_match": ["timeout_error"], "summary": format!("{summary}, as its gene says"), "validation": [command]}));
    let capsule = stamped(json!({"type": "Capsule", "schema_version": "1.5.0", "trigger": ["timeout_error"],
        "gene": gene["asset_id"], "summary": summary, "confidence": confidence, "success_streak": streak,
        "blast_radius": {"files": 1, "lines": 10}, "outcome": {"status": "success", "score": 0.85},
        "content": format!("{summary}: look at where the request is made, and change what it does when that fails."),
        "env_fingerprint": {"platform": "linux", "arch": "x64"}}));
    let message = json!({"protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "publish",
        "message_id": format!("msg_{node}"), "sender_id": node, "timestamp": "2026-01-01T00:00:00Z",
        "payload": {"assets": [gene, capsule]}});
    let answer = http::post(hub::ADDRESS, "/a2a/publish", None, &message.to_string());
    assert!(answer.contains("\"accept\""), "{answer}");
    capsule["asset_id"].as_str().unwrap().to_owned()
}

/// Does what a runner does that reproduces one of them.
fn reproduce(hub: &Hub<'_>, honest: &str) {
    for _ in 0..2 {
        let next = hub.post("/runner/next", Some(TOKEN), &json!({}));
        let is_honest = next["job"]["asset_id"] == honest;
        let outcome = if is_honest { "reproduced" } else { "vacuous_empty" };
        let report = json!({"job_id": next["job"]["job_id"], "outcome": outcome, "seconds": 0.5});
        assert_eq!(hub.post("/runner/report", Some(TOKEN), &report)["status"], "kept");
    }
}
