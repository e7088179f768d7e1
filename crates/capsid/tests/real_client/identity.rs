//! The real client proves who it is: its first answer is slow, it says hello more than once, and its user claims it with
//! the code that it printed, after it has shown its secret.

use super::evolver::{Evolver, wait_for};
use super::hub::{self, Hub};
use super::loopback;
use super::relay::Relay;
use crate::common::program;
use serde_json::json;
use std::time::Duration;

/// What differs on a hub that strangers use.
const PUBLIC: &str = "[identity]\npin_keyless = \"network\"\ncount_keyless_reports = false\n\
                      recovery_quiet_hours = 0\nclaim_grace_hours = 72\n";

#[test]
fn the_real_client_is_not_refused_while_its_first_answer_is_slow() {
    match loopback::inside() {
        Some(_) => story(""),
        None => loopback::run_inside(
            "identity::the_real_client_is_not_refused_while_its_first_answer_is_slow",
            "",
        ),
    }
}

#[test]
fn the_real_client_is_not_refused_by_a_public_hub() {
    match loopback::inside() {
        Some(_) => story(PUBLIC),
        None => loopback::run_inside("identity::the_real_client_is_not_refused_by_a_public_hub", ""),
    }
}

fn story(settings: &str) {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("hub.toml"), settings).unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    let relay = Relay::slow(hub::ADDRESS, Duration::from_millis(1500));
    let node = Evolver::new("slow", &relay.address);
    let serving = node.serve();
    let code = wait_for("the claim code", || printed_code(&serving.log()));
    wait_for("the event stream", || serving.log().contains("[SSE] Event stream connected").then_some(()));
    let identity = format!("/a2a/identity/{}", node.node_id());
    wait_for("the node to show its secret", || hub.get(&identity)["bound"].as_bool().filter(|bound| *bound));
    assert!(relay.heard().matches("POST /a2a/hello ").count() > 1, "it says hello twice");

    let login = json!({"email": "ann@example.org", "password": "correct horse battery"});
    let token = hub.post("/auth/register", None, &login)["token"].as_str().unwrap().to_owned();
    let claimed = hub.post(&format!("/claim/{code}"), Some(&token), &json!({}));
    assert_eq!((&claimed["status"], &claimed["node_id"]), (&json!("claimed"), &json!(node.node_id())));
    drop(serving);
    // The secret that it keeps is the one that the hub knows.
    let ids = node.publish();
    assert_eq!(ids.len(), 3);
    assert_eq!(hub.refusals(), Vec::<String>::new());
    hub.stop();
}

/// The code that the client printed for its user.
fn printed_code(log: &str) -> Option<String> {
    let (_, after) = log.split_once("Claim code: ")?;
    after.lines().next().map(|code| code.trim().to_owned())
}
