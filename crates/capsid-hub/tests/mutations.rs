//! Thousands of spoilt requests: never a 5xx or a panic, always JSON that explains a refusal, and a refused request
//! leaves nothing behind. `CAPSID_SEED=n` repeats a run, `CAPSID_SOAK=1` makes it longer.

mod common;

use capsid_hub::config::Limits;
use capsid_rules::limits::Limit;
use common::chance::{chance, rounds};
use common::mutate::mutate;
use common::{Answered, Bundle, On, TestHub};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often the whole database is compared before and after a request.
const COMPARED: usize = 16;

/// A request that the hub takes when it is not spoilt.
struct Sample {
    method: &'static str,
    path: String,
    bearer: Option<String>,
    body: Value,
}

#[test]
fn a_spoilt_request_is_refused_with_a_reason_on_sqlite() {
    spoil_many(On::Sqlite);
}

#[test]
fn a_spoilt_request_is_refused_with_a_reason_on_postgresql() {
    spoil_many(On::Postgres);
}

#[test]
fn every_sample_is_taken_as_it_is_and_every_route_has_one() {
    let hub = start(On::Sqlite);
    let samples = samples(&hub);
    for sample in &samples {
        let answer = sample.send(&hub, sample.body.to_string().into_bytes());
        assert!(answer.status < 400, "{answer}\n{}", sample.body);
    }
    for (path, methods) in hub.description["paths"].as_object().unwrap() {
        // There is no task yet that could be claimed.
        if path.contains("/task/") {
            continue;
        }
        for method in
            methods.as_object().unwrap().keys().filter(|method| ["post", "put"].contains(&&***method))
        {
            let found = samples.iter().any(|s| s.method.eq_ignore_ascii_case(method) && fits(path, &s.path));
            assert!(found, "no sample for {method} {path}");
        }
    }
}

/// Whether a path is one of a route such as `/a2a/assets/{id}/vote`.
fn fits(route: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap();
    let (route, path): (Vec<_>, Vec<_>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len() && route.iter().zip(&path).all(|(r, p)| r.starts_with('{') || r == p)
}

fn start(on: On) -> TestHub {
    let endless = Limit { count: 1_000_000_000, window_ms: 60_000 };
    let hub = TestHub::start(on, |config| {
        config.limits = Limits {
            hello: endless,
            publish: endless,
            heartbeat: endless,
            messages: endless,
            vote: endless,
            read: endless,
            other: endless,
            wrong_credentials: endless,
        };
    });
    // So that a poll whose time was spoilt does not wait.
    hub.hub.events.close();
    hub
}

fn spoil_many(on: On) {
    let (hub, mut rng) = (start(on), chance());
    let samples = samples(&hub);
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for n in 0..rounds(1_000, 10_000) {
        let sample = &samples[rng.usize(0..samples.len())];
        let (body, done) = mutate(&sample.fresh(n), &mut rng);
        let before = (n % COMPARED == 0).then(|| kept(&hub));
        let answer = sample.send(&hub, body.clone());
        let told = || format!("{done}\n{answer}\n{}", String::from_utf8_lossy(&body[..body.len().min(4000)]));
        assert!(answer.status < 500, "{}", told());
        assert_eq!(answer.headers["content-type"], "application/json", "{}", told());
        if answer.status >= 400 {
            answer.explains();
            assert!(before.is_none_or(|before| before == kept(&hub)), "it left something behind: {}", told());
        }
        *statuses.entry(answer.status).or_default() += 1;
    }
    println!("{on:?}: {statuses:?}");
    // Some stay good, and some fail deeper than in the envelope; otherwise nothing was tried.
    for status in [200, 400, 413] {
        assert!(statuses.contains_key(&status), "no {status}");
    }
}

/// The database without the count of wrong passwords, which a refusal has to leave behind.
fn kept(hub: &TestHub) -> String {
    let dump = hub.dump();
    let (before, after) = dump.split_once("login_failures:").unwrap();
    before.to_owned() + after.split_once("nodes:").unwrap().1
}

impl Sample {
    fn send(&self, hub: &TestHub, body: Vec<u8>) -> Answered {
        hub.call(self.method, &self.path, self.bearer.as_deref(), Some(body))
    }

    /// The body with a message id of its own, so that it is not answered from memory.
    fn fresh(&self, n: usize) -> Value {
        let mut body = self.body.clone();
        if let Some(id) = body.get_mut("message_id") {
            *id = json!(format!("msg_{n}_fresh"));
        }
        body
    }
}

/// One sample for each route that takes a body.
fn samples(hub: &TestHub) -> Vec<Sample> {
    let bundle = Bundle::new(1);
    hub.publish("node_a", &bundle).expect(200);
    let message = |sender: &str, kind: &str, payload: Value| Sample {
        method: "POST",
        path: format!("/a2a/{kind}"),
        bearer: None,
        body: hub.envelope(sender, kind, payload),
    };
    let hello = json!({
        "capabilities": {"a": 1}, "gene_count": 0, "capsule_count": null, "name": "Reef", "model": "m-1",
        "env_fingerprint": {"platform": "linux", "arch": "x64", "device_id": "d1"},
    });
    let report = json!({
        "target_asset_id": bundle.capsule_id(),
        "validation_report": {"report_id": "report_001", "overall_ok": true, "env_fingerprint_key": "linux_x64"},
    });
    let decision =
        json!({"target_asset_id": bundle.capsule_id(), "decision": "accept", "reason": "It works."});
    let fetch = json!({
        "asset_type": "Capsule", "local_id": null, "content_hash": null, "signals": ["Signal1Error"],
        "include_tasks": true, "search_only": true, "limit": 5,
    });
    let revoked = Bundle::new(2);
    hub.publish("node_b", &revoked).expect(200);
    let mut samples = calls(hub);
    samples.extend([
        message("node_a", "hello", hello),
        message("node_a", "publish", Bundle::new(3).payload()),
        message("node_a", "validate", Bundle::new(4).payload()),
        message("node_a", "fetch", fetch),
        message("node_c", "report", report),
        message("node_c", "decision", decision),
        message(
            "node_b",
            "revoke",
            json!({"target_asset_id": revoked.capsule_id(), "reason": "Superseded."}),
        ),
    ]);
    samples
}

/// One sample for each call without an envelope.
fn calls(hub: &TestHub) -> Vec<Sample> {
    hub.register("node_a");
    let skill = json!({"sender_id": "node_a", "skill_id": "skill_old", "content": "# Old", "tags": ["timeout"],
        "category": "repair", "changelog": "More", "bundled_files": [{"name": "a.js", "content": "1"}]});
    hub.post("/a2a/skill/store/publish", &skill).expect(201);
    let mut new_skill = skill.clone();
    new_skill["skill_id"] = json!("skill_new");
    let call = |method, path: &str, body| Sample { method, path: path.to_owned(), bearer: None, body };
    let post = |path, body| call("POST", path, body);
    let dm = json!({"recipient_node_id": "node_a", "content": "Hi", "metadata": {}});
    let trace = json!({"id": "m2", "type": "proxy_trace", "payload": {}});
    vec![
        post("/a2a/heartbeat", json!({"sender_id": "node_a", "node_id": "node_a", "meta": {"x": [1]}})),
        post("/a2a/events/poll", json!({"node_id": "node_a", "timeout_ms": 0, "after": 0})),
        post(
            "/a2a/verify-solidify",
            json!({"sender_id": "node_a", "gene_id": "gene_x", "signals_hash": "0123456789abcdef", "ts": 1}),
        ),
        post("/a2a/validator/stake", json!({"sender_id": "node_a", "payload": {"stake_amount": 100}})),
        post("/a2a/validator/unstake", json!({"sender_id": "node_a"})),
        post(
            "/a2a/memory/record",
            json!({"sender_id": "node_a", "signals": ["log_error"], "gene_id": "g", "status": "success",
                "score": 0.5, "summary": "It worked.", "used_asset_ids": []}),
        ),
        post(
            "/a2a/memory/event",
            json!({"sender_id": "node_a", "event": {"kind": "outcome", "signal": {"signals": ["log_error"]},
                "outcome": {"status": "success", "score": 1, "note": "x"}, "gene": {"id": "g"}}}),
        ),
        post(
            "/a2a/memory/recall",
            json!({"node_id": "node_a", "query": "log", "signals": ["log"], "limit": 5}),
        ),
        post(
            "/a2a/service/publish",
            json!({"sender_id": "node_a", "title": "T", "description": "D", "capabilities": ["c"],
                "use_cases": ["u"], "price_per_task": 1, "execution_mode": "exclusive", "max_concurrent": 3}),
        ),
        post(
            "/a2a/mailbox/outbound",
            json!({"sender_id": "node_a", "proxy_protocol_version": "0.1.0",
                "messages": [{"id": "m1", "type": "dm", "payload": dm, "priority": "normal"}, trace]}),
        ),
        post("/a2a/mailbox/inbound", json!({"sender_id": "node_a", "cursor": null, "limit": 50})),
        post("/a2a/mailbox/ack", json!({"sender_id": "node_a", "message_ids": ["x"]})),
        post("/a2a/skill/store/publish", new_skill),
        call("PUT", "/a2a/skill/store/update", skill),
        post("/a2a/skill/store/skill_old/download", json!({"sender_id": "node_a"})),
        post("/a2a/skill/store/delete", json!({"sender_id": "node_a", "skill_id": "skill_old"})),
        post(
            "/a2a/signal/analyze",
            json!({"corpus_summary": "x", "signal_types": ["a"], "sender_id": "node_a"}),
        ),
    ]
}
