//! One request for each route that takes a body, as the hub takes it when nobody has spoilt it.

use super::{Bundle, TestHub, TestResponse};
use capsid_rules::credits::CreditSource;
use capsid_store::accounts;
use capsid_store::evaluation::moderation::{self, CaseKind};
use capsid_store::ledger::{self, Transfer};
use capsid_store::params;
use serde_json::{Value, json};

/// A request that the hub takes when it is not spoilt.
#[derive(Debug, Clone)]
pub struct Sample {
    pub method: &'static str,
    pub path: String,
    pub bearer: Option<String>,
    pub body: Value,
}

impl Sample {
    fn post(path: &str, body: Value) -> Self {
        Self { method: "POST", path: path.to_owned(), bearer: None, body }
    }

    fn by(mut self, bearer: &str) -> Self {
        self.bearer = Some(bearer.to_owned());
        self
    }

    pub fn send(&self, hub: &TestHub, body: Vec<u8>) -> TestResponse {
        hub.call(self.method, &self.path, self.bearer.as_deref(), Some(body))
    }

    /// The body with a message id of its own, so that it is not answered from memory.
    pub fn fresh(&self, n: usize) -> Value {
        let mut body = self.body.clone();
        if let Some(id) = body.get_mut("message_id") {
            *id = json!(format!("msg_{n}_fresh"));
        }
        body
    }
}

/// Whether a path is one of a route such as `/a2a/assets/{id}/vote`.
pub fn fits(route: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap();
    let (route, path): (Vec<_>, Vec<_>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len() && route.iter().zip(&path).all(|(r, p)| r.starts_with('{') || r == p)
}

/// Routes without a sample here: they end what the others need, refuse whatever comes, or wait.
pub const OTHERS: &[&str] = &[
    "/admin/starter-pack",
    "/auth/logout",
    "/auth/register",
    "/auth/welcome",
    "/account/password",
    "/a2a/events/poll",
    "/a2a/claim/refuse",
];

/// One sample for each route that takes a body.
pub fn samples(hub: &TestHub) -> Vec<Sample> {
    let mut samples = messages(hub);
    samples.extend(calls(hub));
    samples.extend(work(hub));
    samples.extend(account_calls(hub));
    samples.extend(admin(hub));
    samples.extend(asking(hub));
    samples
}

fn messages(hub: &TestHub) -> Vec<Sample> {
    let (bundle, revoked, also_revoked) = (Bundle::new(1), Bundle::new(2), Bundle::new(3));
    for bundle in [&bundle, &revoked, &also_revoked] {
        hub.publish("node_a", bundle).expect(200);
    }
    let hello = json!({
        "capabilities": {"a": 1}, "gene_count": 0, "capsule_count": null, "name": "Reef", "model": "m-1",
        "env_fingerprint": {"platform": "linux", "arch": "x64", "device_id": "d1"},
        "webhook_url": "https://your-agent.example.com/webhook",
    });
    let fetch = json!({
        "asset_type": "Capsule", "local_id": null, "content_hash": null, "signals": ["Signal1Error"],
        "include_tasks": true, "search_only": true, "limit": 5,
    });
    let report = json!({
        "target_asset_id": bundle.capsule_id(),
        "validation_report": {"report_id": "report_001", "overall_ok": true, "env_fingerprint_key": "linux_x64"},
    });
    let decision =
        json!({"target_asset_id": bundle.capsule_id(), "decision": "accept", "reason": "It works."});
    let revoke = json!({"target_asset_id": revoked.capsule_id(), "reason": "Superseded."});
    let withdrawal =
        json!({"node_id": "node_a", "asset_id": also_revoked.gene_id(), "reason": "Superseded."});
    let message = |sender: &str, kind: &str, payload: Value| {
        Sample::post(&format!("/a2a/{kind}"), hub.envelope(sender, kind, payload))
    };
    vec![
        message("node_a", "hello", hello),
        message("node_a", "publish", Bundle::new(4).payload()),
        message("node_a", "validate", Bundle::new(5).payload()),
        message("node_a", "fetch", fetch),
        message("node_c", "report", report),
        message("node_c", "decision", decision),
        message("node_a", "revoke", revoke),
        Sample::post("/a2a/asset/self-revoke", withdrawal),
    ]
}

/// Calls of nodes without an envelope.
fn calls(hub: &TestHub) -> Vec<Sample> {
    hub.register("node_a");
    let secret = hub.register("node_hooked");
    let delivery = dead_delivery(hub, "node_hooked", &secret);
    let skill = json!({
        "sender_id": "node_a", "skill_id": "retry", "content": "# Retry\nWait, then try again.",
        "category": "repair", "tags": ["net"], "changelog": "First.",
        "bundled_files": [{"name": "a.md", "content": "A"}],
    });
    let mut kept = skill.clone();
    kept["skill_id"] = json!("kept");
    hub.post("/a2a/skill/store/publish", &kept).expect(201);
    let mut update = kept.clone();
    update["content"] = json!("# Retry\nTry again.");
    let mut gone = kept.clone();
    gone["skill_id"] = json!("gone");
    hub.post("/a2a/skill/store/publish", &gone).expect(201);
    let outbound = json!({"sender_id": "node_a", "proxy_protocol_version": "0.1.0", "messages": [
        {"id": "m1", "type": "proxy_trace", "payload": {"a": 1}, "priority": "normal", "ref_id": null},
        {"id": "m2", "type": "asset_submit", "payload": Bundle::new(6).payload(), "priority": "high"},
        {"id": "m3", "type": "dm", "payload": {"recipient_id": "node_b", "content": "hello"}},
    ]});
    vec![
        Sample::post(
            "/a2a/heartbeat",
            json!({"node_id": "node_a", "version": "1", "meta": {"worker_enabled": true}}),
        ),
        Sample::post(
            "/a2a/verify-solidify",
            json!({"sender_id": "node_a", "gene_id": "gene_1", "signals_hash": "0123456789abcdef",
                "mutation_hash": "0123456789abcdef", "ts": 1_767_225_600_000_i64, "client_signature": "0".repeat(64)}),
        ),
        Sample::post(
            "/a2a/validator/stake",
            json!({"sender_id": "node_a", "payload": {"stake_amount": 100}}),
        ),
        Sample::post("/a2a/validator/unstake", json!({"sender_id": "node_a"})),
        Sample::post(
            "/a2a/memory/record",
            json!({"node_id": "node_a", "signals": ["TimeoutError"], "gene_id": "gene_1", "status": "success",
                "score": 0.9, "summary": "Waited, then tried again.", "used_asset_ids": []}),
        ),
        Sample::post(
            "/a2a/memory/event",
            json!({"sender_id": "node_a", "event": {"kind": "outcome", "id": "e1", "signal": {"signals": ["x"]}}}),
        ),
        Sample::post(
            "/a2a/memory/recall",
            json!({"node_id": "node_a", "query": "timeout", "signals": null, "limit": 5}),
        ),
        Sample::post(
            "/a2a/service/publish",
            json!({"sender_id": "node_a", "title": "Repairs", "description": "Repairs builds.",
                "capabilities": ["repair"], "use_cases": ["ci"], "price_per_task": 5, "execution_mode": "exclusive",
                "max_concurrent": 1}),
        ),
        Sample::post("/a2a/mailbox/outbound?sender_id=node_a", outbound),
        Sample::post(
            "/a2a/mailbox/inbound",
            json!({"sender_id": "node_a", "proxy_protocol_version": "0.1.0", "cursor": null, "limit": 10}),
        ),
        Sample::post("/a2a/mailbox/ack", json!({"sender_id": "node_a", "message_ids": ["m1"]})),
        Sample::post("/a2a/skill/store/publish", skill),
        Sample { method: "PUT", ..Sample::post("/a2a/skill/store/update", update) },
        Sample::post("/a2a/skill/store/delete", json!({"sender_id": "node_a", "skill_id": "gone"})),
        Sample::post("/a2a/skill/store/kept/download", json!({"sender_id": "node_b"})),
        Sample::post("/a2a/webhook/test", json!({"node_id": "node_hooked"})).by(&secret),
        Sample::post("/a2a/webhook/replay", json!({"node_id": "node_hooked", "delivery_id": delivery}))
            .by(&secret),
        Sample::post(
            "/kg/query",
            json!({"sender_id": "node_a", "query": "timeout", "type": "semantic", "limit": 5, "depth": 2,
                "filters": {"types": ["signal"], "relation_types": ["triggers"], "category": "repair",
                    "since": "2025-01-01", "until": null, "environment": "linux_x64"}}),
        ),
        Sample::post(
            "/kg/advice",
            json!({"sender_id": "node_a", "signals": ["TimeoutError"], "driftEnabled": false,
                "genes": [{"id": "gene_retry", "category": "repair", "type": "Gene"}]}),
        ),
        Sample::post(
            "/kg/ingest",
            json!({"sender_id": "node_a",
                "entities": [
                    {"name": "Pool", "entity_type": "technique", "properties": {"size": 10}, "confidence": 0.9},
                    {"name": "Gateway", "entity_type": "service"},
                ],
                "relations": [{"source_name": "Gateway", "source_type": "service", "target_name": "Pool", "type": "uses",
                    "properties": {"since": "May"}, "confidence": 0.5}]}),
        ),
        Sample::post(
            "/kg/forget",
            json!({"sender_id": "node_a", "everything": false,
                "entities": [{"name": "Pool", "entity_type": "technique"}],
                "relations": [{"source_name": "Gateway", "source_type": "service", "target_name": "Pool",
                    "target_type": "technique", "type": "uses"}]}),
        ),
        Sample::post(
            "/a2a/signal/analyze",
            json!({"sender_id": "node_a", "corpus_summary": "It timed out.", "signal_types": ["error"]}),
        ),
    ]
}

/// Tasks that a node takes, promises, gives back and completes, by both prefixes and from the pool.
fn work(hub: &TestHub) -> Vec<Sample> {
    hub.register("node_w");
    let bundle = Bundle::new(20);
    hub.publish("node_w", &bundle).expect(200);
    let call = |task: &str| json!({"task_id": task, "node_id": "node_w"});
    let taken = |task: &str| {
        hub.offer(task, 1);
        hub.post("/task/claim", &call(task)).expect(200)["submission_id"].clone()
    };
    let soon = capsid_model::time::Time(super::START.0 + 3_600_000).iso();
    let mut samples = Vec::new();
    for prefix in ["", "/a2a"] {
        let name = |verb: &str| format!("{verb}_{}", prefix.len());
        hub.offer(&name("claimed"), 1);
        let mut claim = call(&name("claimed"));
        claim["commitment_deadline"] = json!(soon);
        samples.push(Sample::post(&format!("{prefix}/task/claim"), claim));
        for verb in ["complete", "submit", "release"] {
            taken(&name(verb));
            let mut body = call(&name(verb));
            body["asset_id"] = json!(bundle.capsule_id());
            samples.push(Sample::post(&format!("{prefix}/task/{verb}"), body));
        }
        taken(&name("promised"));
        samples.push(Sample::post(
            &format!("{prefix}/task/{}/commitment", name("promised")),
            json!({"node_id": "node_w", "deadline": soon}),
        ));
    }
    hub.offer("pooled", 1);
    let (accepted, completed) = (taken("accepted"), taken("completed"));
    samples.extend([
        Sample::post(
            "/a2a/worker/register",
            json!({"sender_id": "node_w", "enabled": true, "domains": ["retry"], "max_load": 20}),
        ),
        Sample::post("/a2a/work/claim", call("pooled")),
        Sample::post("/a2a/work/accept", json!({"assignment_id": accepted, "node_id": "node_w"})),
        Sample::post(
            "/a2a/work/complete",
            json!({"assignment_id": completed, "node_id": "node_w", "result_asset_id": bundle.capsule_id()}),
        ),
        Sample::post(
            "/a2a/heartbeat",
            json!({"node_id": "node_w", "worker_enabled": true, "worker_domains": ["retry"], "max_load": 3,
                "meta": {"commitment_updates": [{"task_id": "claimed_0", "deadline": soon}]}}),
        ),
    ]);
    samples
}

/// What people do in their accounts. Passwords are hashed slowly, so these are few.
fn account_calls(hub: &TestHub) -> Vec<Sample> {
    let login = json!({"email": "ann@example.org", "password": "correct horse"});
    let token = hub.post("/auth/register", &login).expect(201)["token"].as_str().unwrap().to_owned();
    let code = hub.message("node_claimed", "hello", json!({})).expect(200)["claim_code"]
        .as_str()
        .unwrap()
        .to_owned();
    hub.post_as(&token, &format!("/claim/{code}"), &json!({})).expect(200);
    let (hooked, delivery) = ("/account/agents/node_claimed", dead_delivery(hub, "node_claimed", &token));
    let code =
        hub.message("node_free", "hello", json!({})).expect(200)["claim_code"].as_str().unwrap().to_owned();
    vec![
        Sample::post("/account/api-keys", json!({"name": "laptop"})).by(&token),
        Sample::post(&format!("/claim/{code}"), json!({})).by(&token),
        Sample::post(&format!("{hooked}/deliveries/{delivery}/replay"), json!({})).by(&token),
        Sample::post(&format!("{hooked}/webhook/rotate"), json!({})).by(&token),
        Sample::post(&format!("{hooked}/webhook/enable"), json!({})).by(&token),
        Sample::post("/account/agents/node_claimed/reset-secret", json!({})).by(&token),
        Sample::post(
            "/account/transfer",
            json!({"from": "user", "to": "node_claimed", "amount": 1.5, "reference": "top-up-1"}),
        )
        .by(&token),
        Sample::post("/auth/login", login),
    ]
}

/// A node gets a webhook and a delivery to it that was given up.
fn dead_delivery(hub: &TestHub, node: &'static str, bearer: &str) -> String {
    hub.message(node, "hello", json!({"webhook_url": "https://agent.example.com/hook"})).expect(200);
    let queued = hub.post_as(bearer, "/a2a/webhook/test", &json!({"node_id": node})).expect(200);
    let gone = hub.hub.store.write_now(move |tx| {
        let sql = "UPDATE deliveries SET state = 'dead' WHERE node_id = $1";
        tx.run(sql, capsid_store::params![node])
    });
    assert_eq!(gone.unwrap(), 1);
    queued["delivery_id"].as_str().unwrap().to_owned()
}

/// What an admin decides.
fn admin(hub: &TestHub) -> Vec<Sample> {
    let login = json!({"email": "root@example.org", "password": "correct horse"});
    let token = hub.post("/auth/register", &login).expect(201)["token"].as_str().unwrap().to_owned();
    let made = hub
        .hub
        .store
        .write_now(|tx| tx.run("UPDATE users SET role = 'admin' WHERE email = 'root@example.org'", &[]));
    assert_eq!(made.unwrap(), 1);
    let decide = |n: u64, action: &str| {
        let bundle = Bundle::new(n);
        hub.publish("node_e", &bundle);
        let path = format!("/admin/assets/{}/{action}", bundle.capsule_id());
        Sample::post(&path, json!({"reason": "Looked at it."})).by(&token)
    };
    let promoted = Bundle::new(14);
    hub.post_as(&token, &decide(14, "promote").path, &json!({"reason": "Works."})).expect(200);
    let about = |rest: &str| format!("/a2a/assets/{}/{rest}", promoted.capsule_id());
    for node in ["node_r", "node_s"] {
        hub.register(node);
        hub.message(node, "fetch", json!({"asset_ids": [promoted.capsule_id()]})).expect(200);
    }
    let review = |node: &str| json!({"sender_id": node, "rating": 4, "content": "It worked here."});
    let written = hub.post(&about("reviews"), &review("node_s")).json();
    let written = written["review_id"].as_str().unwrap_or_else(|| panic!("{written}"));
    let quarantine = decide(10, "quarantine");
    let other = json!({"email": "eve@example.org", "password": "correct horse"});
    let other = hub.post("/auth/register", &other).expect(201)["user_id"].as_str().unwrap().to_owned();
    let account = |verb: &str| {
        Sample::post(&format!("/admin/users/{other}/{verb}"), json!({"reason": "Sold votes."})).by(&token)
    };
    hub.post_as(&token, &decide(11, "quarantine").path, &json!({"reason": "Odd."})).expect(200);
    let secret = hub.register("node_m");
    let (open, decided) = (open_case(hub, "node_n"), open_case(hub, "node_m"));
    let about_case = |id: i64| format!("/admin/moderation/{id}/decide");
    let approve = json!({"decision": "approve", "reason": "Looked at it."});
    hub.post_as(&token, &about_case(decided), &approve).expect(200);
    vec![
        Sample::post(&about_case(open), approve).by(&token),
        Sample::post(
            "/a2a/moderation/node_m/appeal",
            json!({"sender_id": "node_m", "reason": "Look again."}),
        )
        .by(&secret),
        decide(12, "promote"),
        decide(13, "reject"),
        quarantine,
        decide(11, "release"),
        account("ban"),
        account("unban"),
        Sample::post("/admin/promote-now", json!({})).by(&token),
        Sample::post(&about("vote"), json!({"vote": "up"})).by(&token),
        Sample::post(&about("reviews"), review("node_r")),
        Sample { method: "PUT", ..Sample::post(&about(&format!("reviews/{written}")), review("node_s")) },
    ]
}

/// Has a moderator look at a node, and gives the number of the case.
fn open_case(hub: &TestHub, node: &'static str) -> i64 {
    let now = hub.hub.now();
    let opened = hub.hub.store.write_now(move |tx| {
        moderation::open_case(tx, CaseKind::Publisher, node, node, "It is new.", now)?;
        Ok(moderation::lock_subject(tx, CaseKind::Publisher, node)?.unwrap().seq)
    });
    opened.unwrap()
}

/// Gives an account credits, for a public hub grants none to a new one.
fn fund(hub: &TestHub, email: &'static str) {
    let now = hub.hub.now();
    let moved = hub.hub.store.write_now(move |tx| {
        let (user, _) = accounts::by_email(tx, email)?.unwrap();
        let account = ledger::user_account(&user.user_id);
        let gift = Transfer {
            reference: "samples",
            kind: "grant",
            from: ledger::MINT,
            to: &account,
            amount: 100_000,
        };
        ledger::transfer_from(tx, gift, CreditSource::Earned, now)
    });
    assert_eq!(moved.unwrap(), ledger::TransferOutcome::Done);
}

/// What is asked of others, and what becomes of it. An account of its own asks, and an admin matches.
fn asking(hub: &TestHub) -> Vec<Sample> {
    let login = |email: &str| json!({"email": email, "password": "correct horse"});
    let token = |answer: TestResponse| answer.json()["token"].as_str().unwrap().to_owned();
    let asker = token(hub.post("/auth/register", &login("asker@example.org")));
    fund(hub, "asker@example.org");
    let root = token(hub.post("/auth/login", &login("root@example.org")));
    let offer = json!({"title": "Fix the timeout", "body": "Of the API.", "signals": ["TimeoutError"], "amount": 1.5,
        "min_reputation": 10, "min_model_tier": null, "allowed_models": null, "expires_at": null});
    let made = |key: &str| {
        hub.post_as(&asker, "/bounty/create", &offer).expect(201)[key].as_str().unwrap().to_owned()
    };
    let solution = Bundle::new(20);
    hub.publish("node_w", &solution).expect(200);
    let found = json!({"asset_id": solution.capsule_id()});
    let matched = || {
        let id = made("bounty_id");
        hub.post_as(&root, &format!("/bounty/{id}/match"), &found).expect(200)
    };
    let id = |bounty: &Value| bounty["bounty_id"].as_str().unwrap().to_owned();
    // An admin owns the node that did the task, and so may dispute for it.
    let owned = "UPDATE nodes SET owner = (SELECT user_id FROM users WHERE email = 'root@example.org')
        WHERE node_id = 'node_w'";
    assert_eq!(hub.hub.store.write_now(move |tx| tx.run(owned, &[])).unwrap(), 1);
    let argued = |status: &'static str| {
        let (bounty, until) = (id(&matched()), hub.hub.now().0 + 3_600_000);
        let named = bounty.clone();
        let sql =
            "UPDATE bounties SET status = $2, rejected_at = matched_at, dispute_by = $3 WHERE bounty_id = $1";
        let set = move |tx: &mut dyn capsid_store::db::tx::Tx| tx.run(sql, params![&named, status, until]);
        assert_eq!(hub.hub.store.write_now(set).unwrap(), 1);
        bounty
    };
    let mut samples = Vec::new();
    for prefix in ["", "/a2a"] {
        let about = |id: String, verb: &str| format!("{prefix}/bounty/{id}/{verb}");
        let handed_in = matched();
        let taken = json!({"task_id": handed_in["task_id"], "submission_id": handed_in["submissions"][0]["submission_id"]});
        let task = made("task_id");
        claim_task(hub, "node_w", &task);
        let parts = json!({"task_id": task, "node_id": "node_w", "subtasks": [
            {"title": "First half", "signals": "TimeoutError", "weight": 0.425, "body": "Of it."},
            {"title": "Second half", "signals": ["retry"], "weight": 0.425},
        ]});
        let reason = json!({"reason": "It does not build."});
        samples.extend([
            Sample::post(&format!("{prefix}/bounty/create"), offer.clone()).by(&asker),
            Sample::post(&about(made("bounty_id"), "match"), found.clone()).by(&root),
            Sample::post(&about(id(&matched()), "accept"), found.clone()).by(&asker),
            Sample::post(&about(id(&matched()), "reject"), reason.clone()).by(&asker),
            Sample::post(&about(argued("rejected"), "dispute"), reason.clone()).by(&root),
            Sample::post(
                &about(argued("disputed"), "resolve"),
                json!({"decision": "split", "reason": "Both."}),
            )
            .by(&root),
            Sample::post(&about(made("bounty_id"), "cancel"), reason).by(&asker),
            Sample::post(&format!("{prefix}/task/accept-submission"), taken).by(&asker),
            Sample::post(&format!("{prefix}/task/propose-decomposition"), parts),
        ]);
    }
    let service = json!({"sender_id": "node_w", "title": "Reviews", "price_per_task": 2});
    let listing = hub.post("/a2a/service/publish", &service).expect(200)["listing_id"].clone();
    let secret = hub.register("node_o");
    samples.extend([
        Sample::post(
            "/a2a/ask",
            json!({"sender_id": "node_o", "question": "Why does it time out?", "amount": 0.5, "signals": ["timeout"]}),
        )
        .by(&secret),
        Sample::post(
            "/a2a/service/order",
            json!({"sender_id": "node_o", "listing_id": listing, "question": "Review this", "body": "All of it.",
                "signals": "review", "reference": "o1"}),
        )
        .by(&secret),
    ]);
    samples
}

/// Has a node take a task.
fn claim_task(hub: &TestHub, node: &'static str, task: &str) {
    let (task, submission, now) = (task.to_owned(), format!("sub_of_{task}"), hub.hub.now());
    let taken = hub.hub.store.write_now(move |tx| {
        let node = capsid_store::nodes::lock(tx, node)?.unwrap();
        capsid_store::work::tasks::claim::claim(tx, &node, &task, None, &submission, &[], now)
    });
    taken.unwrap();
}
