//! What keeps one client from taking more than its share.

use crate::common::{Bundle, TestHub, TestResponse, on_sqlite, on_sqlite_with, send};
use axum::body::Body;
use axum::http::Request;
use capsid_hub::config::HubConfig;
use capsid_store::params;
use serde_json::{Value, json};
use tower::ServiceExt;

#[test]
fn an_answer_does_not_repeat_what_was_sent() {
    let hub = TestHub::sqlite();
    let key = "k\u{202e}".repeat(100_000);
    let twice = format!("{{{0}:1,{0}:2}}", json!(key));
    let asset = format!("/a2a/assets/sha256:{}/reviews", "0".repeat(64));
    let long = "x".repeat(500_000);
    for (path, body) in [
        ("/a2a/hello", twice),
        (&asset, json!({"node_id": "node_a", "rating": long}).to_string()),
        (&asset, json!({"node_id": long, "rating": 5}).to_string()),
        ("/a2a/events/poll", json!({"node_id": "node_a", "timeout_ms": long}).to_string()),
        ("/a2a/events/poll", format!("{{\"node_id\":\"node_a\",\"payload\":{{{}:{}}}}}", json!(long), 1)),
        ("/a2a/mailbox/outbound", json!({"node_id": "node_a", "messages": [{"id": long}]}).to_string()),
        ("/a2a/publish", hub.envelope("node_a", "publish", json!({"assets": [{"type": long}]})).to_string()),
    ] {
        let answer = hub.call("POST", path, None, Some(body.into_bytes()));
        assert!(answer.text.len() < 4000, "{path}: {} bytes, {:.200}", answer.text.len(), answer.text);
        assert!(!answer.text.contains('\u{202e}'));
    }
}

#[test]
fn a_node_has_a_few_streams_at_a_time_and_an_address_some_more() {
    let hub = TestHub::sqlite();
    let open = |node: &str| {
        let uri = format!("/a2a/events/stream?node_id={node}");
        let request = Request::builder().uri(uri).body(Body::empty()).unwrap();
        hub.runtime.block_on(hub.router().oneshot(request)).unwrap()
    };
    let poll = |node: &str| hub.post("/a2a/events/poll", &json!({"node_id": node, "timeout_ms": 0}));
    let of_node: Vec<_> = (0..4).map(|_| open("node_a")).collect();
    assert!(of_node.iter().all(|answer| answer.status() == 200));
    assert_eq!(open("node_a").status(), 429);
    assert!(poll("node_a").refused(429, "rate_limited")["retry_after_ms"].is_number());
    let others: Vec<_> = (0..60).map(|n| open(&format!("node_{n}"))).collect();
    assert!(others.iter().all(|answer| answer.status() == 200));
    poll("node_z").refused(429, "rate_limited");
    drop(others);
    poll("node_z").expect(200);
    poll("node_a").refused(429, "rate_limited");
    drop(of_node);
    poll("node_a").expect(200);
}

#[test]
fn heads_that_are_too_large_are_refused_in_json() {
    let hub = TestHub::sqlite();
    let path = format!("/a2a/assets?x={}", "a".repeat(20_000));
    hub.get(&path).refused(414, "uri_too_long");
    let request = Request::builder().uri("/health").header("x-long", "a".repeat(70_000));
    let answer = hub.runtime.block_on(send(hub.router(), request.body(Body::empty()).unwrap()));
    answer.refused(431, "headers_too_large");
}

/// Calls as many as it takes.
fn unhurried(config: &mut HubConfig) {
    config.limits.other.count = 1_000_000;
}

fn letter(id: &str, content: &str) -> Value {
    json!({"id": id, "type": "dm", "payload": {"recipient_node_id": "node_b", "content": content}})
}

fn mail(hub: &TestHub, letters: &[Value]) -> TestResponse {
    hub.post("/a2a/mailbox/outbound", &json!({"sender_id": "node_a", "messages": letters}))
}

#[test]
fn a_message_id_stands_for_one_message() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let first = mail(hub, &[letter("m1", "one")]);
        assert_eq!(first.expect(200)["results"][0]["status"], "accepted");
        let others = [
            letter("m1", "two"),
            json!({"id": "m1", "type": "dm"}),
            json!({"id": "m1", "type": "proxy_trace", "payload": letter("m1", "one")["payload"]}),
        ];
        for result in mail(hub, &others).expect(200)["results"].as_array().unwrap() {
            assert_eq!(
                (&result["status"], &result["terminal"]),
                (&json!("failed"), &json!(true)),
                "{result}"
            );
            assert_eq!(result["reason"], "duplicate_message_id");
        }
        assert_eq!(mail(hub, &[letter("m1", "one")]).text, first.text);
        assert_eq!(hub.get("/a2a/mailbox/status?node_id=node_b").expect(200)["pending_count"], 1);
    });
}

#[test]
fn a_letter_that_has_arrived_is_not_kept() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        mail(hub, &[letter("m1", "a secret matter")]).expect(200);
        assert!(hub.dump().contains("a secret matter"));
        let inbox = hub.post("/a2a/mailbox/inbound", &json!({"sender_id": "node_b"})).expect(200);
        let ids = json!([inbox["messages"][0]["id"]]);
        let ack = json!({"sender_id": "node_b", "message_ids": ids});
        for _ in 0..2 {
            assert_eq!(hub.post("/a2a/mailbox/ack", &ack).expect(200)["acknowledged"], 1);
        }
        assert!(!hub.dump().contains("a secret matter"));
    });
}

#[test]
fn a_node_sends_so_many_bytes_a_day() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        mail(hub, &[letter("m1", "one")]).expect(200);
        let nearly_all = "UPDATE mailbox_days SET bytes = 64 * 1024 * 1024 - 10";
        assert_eq!(hub.hub.store.write_now(|tx| tx.run(nearly_all, params![])).unwrap(), 1);
        for refused in [letter("m2", "two"), json!({"id": "m3", "type": "proxy_trace"})] {
            let result = mail(hub, &[refused]).expect(200)["results"][0].clone();
            assert_eq!(
                (&result["status"], &result["retryable"]),
                (&json!("failed"), &json!(true)),
                "{result}"
            );
            assert_eq!(result["retry_after_ms"], 24 * 3_600_000);
        }
        // What was answered before still is.
        assert_eq!(mail(hub, &[letter("m1", "one")]).expect(200)["results"][0]["status"], "accepted");
        hub.clock.advance(24 * 3_600_000);
        assert_eq!(mail(hub, &[letter("m2", "two")]).expect(200)["results"][0]["status"], "accepted");
    });
}

#[test]
fn the_oldest_memories_make_room_for_new_ones() {
    on_sqlite(|hub| {
        hub.register("node_a");
        hub.register("node_b");
        let record = |node: &str, n: u64| {
            let body = json!({"node_id": node, "signals": ["s"], "summary": format!("memory {n}")});
            hub.post("/a2a/memory/record", &body).expect(200);
        };
        let total = |node: &str| {
            hub.get(&format!("/a2a/memory/status?node_id={node}")).expect(200)["total"].as_i64().unwrap()
        };
        let grow = |sql: &'static str| {
            hub.hub.store.write_now(move |tx| tx.run(sql, params![])).unwrap();
        };
        (0..5).for_each(|n| record("node_a", n));
        (0..5).for_each(|n| record("node_b", n));
        assert_eq!((total("node_a"), total("node_b")), (5, 5));
        grow("UPDATE memories SET count_so_far = 10001 WHERE node_id = 'node_a' AND summary = 'memory 4'");
        record("node_a", 5);
        assert_eq!(total("node_a"), 4);
        assert!(!hub.dump().contains("node_a\tmemory 0"));
        grow("UPDATE memories SET bytes_so_far = 67108864 WHERE node_id = 'node_b' AND summary = 'memory 4'");
        record("node_b", 5);
        assert_eq!(total("node_b"), 5);
        assert_eq!(total("node_a"), 4);
    });
}

#[test]
fn a_node_has_so_many_skills_and_services() {
    on_sqlite_with(unhurried, |hub| {
        hub.register("node_a");
        let skill = |n: u64| {
            let body = json!({"node_id": "node_a", "skill_id": format!("skill_{n}"), "content": "x"});
            hub.post("/a2a/skill/store/publish", &body)
        };
        (0..200).for_each(|n| assert_eq!(skill(n).status, 201));
        skill(200).refused(409, "state_conflict");
        let withdrawn = json!({"node_id": "node_a", "skill_id": "skill_7"});
        hub.post("/a2a/skill/store/delete", &withdrawn).expect(200);
        skill(200).refused(409, "state_conflict");
        skill(7).expect(201);
        let service = |n: u64| {
            hub.post("/a2a/service/publish", &json!({"node_id": "node_a", "title": format!("Service {n}")}))
        };
        (0..100).for_each(|n| assert_eq!(service(n).status, 200));
        service(100).refused(409, "state_conflict");
        service(99).expect(200);
    });
}

#[test]
fn changing_ones_mind_does_not_fill_the_audit() {
    on_sqlite_with(unhurried, |hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let id = bundle.capsule_id();
        let say = |n: u64| {
            let report =
                json!({"target_asset_id": id, "validation_report": {"overall_ok": n.is_multiple_of(2)}});
            hub.message("node_b", "report", report).expect(200);
            let word = if n.is_multiple_of(2) { "accept" } else { "reject" };
            hub.message("node_b", "decision", json!({"target_asset_id": id, "decision": word})).expect(200);
        };
        let count = |action: &str| {
            let trail = hub.get(&format!("/a2a/assets/{id}/audit-trail")).expect(200)["audit_trail"].clone();
            trail.as_array().unwrap().iter().filter(|entry| entry["action"] == action).count()
        };
        (0..6).for_each(say);
        assert_eq!((count("report_replaced"), count("decision_replaced")), (1, 1));
        hub.clock.advance(3_600_001);
        (6..10).for_each(say);
        assert_eq!((count("report_replaced"), count("decision_replaced")), (2, 2));
    });
}

#[test]
fn a_detail_shows_the_newest_of_a_long_audit() {
    on_sqlite(|hub| {
        let bundle = Bundle::new(1);
        hub.publish("node_a", &bundle).expect(200);
        let (id, now) = (bundle.capsule_id().to_owned(), hub.hub.now());
        let subject = id.clone();
        let write = move |tx: &mut dyn capsid_store::db::tx::Tx| {
            for n in 0..60 {
                let reason = n.to_string();
                let change = capsid_store::audit::AuditChange {
                    kind: "asset",
                    subject: &subject,
                    action: "noted",
                    before: None,
                    after: None,
                    reason: Some(&reason),
                };
                capsid_store::audit::add(tx, "operator", change, now)?;
            }
            Ok(())
        };
        hub.hub.store.write_now(write).unwrap();
        let detail = hub.get(&format!("/a2a/assets/{id}")).expect(200);
        let detail = detail.get("asset").unwrap_or(&detail);
        let trail = detail["audit_trail"].as_array().unwrap();
        assert_eq!(trail.len(), 50);
        assert_eq!((&trail[0]["reason"], &trail[49]["reason"]), (&json!("10"), &json!("59")));
    });
}

#[test]
fn health_writes_for_real() {
    on_sqlite(|hub| {
        hub.get("/health").expect(200);
        assert!(hub.dump().contains("health"));
    });
}

/// A trigger stands for the full disk: a transaction begins and only the write in it fails.
#[test]
fn a_database_that_takes_no_write_is_not_well() {
    let hub = TestHub::sqlite();
    let refuse = "CREATE TRIGGER full_disk BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'full'); END";
    hub.hub.store.write_now(move |tx| tx.run(refuse, params![])).unwrap();
    let body = hub.get("/health").expect(503);
    assert_eq!(body["checks"]["database"]["write"], "failing");
    assert_eq!(body["checks"]["database"]["read"], "ok");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_to_a_file_that_left_its_place() {
    let hub = TestHub::sqlite();
    hub.register("node_a");
    assert!(hub.hub.store.check_database_file());
    let file = hub.hub.config.data.join("hub.db");
    let elsewhere = hub.hub.config.data.join("moved.db");
    std::fs::rename(&file, &elsewhere).unwrap();
    for _ in 0..2 {
        assert!(!hub.hub.store.check_database_file());
        hub.publish("node_a", &Bundle::new(1)).refused(503, "storage_unavailable");
    }
    hub.get("/health").expect(503);
    hub.get("/a2a/assets").expect(200);
    // Another file at the same path is not the same file.
    std::fs::File::create(&file).unwrap();
    assert!(!hub.hub.store.check_database_file());
    std::fs::rename(&elsewhere, &file).unwrap();
    assert!(hub.hub.store.check_database_file());
    hub.publish("node_a", &Bundle::new(1)).expect(200);
}

#[test]
fn stored_json_that_cannot_be_read_is_an_error_and_not_an_empty_answer() {
    on_sqlite(|hub| {
        for node in ["node_a", "node_b"] {
            hub.register(node);
        }
        let mail = json!({"node_id": "node_a", "messages": [
            {"id": "m1", "type": "dm", "payload": {"recipient_node_id": "node_b", "content": "x"}},
        ]});
        hub.post("/a2a/mailbox/outbound", &mail).expect(200);
        let skill = json!({"node_id": "node_a", "skill_id": "skill_x", "content": "# X"});
        hub.post("/a2a/skill/store/publish", &skill).expect(201);
        let receive = || hub.post("/a2a/mailbox/inbound", &json!({"node_id": "node_b"}));
        assert_eq!(receive().expect(200)["messages"].as_array().map(Vec::len), Some(1));
        hub.get("/a2a/skill/store/list").expect(200);
        hub.change("UPDATE mailbox SET payload = '{'");
        hub.change("UPDATE skills SET card = 'no JSON'");
        receive().refused(503, "storage_unavailable");
        hub.get("/a2a/skill/store/list").refused(503, "storage_unavailable");
    });
}
