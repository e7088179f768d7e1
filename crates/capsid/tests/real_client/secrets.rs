//! The real client keeps a valid secret whatever others try with its name, and waits where it cannot pay a stake.

use super::evolver::{Evolver, wait_for};
use super::hub::{self, Hub};
use super::loopback;
use super::relay::Relay;
use crate::common::program;
use capsid_testkit::wait;
use serde_json::json;
use std::time::Duration;

/// What differs on a hub that strangers use.
const PUBLIC: &str = "[server]\nprofile = \"public\"\ntrusted_proxies = [\"10.0.0.0/8\"]\n";

fn with_hub(settings: &str, story: impl FnOnce(&Hub<'_>)) {
    let (program, folder) = (program(), tempfile::tempdir().unwrap());
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("hub.toml"), settings).unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    story(&hub);
    hub.stop();
}

fn is_bound(hub: &Hub<'_>, node: &Evolver) {
    let identity = format!("/a2a/identity/{}", node.node_id());
    wait_for("the node to show its secret", || hub.get(&identity)["bound"].as_bool().filter(|bound| *bound));
}

#[test]
fn the_real_client_keeps_its_secret_while_another_machine_uses_its_name() {
    let name = "secrets::the_real_client_keeps_its_secret_while_another_machine_uses_its_name";
    if loopback::inside().is_none() {
        return loopback::run_inside(name, "");
    }
    for (settings, is_claimed) in [("", false), (PUBLIC, true)] {
        with_hub(settings, |hub| {
            let node = Evolver::new("owner", hub::ADDRESS);
            node.register();
            let ids = node.publish();
            is_bound(hub, &node);
            if is_claimed {
                claim(hub, &node);
            }
            let secret = node.secret();
            // A copy of its machine without the secret.
            let copy = Evolver::new("owner", hub::ADDRESS);
            copy.write(".evomap/node_id", &node.node_id());
            let serving = copy.serve();
            wait_for("the hub to refuse the copy", || hub.refusals().into_iter().next());
            // Its proxy asks for another secret when the one it does not have is refused.
            wait_for("the hub to refuse a rotation", || {
                ["409", "403", "401"].iter().find(|status| {
                    let refused = hub.refusals();
                    refused.iter().any(|line| line.contains("/a2a/hello") && line.contains(*status))
                })
            });
            drop(serving);
            assert!(!copy.has_secret(), "a copy of the machine got a secret");
            assert_eq!(node.publish(), ids, "the secret is still the one that the hub knows");
            assert_eq!(node.secret(), secret);
        });
    }
}

fn claim(hub: &Hub<'_>, node: &Evolver) {
    let login = json!({"email": "ann@example.org", "password": "correct horse battery"});
    let token = hub.post("/auth/register", None, &login)["token"].as_str().unwrap().to_owned();
    let beat = hub.post("/a2a/heartbeat", Some(&node.secret()), &json!({"node_id": node.node_id()}));
    let code = beat["claim_state"]["claim_code"].as_str().unwrap_or_else(|| panic!("{beat}"));
    assert_eq!(hub.post(&format!("/claim/{code}"), Some(&token), &json!({}))["status"], "claimed");
}

#[test]
fn the_real_client_waits_where_it_has_no_earned_credits_to_stake() {
    if loopback::inside().is_none() {
        return loopback::run_inside(
            "secrets::the_real_client_waits_where_it_has_no_earned_credits_to_stake",
            "",
        );
    }
    with_hub(PUBLIC, |hub| {
        let node = Evolver::new("poor", hub::ADDRESS);
        let serving = node.serve();
        wait_for("the event stream", || serving.log().contains("[SSE] Event stream connected").then_some(()));
        wait_for("the refused stake", || hub.answered("POST", "/a2a/validator/stake", 402).then_some(()));
        is_bound(hub, &node);
        let secret = node.secret();
        drop(serving);
        assert_eq!(node.publish().len(), 3, "it works on without a stake");
        assert_eq!(node.secret(), secret);
        assert_eq!(hub.refusals(), Vec::<String>::new());
    });
}

#[test]
#[ignore = "`make soak PART=client` runs it: it waits for minutes"]
fn the_real_client_gets_its_secret_after_a_first_answer_that_took_twenty_seconds() {
    let name = "secrets::the_real_client_gets_its_secret_after_a_first_answer_that_took_twenty_seconds";
    if loopback::inside().is_none() {
        return loopback::run_inside(name, "");
    }
    for settings in ["", PUBLIC] {
        with_hub(settings, |hub| {
            // It gives up on them, and comes again when the issue window is over.
            let relay = Relay::slow_at_first(hub::ADDRESS, Duration::from_secs(20), 2);
            let node = Evolver::new("slow", &relay.address);
            let serving = node.serve();
            wait::until("the secret", Duration::from_secs(240), || node.has_secret());
            is_bound(hub, &node);
            drop(serving);
            assert_eq!(node.publish().len(), 3, "the secret that it keeps is the one that the hub knows");
            assert_eq!(hub.refusals(), Vec::<String>::new());
        });
    }
}
