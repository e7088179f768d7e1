//! The calls beside the messages: heartbeat, stakes, memories, services, mailbox, skills and tasks, on both databases.

use crate::common::{Bundle, On, TestHub, TestResponse, both, on_sqlite, on_sqlite_with};
use capsid_rules::rate_limit::RateLimit;
use serde_json::{Map, Value, json};

/// A node whose secret was shown, so that nobody else can speak for it.
fn bound(hub: &TestHub, node: &str) -> String {
    let secret = hub.register(node);
    hub.post_as(&secret, "/a2a/heartbeat", &json!({"node_id": node})).expect(200);
    secret
}

fn with(body: &Value, key: &str, value: Value) -> Value {
    let mut body = body.as_object().cloned().unwrap_or_default();
    body.insert(key.to_owned(), value);
    Value::Object(body)
}

fn without(body: &Value, key: &str) -> Value {
    let mut body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    body.shift_remove(key);
    Value::Object(body)
}

/// Sends a good body with one member spoilt, each in turn, and expects the field to be named.
fn each_is_refused(hub: &TestHub, path: &str, good: &Value, spoilt: &[(&str, Value)]) {
    let before = hub.dump();
    for (key, value) in spoilt {
        let answer = hub.post(path, &with(good, key, value.clone()));
        let body = answer.refused(400, "validation_error");
        let named = body["details"][0]["path"].as_str().unwrap();
        assert!(named.starts_with(key), "{key}: {answer}");
    }
    assert_eq!(before, hub.dump(), "a refused call to {path} left something behind");
}

/// Every way to name a node wrongly.
fn bad_nodes(hub: &TestHub, path: &str, good: &Value) {
    for id in ["", " ", "a b", "../x", "a/b", "a\u{202e}b", "a\u{7}b", &"x".repeat(129)] {
        let answer = hub.post(path, &with(good, "sender_id", json!(id)));
        answer.refused(400, "validation_error");
    }
    for id in [json!(7), json!([]), json!({}), json!(true)] {
        hub.post(path, &with(good, "sender_id", id)).refused(400, "validation_error");
    }
    hub.post(path, &without(good, "sender_id")).refused(400, "validation_error");
    hub.post(path, &with(good, "node_id", json!("node_other"))).refused(400, "validation_error");
    hub.post(path, &with(good, "sender_id", json!("hub_1"))).refused(403, "hub_node_id_reserved");
}

const WRONG: &str = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

#[test]
fn a_bound_node_cannot_be_spoofed_by_any_call() {
    let patient = |config: &mut capsid_hub::config::HubConfig| {
        config.limits.wrong_credentials = RateLimit { count: 1000, window_ms: 60_000 };
    };
    on_sqlite_with(patient, |hub| {
        let secret = bound(hub, "node_a");
        let calls = [
            ("/a2a/heartbeat", json!({})),
            ("/a2a/verify-solidify", json!({"gene_id": "gene_x"})),
            ("/a2a/events/poll", json!({"timeout_ms": 0})),
            ("/a2a/validator/stake", json!({})),
            ("/a2a/validator/unstake", json!({})),
            ("/a2a/memory/record", json!({"signals": ["log_error"], "status": "success"})),
            ("/a2a/memory/event", json!({"event": {"kind": "signal"}})),
            ("/a2a/memory/recall", json!({"query": "x"})),
            ("/kg/advice", json!({"signals": ["log_error"], "genes": []})),
            ("/kg/ingest", json!({"kind": "signal", "event": {"id": "e1"}})),
            ("/kg/forget", json!({"everything": true})),
            ("/a2a/service/publish", json!({"title": "T"})),
            ("/a2a/mailbox/outbound", json!({"messages": []})),
            ("/a2a/mailbox/inbound", json!({})),
            ("/a2a/mailbox/ack", json!({"message_ids": []})),
            ("/a2a/skill/store/publish", json!({"skill_id": "skill_x", "content": "# X"})),
            ("/a2a/signal/analyze", json!({"corpus_summary": "x"})),
        ];
        let before = hub.dump();
        for (path, body) in &calls {
            let body = with(body, "sender_id", json!("node_a"));
            hub.post(path, &body).refused(401, "node_secret_required");
            hub.post_as(WRONG, path, &body).refused(403, "node_secret_invalid");
            let in_body = hub.post(path, &with(&body, "node_secret", json!(WRONG)));
            assert!([401, 403].contains(&in_body.status), "{in_body}");
        }
        for path in ["events/stream", "validator/status", "memory/status", "mailbox/status"] {
            let path = format!("/a2a/{path}?node_id=node_a");
            hub.get(&path).refused(401, "node_secret_required");
            hub.get_as(WRONG, &path).refused(403, "node_secret_invalid");
        }
        assert_eq!(before, hub.dump());
        for (path, body) in &calls {
            let answer = hub.post_as(&secret, path, &with(body, "sender_id", json!("node_a")));
            assert!(answer.status < 300, "{answer}");
        }
    });
}

#[test]
fn an_unknown_node_is_told_to_say_hello() {
    on_sqlite(|hub| {
        let answer = hub.post("/a2a/heartbeat", &json!({"node_id": "node_x"})).expect(200);
        assert_eq!(answer["status"], "unknown_node");
        assert_eq!(hub.get("/a2a/validator/status?node_id=node_x").expect(200)["stake"]["status"], "none");
        assert!(!hub.dump().contains("node_x"));
    });
}

#[test]
fn a_heartbeat_tells_how_the_node_stands() {
    both(|hub| {
        let met = hub.message("node_a", "hello", json!({})).expect(200);
        let (secret, code) = (met["node_secret"].as_str().unwrap(), &met["claim_code"]);
        let beat = json!({
            "node_id": "node_a", "sender_id": "node_a", "version": "1", "uptime_ms": 5, "gene_count": 0,
            "meta": {"anti_abuse": {"fingerprint": "telemetry-marker"}, "worker_enabled": false},
        });
        let answer = hub.post_as(secret, "/a2a/heartbeat", &beat).expect(200);
        assert_eq!(answer["status"], "ok");
        assert_eq!(answer["your_node_id"], "node_a");
        assert_eq!(answer["node_status"], "active");
        assert_eq!(answer["survival_status"], "alive");
        assert_eq!(answer["credit_balance"], 500);
        assert_eq!(answer["next_heartbeat_ms"], 300_000);
        assert_eq!(answer["server_time"], "2026-01-01T00:00:00.000Z");
        assert_eq!(answer["claim_state"]["claimed"], false);
        assert_eq!(&answer["claim_state"]["claim_code"], code);
        for list in
            ["available_work", "available_tasks", "overdue_tasks", "commitment_results", "pending_events"]
        {
            assert_eq!(answer[list], json!([]), "{list}");
        }
        for never in ["force_update", "min_proxy_version", "upgrade_available"] {
            assert!(answer.get(never).is_none(), "{never}");
        }
        assert!(!hub.dump().contains("telemetry-marker"));
        let enveloped = hub.envelope("node_a", "heartbeat", json!({"node_id": "node_a"}));
        assert_eq!(hub.post_as(secret, "/a2a/heartbeat", &enveloped).expect(200)["status"], "ok");
        let other = hub.envelope("node_a", "hello", json!({}));
        hub.post("/a2a/heartbeat", &other).refused(400, "message_type_mismatch");
        bad_nodes(hub, "/a2a/heartbeat", &json!({"sender_id": "node_a"}));
    });
}

#[test]
fn heartbeats_are_limited_and_hellos_are_not_counted() {
    let few = |config: &mut capsid_hub::config::HubConfig| {
        config.limits.heartbeat = RateLimit { count: 1, window_ms: 300_000 };
    };
    on_sqlite_with(few, |hub| {
        let secret = hub.register("node_a");
        hub.register("node_a");
        let beat = json!({"node_id": "node_a"});
        hub.post_as(WRONG, "/a2a/heartbeat", &beat).refused(403, "node_secret_invalid");
        hub.post_as(&secret, "/a2a/heartbeat", &beat).expect(200);
        hub.clock.advance(100_000);
        let answer = hub.post_as(&secret, "/a2a/heartbeat", &beat);
        let body = answer.refused(429, "rate_limited");
        assert_eq!(body["retry_after_ms"], 200_000);
        assert_eq!(body["policy"], json!({"limit": 1, "window_ms": 300_000}));
        assert_eq!(answer.headers["retry-after"], "200");
        hub.clock.advance(200_000);
        hub.post_as(&secret, "/a2a/heartbeat", &beat).expect(200);
    });
}

#[test]
fn a_change_may_be_kept_by_the_node_that_made_it() {
    on_sqlite(|hub| {
        hub.register("node_a");
        let good = json!({
            "sender_id": "node_a", "gene_id": "gene_x", "signals_hash": "0123456789abcdef",
            "mutation_hash": "0123456789abcdef", "ts": 1_767_225_600_000_i64, "client_signature": "ab".repeat(32),
        });
        assert_eq!(hub.post("/a2a/verify-solidify", &good).expect(200)["ok"], true);
        bad_nodes(hub, "/a2a/verify-solidify", &good);
        let spoilt = [
            ("gene_id", json!(5)),
            ("gene_id", json!("x".repeat(501))),
            ("signals_hash", json!("\u{7}")),
            ("signals_hash", json!({})),
            ("mutation_hash", json!("a\u{202e}b")),
            ("client_signature", json!("x".repeat(513))),
            ("ts", json!([])),
            ("ts", json!("a\nb")),
        ];
        each_is_refused(hub, "/a2a/verify-solidify", &good, &spoilt);
    });
}

#[test]
fn a_stake_is_put_aside_once_raised_and_given_back() {
    both(|hub| {
        hub.register("node_a");
        let ask = json!({
            "sender_id": "node_a", "node_id": "node_a", "payload": {"stake_amount": 100},
            "message_id": "msg_1", "timestamp": "2026-01-01T00:00:00Z",
        });
        for _ in 0..2 {
            let answer = hub.post("/a2a/validator/stake", &ask).expect(200);
            assert_eq!(answer["stake"]["node_id"], "node_a");
            assert_eq!(answer["stake"]["amount"], 100);
            assert_eq!(answer["stake"]["status"], "active");
            assert_eq!(answer["credit_balance"], 400);
        }
        let more = json!({"sender_id": "node_a", "stake_amount": 150.5});
        let answer = hub.post("/a2a/validator/stake", &more).expect(200);
        assert_eq!((&answer["stake"]["amount"], &answer["credit_balance"]), (&json!(150.5), &json!(349.5)));
        let answer = hub.post("/a2a/validator/stake", &json!({"sender_id": "node_a"})).expect(200);
        assert_eq!(answer["stake"]["amount"], 150.5);

        let much = hub.post("/a2a/validator/stake", &json!({"sender_id": "node_a", "stake_amount": 600}));
        let body = much.refused(402, "insufficient_credits");
        assert!(much.text.contains("need 449.5, have 349.5"), "{much}");
        assert_eq!((&body["required"], &body["available"]), (&json!(449.5), &json!(349.5)));

        let status = hub.get("/a2a/validator/status?node_id=node_a").expect(200);
        assert_eq!((&status["is_validator"], &status["min_stake"]), (&json!(true), &json!(100)));
        for _ in 0..2 {
            let back = hub.post("/a2a/validator/unstake", &json!({"sender_id": "node_a"})).expect(200);
            assert_eq!(back["stake"]["status"], "released");
            assert_eq!(back["credit_balance"], 500);
        }
        assert_eq!(hub.post("/a2a/validator/stake", &ask).expect(200)["credit_balance"], 400);
        let sum = hub.hub.store.read_now(capsid_store::ledger::sum).unwrap();
        assert_eq!(sum, 0);
    });
}

#[test]
fn a_stake_of_a_wrong_amount_is_refused() {
    on_sqlite(|hub| {
        let good = json!({"sender_id": "node_a"});
        let amounts =
            [json!(99), json!(-1), json!(0), json!(1e300), json!(100.0005), json!("100"), json!([])];
        let spoilt = amounts.clone().map(|amount| ("stake_amount", amount));
        each_is_refused(hub, "/a2a/validator/stake", &good, &spoilt);
        let spoilt = amounts.map(|amount| ("payload", json!({"stake_amount": amount})));
        each_is_refused(hub, "/a2a/validator/stake", &good, &spoilt);
        let other = json!({"sender_id": "node_a", "payload": {"node_id": "node_b", "stake_amount": 100}});
        hub.post("/a2a/validator/stake", &other).refused(400, "validation_error");
        bad_nodes(hub, "/a2a/validator/stake", &good);
    });
}

#[test]
fn a_node_is_reminded_of_its_own_memories_and_of_no_others() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let record = |node: &str, signals: Value, summary: &str| {
            let memory = json!({"node_id": node, "signals": signals, "gene_id": "gene_retry", "status": "success",
                "score": 0.9, "summary": summary, "used_asset_ids": []});
            hub.post("/a2a/memory/record", &memory).expect(200)
        };
        assert_eq!(
            record("node_a", json!(["log_error", "timeout"]), "Retried the upload")["duplicate"],
            false
        );
        hub.clock.advance(30_000);
        assert_eq!(
            record("node_a", json!(["log_error", "timeout"]), "Retried the upload")["duplicate"],
            true
        );
        hub.clock.advance(31_000);
        assert_eq!(
            record("node_a", json!(["log_error", "timeout"]), "Retried the upload")["duplicate"],
            false
        );
        record("node_a", json!(["timeout"]), "Raised the limit");
        record("node_b", json!(["timeout"]), "Of somebody else");

        let asked =
            json!({"node_id": "node_a", "query": "", "signals": ["timeout", "log_error"], "limit": 50});
        let found = hub.post("/a2a/memory/recall", &asked).expect(200);
        let matches = found["matches"].as_array().unwrap();
        let summaries: Vec<_> =
            matches.iter().map(|found| found["outcome"]["summary"].as_str().unwrap()).collect();
        assert_eq!(summaries, ["Retried the upload", "Retried the upload", "Raised the limit"]);
        assert_eq!(matches[0]["score"], 1.0);
        assert_eq!(matches[0]["gene_id"], "gene_retry");
        assert_eq!(matches[0]["outcome"]["status"], "success");
        assert_eq!(matches[0]["ts"], "2026-01-01T00:01:01.000Z");

        let asked = json!({"node_id": "node_a", "query": "limit raised", "signals": null});
        let found = hub.post("/a2a/memory/recall", &asked).expect(200);
        assert_eq!(found["matches"][0]["outcome"]["summary"], "Raised the limit");

        let counts = hub.get("/a2a/memory/status?node_id=node_a").expect(200);
        assert_eq!((&counts["total"], &counts["success"]), (&json!(3), &json!(3)));
        assert_eq!(hub.get("/a2a/memory/status?node_id=node_x").expect(200)["total"], 0);
        let none =
            hub.post("/a2a/memory/recall", &json!({"node_id": "node_x", "query": "limit"})).expect(200);
        assert_eq!(none["matches"], json!([]));
    });
}

#[test]
fn an_event_of_a_memory_graph_is_recalled_too() {
    on_sqlite(|hub| {
        hub.register("node_a");
        let event = json!({
            "type": "MemoryGraphEvent", "kind": "outcome", "id": "mge_1", "ts": "2026-01-01T00:00:00Z",
            "signal": {"key": "log_error", "signals": ["log_error", 7, "bell\u{7}"]}, "gene": {"id": "gene_fix"},
            "outcome": {"status": "failed", "score": 0.2, "note": "It got worse \u{7}\u{202e}"},
        });
        let told = json!({"sender_id": "node_a", "event": event});
        assert_eq!(hub.post("/a2a/memory/event", &told).expect(200)["recorded"], true);
        assert_eq!(hub.post("/a2a/memory/event", &told).expect(200)["duplicate"], true);
        let found = hub
            .post("/a2a/memory/recall", &json!({"sender_id": "node_a", "signals": ["log_error"]}))
            .expect(200);
        assert_eq!(found["matches"][0]["gene_id"], "gene_fix");
        assert_eq!(found["matches"][0]["outcome"]["status"], "failed");
        bad_nodes(hub, "/a2a/memory/event", &told);
        let spoilt = [
            ("event", json!("x")),
            ("event", json!([])),
            ("event", Value::Null),
            ("event", json!({"x": "y".repeat(70_000)})),
        ];
        each_is_refused(hub, "/a2a/memory/event", &told, &spoilt);
        hub.post("/a2a/memory/event", &json!({"sender_id": "node_a"})).refused(400, "validation_error");
    });
}

#[test]
fn a_memory_with_a_wrong_field_is_refused() {
    on_sqlite(|hub| {
        let good = json!({"sender_id": "node_a", "signals": ["log_error"], "status": "success"});
        bad_nodes(hub, "/a2a/memory/record", &good);
        let spoilt = [
            ("signals", json!("log_error")),
            ("signals", json!([1])),
            ("signals", json!(vec!["x"; 51])),
            ("signals", json!(["x".repeat(2001)])),
            ("gene_id", json!("a\u{202e}b")),
            ("gene_id", json!("x".repeat(201))),
            ("status", json!(1)),
            ("status", json!("\n")),
            ("status", json!("victory")),
            ("score", json!(1.5)),
            ("score", json!("0.5")),
            ("summary", json!("x".repeat(4001))),
            ("used_asset_ids", json!([{}])),
        ];
        each_is_refused(hub, "/a2a/memory/record", &good, &spoilt);
        let asked = json!({"sender_id": "node_a", "query": "x"});
        bad_nodes(hub, "/a2a/memory/recall", &asked);
        let spoilt = [
            ("query", json!(5)),
            ("query", json!("x".repeat(4001))),
            ("signals", json!("x")),
            ("limit", json!("10")),
        ];
        each_is_refused(hub, "/a2a/memory/recall", &asked, &spoilt);
        for query in ["", "?node_id=", "?node_id=a%20b", "?node_id=a&node_id=b", "?node_id=%ff"] {
            let answer = hub.get(&format!("/a2a/memory/status{query}"));
            assert_eq!(answer.status, 400, "{answer}");
            answer.explains();
        }
    });
}

#[test]
fn a_service_is_listed_once_for_each_title() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let good = json!({
            "sender_id": "node_a", "title": "Fix builds", "description": "Any build", "capabilities": ["rust"],
            "use_cases": ["ci"], "price_per_task": 10, "execution_mode": "exclusive", "max_concurrent": 3,
        });
        let first = hub.post("/a2a/service/publish", &good).expect(200);
        assert_eq!(first["status"], "ok");
        hub.clock.advance(1000);
        let second = hub.post("/a2a/service/publish", &with(&good, "price_per_task", json!(12))).expect(200);
        assert_eq!(first["listing_id"], second["listing_id"]);
        let other = hub.post("/a2a/service/publish", &with(&good, "sender_id", json!("node_b"))).expect(200);
        assert_ne!(first["listing_id"], other["listing_id"]);
        let listed = hub.get("/a2a/service/list?node_id=node_a").expect(200);
        assert_eq!(listed["count"], 1);
        assert_eq!(listed["services"][0]["price_per_task"], 12);
        assert_eq!(listed["services"][0]["title"], "Fix builds");
        assert_eq!(hub.get("/a2a/service/list?limit=x").expect(200)["count"], 2);
        bad_nodes(hub, "/a2a/service/publish", &good);
        let spoilt = [
            ("title", json!("")),
            ("title", Value::Null),
            ("title", json!(1)),
            ("title", json!("x".repeat(301))),
            ("title", json!("a\u{202e}b")),
            ("description", json!("x".repeat(4001))),
            ("description", json!([])),
            ("capabilities", json!("rust")),
            ("capabilities", json!([1])),
            ("use_cases", json!(vec!["x"; 51])),
            ("price_per_task", json!(-1)),
            ("price_per_task", json!("10")),
            ("execution_mode", json!("sideways")),
            ("max_concurrent", json!(0)),
            ("recipe_id", json!("a\nb")),
        ];
        each_is_refused(hub, "/a2a/service/publish", &good, &spoilt);
    });
}

fn send(hub: &TestHub, sender: &str, messages: Value) -> TestResponse {
    let body = json!({"sender_id": sender, "proxy_protocol_version": "0.1.0", "messages": messages});
    hub.post(&format!("/a2a/mailbox/outbound?sender_id={sender}"), &body)
}

fn dm(id: &str, to: &str, content: &str) -> Value {
    let payload = json!({"recipient_node_id": to, "content": content, "sender_node_id": "node_liar"});
    json!({"id": id, "type": "dm", "payload": payload, "priority": "normal", "ref_id": null,
        "created_at": "2026-01-01T00:00:00Z"})
}

#[test]
fn a_direct_message_reaches_its_recipient_once() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        hub.register("node_c");
        let first =
            send(hub, "node_a", json!([dm("m1", "node_b", "hi \u{202e}\u{7}"), dm("m2", "node_b", "again")]));
        let results = first.expect(200);
        assert_eq!(results["results"][0]["id"], "m1");
        assert_eq!(results["results"][0]["status"], "accepted");
        assert_eq!(results["results"][0]["original_type"], "dm");
        let repeated =
            send(hub, "node_a", json!([dm("m1", "node_b", "hi \u{202e}\u{7}"), dm("m2", "node_b", "again")]));
        assert_eq!(first.text, repeated.text);
        assert_eq!(hub.get("/a2a/mailbox/status?node_id=node_b").expect(200)["pending_count"], 2);

        let ask = |cursor: &Value, limit: u64| {
            let body = json!({"sender_id": "node_b", "proxy_protocol_version": "0.1.0", "cursor": cursor, "limit": limit});
            hub.post("/a2a/mailbox/inbound", &body).expect(200)
        };
        let page = ask(&Value::Null, 1);
        assert_eq!(page["messages"][0]["type"], "dm");
        assert_eq!(page["messages"][0]["payload"]["content"], "hi \u{202e}\u{7}");
        assert_eq!(page["messages"][0]["payload"]["sender_node_id"], "node_a");
        let next = ask(&page["next_cursor"], 50);
        assert_eq!(next["messages"][0]["payload"]["content"], "again");
        assert_eq!(ask(&next["next_cursor"], 50)["messages"], json!([]));
        assert_eq!(ask(&Value::Null, 50)["messages"].as_array().unwrap().len(), 2, "not acknowledged yet");
        assert_eq!(
            ask(&json!("mbx_999999"), 50)["messages"].as_array().unwrap().len(),
            2,
            "a foreign cursor"
        );

        let ids = json!([page["messages"][0]["id"], "unknown"]);
        let stranger = json!({"sender_id": "node_c", "message_ids": ids});
        assert_eq!(hub.post("/a2a/mailbox/ack", &stranger).expect(200)["acknowledged"], 0);
        for _ in 0..2 {
            let owner = json!({"sender_id": "node_b", "message_ids": ids});
            assert_eq!(hub.post("/a2a/mailbox/ack", &owner).expect(200)["acknowledged"], 1);
        }
        assert_eq!(ask(&Value::Null, 50)["messages"].as_array().unwrap().len(), 1);
        hub.clock.advance(31 * 24 * 3_600_000);
        assert_eq!(ask(&Value::Null, 50)["messages"], json!([]));
    });
}

#[test]
fn a_message_that_cannot_be_done_is_answered_and_does_not_hold_up_the_others() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let odd = |id: &str, kind: &str, payload: Value| json!({"id": id, "type": kind, "payload": payload});
        let batch = json!([
            odd("m1", "task_claim", json!({"task_id": "t1"})),
            odd("m2", "task_complete", json!({})),
            odd("m3", "proxy_trace", json!({})),
            odd("m4", "nonsense", json!({})),
            {"id": "m5"},
            dm("m6", "node_unknown", "x"),
            odd("m7", "dm", json!({"recipient_node_id": "node_b"})),
            odd("m8", "dm", json!({"recipient_node_id": "../x", "content": "x"})),
            odd("m9", "asset_submit", json!({"assets": []})),
            odd("m10", "asset_submit", json!(5)),
            odd("m11", "dm", json!({"recipient_node_id": "node_b", "content": "x".repeat(70_000)})),
            dm("m12", "node_b", "ok"),
        ]);
        let answer = send(hub, "node_a", batch.clone());
        let results = answer.expect(200)["results"].as_array().unwrap().clone();
        assert_eq!(results.len(), 12);
        assert_eq!(results[0]["reason"], "task_not_found");
        assert_eq!(results[3]["reason"], "unsupported_type");
        assert_eq!(results[5]["reason"], "node_not_found");
        assert_eq!(results[8]["reason"], "bundle_required");
        for result in &results[..11] {
            assert!(["failed", "rejected"].contains(&result["status"].as_str().unwrap()), "{result}");
            assert_eq!(result["terminal"], true, "{result}");
        }
        assert_eq!(results[11]["status"], "accepted");
        assert_eq!(answer.text, send(hub, "node_a", batch).text);
        assert_eq!(hub.get("/a2a/mailbox/status?node_id=node_b").expect(200)["pending_count"], 1);
    });
}

#[test]
fn a_bundle_that_comes_as_a_message_is_published_once() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let bundle = Bundle::new(1);
        let message = json!([{"id": "m1", "type": "asset_submit", "payload": bundle.payload()}]);
        let answer = send(hub, "node_a", message.clone());
        let result = answer.expect(200)["results"][0].clone();
        assert_eq!(result["status"], "accepted", "{result}");
        assert_eq!(result["response"]["decision"], "accept");
        assert_eq!(answer.text, send(hub, "node_a", message).text);
        let again = hub.publish("node_a", &bundle).expect(200);
        assert_eq!(again["reason"], "already_published");
        let other = json!([{"id": "m1", "type": "asset_submit", "payload": bundle.payload()}]);
        let result = send(hub, "node_b", other).expect(200)["results"][0].clone();
        assert_eq!((&result["status"], &result["reason"]), (&json!("failed"), &json!("duplicate_asset")));
    });
}

#[test]
fn a_full_mailbox_asks_to_come_again() {
    let hub = TestHub::start(On::Sqlite, |_| {});
    hub.register("node_a");
    hub.register("node_b");
    let last = (0..21).map(|batch| {
        let messages: Vec<_> = (0..50).map(|n| dm(&format!("m{batch}_{n}"), "node_b", "x")).collect();
        send(&hub, "node_a", json!(messages)).expect(200)["results"][0].clone()
    });
    let last = last.last().unwrap();
    assert_eq!((&last["status"], &last["retryable"]), (&json!("failed"), &json!(true)));
    assert!(last["retry_after_ms"].as_i64().unwrap() > 0);
    assert_eq!(hub.get("/a2a/mailbox/status?node_id=node_b").expect(200)["pending_count"], 1000);
}

#[test]
fn a_mailbox_call_with_a_wrong_field_is_refused() {
    on_sqlite(|hub| {
        hub.register("node_a");
        let good = json!({"sender_id": "node_a", "messages": []});
        bad_nodes(hub, "/a2a/mailbox/outbound", &good);
        let one = |message: Value| ("messages", json!([message]));
        let spoilt = [
            ("messages", json!({})),
            ("messages", Value::Null),
            one(json!(5)),
            one(json!({})),
            one(json!({"id": 5})),
            one(json!({"id": ""})),
            one(json!({"id": "a\u{7}"})),
            one(json!({"id": "a\u{202e}"})),
            one(json!({"id": "x".repeat(201)})),
            one(json!({"id": "m", "type": 5})),
            one(json!({"id": "m", "type": "x".repeat(65)})),
            one(json!({"id": "m", "priority": "sideways"})),
            one(json!({"id": "m", "ref_id": []})),
            ("proxy_protocol_version", json!(1)),
        ];
        each_is_refused(hub, "/a2a/mailbox/outbound", &good, &spoilt);
        let many: Vec<_> = (0..51).map(|n| json!({"id": format!("m{n}")})).collect();
        send(hub, "node_a", json!(many)).refused(413, "payload_too_large");
        let other = hub.post("/a2a/mailbox/outbound?sender_id=node_b", &good);
        other.refused(400, "validation_error");
        let large = with(&good, "x", json!("y".repeat(4 * 1024 * 1024)));
        hub.post("/a2a/mailbox/outbound", &large).refused(413, "payload_too_large");
        let under = with(&good, "x", json!("y".repeat(3 * 1024 * 1024)));
        hub.post("/a2a/mailbox/outbound", &under).expect(200);

        let asked = json!({"sender_id": "node_a"});
        bad_nodes(hub, "/a2a/mailbox/inbound", &asked);
        each_is_refused(hub, "/a2a/mailbox/inbound", &asked, &[("cursor", json!(5)), ("limit", json!("5"))]);
        for cursor in ["x", "mbx_", "mbx_-1", "mbx_99999999999999999999", "mbx_1 "] {
            hub.post("/a2a/mailbox/inbound", &with(&asked, "cursor", json!(cursor)))
                .refused(400, "invalid_cursor");
        }
        let ack = json!({"sender_id": "node_a", "message_ids": []});
        bad_nodes(hub, "/a2a/mailbox/ack", &ack);
        let spoilt = [
            ("message_ids", json!("x")),
            ("message_ids", json!([1])),
            ("message_ids", json!(vec!["x"; 1001])),
        ];
        each_is_refused(hub, "/a2a/mailbox/ack", &ack, &spoilt);
        hub.post("/a2a/mailbox/ack", &asked).refused(400, "validation_error");
    });
}

#[test]
fn a_skill_is_published_changed_taken_and_withdrawn_by_its_node() {
    both(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let content = "---\nname: Retry\n---\n# Retry \u{202e}\u{7}";
        let skill = json!({"sender_id": "node_a", "skill_id": "skill_retry", "content": content,
            "category": "repair", "tags": ["timeout"], "bundled_files": [{"name": "helper.js", "content": "1"}]});
        let first = hub.post("/a2a/skill/store/publish", &skill).expect(201);
        assert_eq!((&first["skill_id"], &first["version"]), (&json!("skill_retry"), &json!("1")));
        hub.post("/a2a/skill/store/publish", &skill).refused(409, "already_exists");
        let theirs = with(&skill, "sender_id", json!("node_b"));
        hub.post("/a2a/skill/store/publish", &theirs).refused(409, "already_exists");
        let put = |body: &Value| {
            hub.call("PUT", "/a2a/skill/store/update", None, Some(body.to_string().into_bytes()))
        };
        put(&theirs).refused(403, "not_asset_owner");
        put(&with(&skill, "skill_id", json!("skill_none"))).refused(404, "not_found");
        assert_eq!(put(&with(&skill, "changelog", json!("More"))).expect(200)["version"], "2");

        let path = "/a2a/skill/store/skill_retry/download";
        let taken = hub.post(path, &json!({"sender_id": "node_new"})).expect(200);
        assert_eq!((&taken["skill_id"], &taken["content"]), (&json!("skill_retry"), &json!(content)));
        assert_eq!(taken["bundled_files"][0]["name"], "helper.js");
        assert_eq!(hub.get(path).expect(200)["downloads"], 2);
        let listed = hub.get("/a2a/skill/store/list").expect(200);
        assert_eq!((&listed["count"], &listed["skills"][0]["tags"]), (&json!(1), &json!(["timeout"])));
        assert!(listed["skills"][0].get("content").is_none());

        let gone = |node: &str| json!({"sender_id": node, "skill_id": "skill_retry"});
        hub.post("/a2a/skill/store/delete", &gone("node_b")).refused(403, "not_asset_owner");
        for _ in 0..2 {
            hub.post("/a2a/skill/store/delete", &gone("node_a")).expect(200);
        }
        hub.get(path).refused(404, "not_found");
        hub.post("/a2a/skill/store/delete", &gone("node_b")).refused(404, "not_found");
        put(&skill).refused(404, "not_found");
        assert_eq!(hub.get("/a2a/skill/store/list").expect(200)["count"], 0);
        hub.post("/a2a/skill/store/publish", &theirs).refused(409, "already_exists");
        assert_eq!(hub.post("/a2a/skill/store/publish", &skill).expect(201)["version"], "3");
        hub.call("DELETE", "/a2a/skill/store/skill_retry?sender_id=node_a", None, None).expect(200);
        hub.get(path).refused(404, "not_found");
    });
}

#[test]
fn skills_are_listed_page_by_page() {
    both(|hub| {
        hub.register("node_0");
        hub.register("node_1");
        for n in 0..5 {
            let node = format!("node_{}", n % 2);
            let skill = json!({"sender_id": node, "skill_id": format!("skill_{n}"), "content": "# X"});
            hub.post("/a2a/skill/store/publish", &skill).expect(201);
        }
        let page = hub.get("/a2a/skill/store/list?limit=3").expect(200);
        assert_eq!((&page["count"], &page["has_more"]), (&json!(3), &json!(true)));
        let cursor = page["next_cursor"].as_str().unwrap();
        let rest = hub.get(&format!("/a2a/skill/store/list?limit=3&cursor={cursor}")).expect(200);
        assert_eq!(
            (&rest["count"], &rest["has_more"], &rest["next_cursor"]),
            (&json!(2), &json!(false), &Value::Null)
        );
        assert_eq!(hub.get("/a2a/skill/store/list?node_id=node_1").expect(200)["count"], 2);
        hub.get("/a2a/skill/store/list?cursor=../x").refused(400, "invalid_cursor");
        hub.get("/a2a/skill/store/list?cursor=%00").refused(400, "validation_error");
    });
}

#[test]
fn a_skill_with_a_wrong_field_is_refused() {
    on_sqlite(|hub| {
        let good = json!({"sender_id": "node_a", "skill_id": "skill_x", "content": "# X"});
        bad_nodes(hub, "/a2a/skill/store/publish", &good);
        let ids = ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a..b", "a b", "a\u{7}", "é", "x."];
        let mut spoilt: Vec<_> = ids.iter().map(|id| ("skill_id", json!(id))).collect();
        spoilt.extend([
            ("skill_id", Value::Null),
            ("skill_id", json!(5)),
            ("skill_id", json!("x".repeat(129))),
            ("content", json!("")),
            ("content", json!("  ")),
            ("content", Value::Null),
            ("content", json!(["x"])),
            ("category", json!("a\nb")),
            ("category", json!(5)),
            ("tags", json!("x")),
            ("tags", json!(vec!["x"; 101])),
            ("changelog", json!("x".repeat(2001))),
            ("bundled_files", json!({})),
            ("bundled_files", json!([{"name": "x.js"}])),
            ("bundled_files", json!([{"name": "../x.js", "content": ""}])),
            ("bundled_files", json!(vec![json!({"name": "x.js", "content": ""}); 21])),
        ]);
        each_is_refused(hub, "/a2a/skill/store/publish", &good, &spoilt);
        let large = with(&good, "content", json!("x".repeat(256 * 1024 + 1)));
        hub.post("/a2a/skill/store/publish", &large).refused(413, "payload_too_large");
        for id in ["..%2f..%2fetc", "%00", "%ff", ".git", "a%20b"] {
            let answer = hub.get(&format!("/a2a/skill/store/{id}/download"));
            assert_eq!(answer.status, 400, "{answer}");
            answer.explains();
            let answer = hub.call("DELETE", &format!("/a2a/skill/store/{id}?sender_id=node_a"), None, None);
            assert_eq!(answer.status, 400, "{answer}");
        }
        hub.call("DELETE", "/a2a/skill/store/skill_x", None, None).refused(400, "validation_error");
        hub.post("/a2a/skill/store/skill_x/download", &json!([])).refused(400, "validation_error");
    });
}

#[test]
fn the_hub_finds_no_signals_and_says_so() {
    on_sqlite(|hub| {
        let good = json!({"corpus_summary": "error: x", "signal_types": ["perf_bottleneck"]});
        assert_eq!(hub.post("/a2a/signal/analyze", &good).expect(200), json!({"signals": []}));
        let spoilt = [
            ("corpus_summary", json!(5)),
            ("corpus_summary", json!("x".repeat(20_001))),
            ("signal_types", json!("x")),
            ("signal_types", json!([1])),
            ("sender_id", json!("a b")),
        ];
        each_is_refused(hub, "/a2a/signal/analyze", &good, &spoilt);
    });
}

#[test]
fn a_hub_without_tasks_says_so() {
    let hub = TestHub::sqlite();
    hub.register("node_a");
    for prefix in ["", "/a2a"] {
        for path in ["list?reputation=50", "my?node_id=node_a&limit=20", "my?limit=20"] {
            assert_eq!(hub.get(&format!("{prefix}/task/{path}")).expect(200)["tasks"], json!([]));
        }
        assert_eq!(hub.get(&format!("{prefix}/task/eligible-count?min_reputation=1")).status, 200);
        hub.get(&format!("{prefix}/task/eligible-count?task_id=t1")).refused(404, "task_not_found");
        for verb in ["claim", "complete", "submit", "release"] {
            let path = format!("{prefix}/task/{verb}");
            hub.post(&path, &json!({"task_id": "t1", "node_id": "node_a"})).refused(404, "task_not_found");
            for body in [
                json!({}),
                json!({"task_id": "t1"}),
                json!({"node_id": "node_a"}),
                json!({"task_id": "", "node_id": ""}),
            ] {
                hub.post(&path, &body).refused(400, "task_id_and_node_id_required");
            }
            hub.post(&path, &json!({"task_id": 5, "node_id": "node_a"})).refused(400, "validation_error");
            hub.post(&path, &json!({"task_id": "t\u{202e}\u{7}", "node_id": "a b"}))
                .refused(400, "validation_error");
        }
    }
}

#[test]
fn a_webhook_address_is_checked_and_never_fails_the_hello() {
    on_sqlite(|hub| {
        let hello =
            |node: &str, url: Value| hub.message(node, "hello", json!({"webhook_url": url})).expect(200);
        let good = hello("node_a", json!("https://agent.example.com/hook"));
        assert_eq!(
            (&good["status"], &good["webhook_status"]),
            (&json!("acknowledged"), &json!("registered"))
        );
        assert!(hub.dump().contains("https://agent.example.com/hook"));
        for url in
            [json!(5), json!(true), json!(["https://agent.example.com/"]), json!({}), json!("x".repeat(2001))]
        {
            let answer = hello("node_b", url);
            assert_eq!(
                (&answer["status"], &answer["webhook_status"]),
                (&json!("acknowledged"), &json!("rejected:invalid_url"))
            );
        }
        assert!(hello("node_b", Value::Null).get("webhook_status").is_none());
        for (url, status) in [
            ("http://agent.example.com/", "rejected:https_required"),
            ("https://169.254.169.254/latest", "rejected:private_address"),
            ("https://user:pw@agent.example.com/", "rejected:credentials_in_url"),
            ("https://agent.example.com:22/", "rejected:port_not_allowed"),
            ("", "removed"),
            ("https://a\u{202e}.com/", "rejected:invalid_url"),
        ] {
            let answer = hello("node_b", json!(url));
            assert_eq!(
                (&answer["status"], &answer["webhook_status"]),
                (&json!("acknowledged"), &json!(status)),
                "{url}"
            );
        }
        assert!(!hub.dump().contains("169.254"));
        bound(hub, "node_c");
        let stranger = hello("node_c", json!("https://evil.example.com/"));
        assert_eq!(stranger["webhook_status"], "rejected:node_secret_required");
        assert!(!hub.dump().contains("evil.example.com"));
    });
}
