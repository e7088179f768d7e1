//! An attack on a running hub: junk with inflated values, and free nodes of many networks that report on it without having
//! had it, in words of their own and in those of others. The search is that of clients.

use crate::common::bundle::Bundle;
use crate::common::{Scratch, program};
use capsid_model::{Value, json};
use capsid_testkit::hub::{HubProcess, ask_with};
use capsid_testkit::program::assert_status;
use capsid_testkit::wait;
use std::time::Duration;

const TOKEN: &str = "runner_0123456789abcdef0123456789abcdef";
const SIGNAL: &str = "PoolTimeoutError";
/// How many honest assets there are, more than one page of a search.
const HONEST: u64 = 22;
const JUNK: u64 = 6;
/// How many free nodes attack, each from a network of its own.
const FREE_NODES: u64 = 12;
const PAGE: usize = 20;
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn junk_of_free_nodes_is_not_promoted_and_not_found_on_a_public_hub() {
    attack("public", Scratch::sqlite());
}

#[test]
fn junk_that_strangers_report_blindly_is_not_promoted_and_not_found_on_a_private_hub() {
    attack("private", Scratch::sqlite());
}

#[test]
fn junk_of_free_nodes_is_not_promoted_and_not_found_on_a_public_hub_with_postgresql() {
    attack("public", Scratch::postgres());
}

#[test]
fn junk_that_strangers_report_blindly_is_not_promoted_on_a_private_hub_with_postgresql() {
    attack("private", Scratch::postgres());
}

/// Somebody in a network of its own, as the proxy in front of the hub names it.
struct Stranger<'h> {
    hub: &'h HubProcess,
    node: String,
    address: String,
    secret: String,
    sent: u64,
}

impl<'h> Stranger<'h> {
    fn new(hub: &'h HubProcess, name: &str, n: u64) -> Self {
        let address = format!("198.{}.{n}.7", if name == "honest" { 18 } else { 19 });
        let mut met = Self { hub, node: format!("node_{name}_{n}"), address, secret: String::new(), sent: 0 };
        let (status, hello) = met.say("hello", &json!({}));
        assert_eq!(status, 200, "{hello}");
        met.secret = hello["node_secret"].as_str().unwrap().to_owned();
        met
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let bearer = if self.secret.is_empty() {
            String::new()
        } else {
            format!("authorization: Bearer {}\r\n", self.secret)
        };
        let headers = format!("x-forwarded-for: {}\r\n{bearer}", self.address);
        let body = body.map(Value::to_string);
        let (status, text) = ask_with(&self.hub.address, &headers, method, path, body.as_deref()).unwrap();
        (status, text.parse().unwrap())
    }

    fn say(&mut self, kind: &str, payload: &Value) -> (u16, Value) {
        self.sent += 1;
        let message = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
            "message_id": format!("msg_{}_{}", self.node, self.sent), "sender_id": self.node,
            "timestamp": "2026-01-01T00:00:00Z", "payload": payload,
        });
        self.call("POST", &format!("/a2a/{kind}"), Some(&message))
    }

    fn status_of(&self, asset: &str) -> String {
        let (status, shown) = self.call("GET", &format!("/a2a/assets/{asset}"), None);
        assert_eq!(status, 200, "{shown}");
        shown["status"].as_str().unwrap().to_owned()
    }
}

fn attack(profile: &str, scratch: Scratch) {
    let settings = format!(
        "[server]\nprofile = \"{profile}\"\ntrusted_proxies = [\"127.0.0.0/8\"]\n[promotion]\ninterval_seconds = 1\n\
         [validation]\nrunner = \"on\"\nrunner_token = \"{TOKEN}\"\n"
    );
    let (program, scratch) = (program(), scratch.with(&settings));
    let hub = HubProcess::start(&program, &scratch.place);
    let honest: Vec<Bundle> = (0..HONEST).map(honest_bundle).collect();
    let junk: Vec<Bundle> = (0..JUNK).map(junk_bundle).collect();
    for (n, bundle) in (0_u64..).zip(&honest) {
        let (status, told) = Stranger::new(&hub, "honest", n).say("publish", &bundle.payload());
        assert_eq!(status, 200, "{told}");
    }
    let mut free: Vec<Stranger<'_>> = (0..FREE_NODES).map(|n| Stranger::new(&hub, "free", n)).collect();
    for (node, bundle) in free.iter_mut().zip(&junk) {
        let (status, told) = node.say("publish", &bundle.payload());
        assert_eq!(status, 200, "{told}");
    }
    for node in &mut free {
        for bundle in &junk {
            for report in [blind_report(bundle), copied_report(bundle)] {
                let (status, told) = node.say("report", &report);
                assert!(status < 500, "{told}");
            }
        }
        let (status, told) = node.say("fetch", &json!({"signals": [SIGNAL]}));
        assert_eq!(status, 200, "{told}");
    }
    run_honest(&hub, &honest);
    let mut reader = Stranger::new(&hub, "honest", 200);
    wait::until("the honest assets are promoted", LIMIT, || {
        honest.iter().all(|bundle| reader.status_of(bundle.capsule_id()) == "promoted")
    });
    // The jobs that promoted them have looked at the junk as well, which came earlier than the runner's results.
    for bundle in &junk {
        assert_ne!(reader.status_of(bundle.capsule_id()), "promoted", "junk is promoted on a {profile} hub");
    }
    look_for_junk(&mut reader, &honest, &junk);
    assert_eq!(hub.stop(), Some(0));
    assert_status(0, &scratch.place.run(&program, &["fsck"]));
}

/// No search of a client shows junk, and each first page is full.
fn look_for_junk(reader: &mut Stranger<'_>, honest: &[Bundle], junk: &[Bundle]) {
    let wanted = json!({"signals": [SIGNAL], "asset_type": "Capsule", "search_only": true, "limit": PAGE});
    let (status, by_signal) = reader.say("fetch", &wanted);
    assert_eq!(status, 200, "{by_signal}");
    let mut pages = vec![by_signal];
    for path in [
        format!("/a2a/assets/semantic-search?q={SIGNAL}&limit={PAGE}"),
        format!("/a2a/assets/ranked?asset_type=Capsule&limit={PAGE}"),
    ] {
        let (status, page) = reader.call("GET", &path, None);
        assert_eq!(status, 200, "{page}");
        pages.push(page);
    }
    for page in pages {
        let text = page.to_string();
        let shown = honest.iter().filter(|bundle| text.contains(bundle.capsule_id())).count();
        assert!(shown >= PAGE, "{shown} honest assets in {text}");
        for bundle in junk {
            for id in [bundle.gene_id(), bundle.capsule_id(), bundle.event_id()] {
                assert!(!text.contains(id), "junk {id} in {text}");
            }
        }
    }
}

fn honest_bundle(n: u64) -> Bundle {
    Bundle::new(n).with(|bundle| {
        bundle.gene["signals_match"] = json!([SIGNAL]);
        bundle.capsule["trigger"] = json!([SIGNAL]);
    })
}

/// It declares as much as it can, with a test that looks real or one that cannot fail.
fn junk_bundle(n: u64) -> Bundle {
    Bundle::new(1000 + n).with(|bundle| {
        bundle.gene["signals_match"] = json!([SIGNAL, "timeout", "retry", "pool", "socket"]);
        bundle.capsule["trigger"] = bundle.gene["signals_match"].clone();
        bundle.capsule["confidence"] = json!(1.0);
        bundle.capsule["success_streak"] = json!(99);
        bundle.capsule["blast_radius"] = json!({"files": 1, "lines": 1});
        if n % 2 == 1 {
            bundle.gene["validation"] = json!(["node --version"]);
        }
    })
}

fn blind_report(bundle: &Bundle) -> Value {
    json!({"target_asset_id": bundle.capsule_id(), "validation_report": {"overall_ok": true}})
}

/// A report as an honest validator sends it, about another asset.
fn copied_report(bundle: &Bundle) -> Value {
    let command = &bundle.gene["validation"][0];
    json!({"target_asset_id": bundle.capsule_id(), "validation_report": {
        "overall_ok": true, "read_proof": "7f".repeat(32), "ran_on": "scratch", "isolation": "overlay",
        "env": {"platform": "linux", "arch": "x64", "runtime": "node v20.20.0"},
        "commands": [{"cmd": command, "ok": true, "exit_code": 0, "duration_ms": 41}],
        "control": {"bare": false, "base": false}, "reproduction_score": 1.0,
    }})
}

/// Does what a runner does, for the honest assets alone: about the junk it says nothing, so that nothing else keeps that out.
fn run_honest(hub: &HubProcess, honest: &[Bundle]) {
    let runner = |path: &str, body: Value| -> Value {
        let headers = format!("authorization: Bearer {TOKEN}\r\n");
        let (status, text) = ask_with(&hub.address, &headers, "POST", path, Some(&body.to_string())).unwrap();
        assert_eq!(status, 200, "{text}");
        text.parse().unwrap()
    };
    let mut reproduced = 0;
    loop {
        let next = runner("/runner/next", json!({}));
        let Some(asset) = next["job"]["asset_id"].as_str() else { break };
        let is_honest = honest.iter().any(|bundle| bundle.capsule_id() == asset);
        reproduced += u64::from(is_honest);
        let outcome = if is_honest { "reproduced" } else { "inconclusive" };
        let job = &next["job"]["job_id"];
        runner("/runner/report", json!({"job_id": job, "outcome": outcome, "seconds": 0.5}));
    }
    assert_eq!(reproduced, HONEST);
}
