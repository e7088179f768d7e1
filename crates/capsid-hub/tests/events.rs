//! Events by stream, poll and heartbeat, on both databases.

use crate::common::{TestHub, both, on_sqlite, send};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use capsid_store::notifications::events;
use capsid_testkit::wait;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tower::ServiceExt;

/// Leaves an event for a node and wakes whoever waits.
fn add_event(hub: &TestHub, node: &str, n: u64) {
    let (node, now) = (node.to_owned(), hub.hub.now());
    let payload = json!({"n": n}).to_string();
    hub.hub.store.write_now(move |tx| events::insert_event(tx, &node, "hub_note", &payload, now)).unwrap();
    hub.hub.events.notify();
}

fn poll(hub: &TestHub, body: Value) -> Value {
    hub.post("/a2a/events/poll", &body).expect(200)
}

fn numbers(events: &Value) -> Vec<u64> {
    events.as_array().unwrap().iter().map(|event| event["payload"]["n"].as_u64().unwrap()).collect()
}

/// Everything a stream says until it ends, beginning after `last`.
fn stream(hub: &TestHub, node: &str, last: Option<&str>, duration_ms: u64) -> String {
    let uri = format!("/a2a/events/stream?node_id={node}&duration_ms={duration_ms}");
    let mut request = Request::builder().uri(uri);
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    let answer = hub.runtime.block_on(send(hub.router(), request.body(Body::empty()).unwrap()));
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    answer.text
}

/// The ids and numbers of the events in a stream.
fn streamed(text: &str) -> Vec<(String, u64)> {
    let blocks = text.split("\n\n").filter(|block| block.starts_with("id: "));
    blocks
        .map(|block| {
            let (id, data) = block.split_once("\ndata: ").unwrap();
            let data: Value = serde_json::from_str(data).unwrap();
            (id.strip_prefix("id: ").unwrap().to_owned(), data["payload"]["n"].as_u64().unwrap())
        })
        .collect()
}

#[test]
fn a_poll_answers_at_once_when_there_is_something_and_tells_it_once() {
    both(|hub| {
        hub.register("node_a");
        add_event(hub, "node_a", 1);
        add_event(hub, "node_b", 2);
        add_event(hub, "node_a", 3);
        let began = Instant::now();
        let first = poll(hub, json!({"node_id": "node_a", "timeout_ms": 25_000}));
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(numbers(&first["events"]), [1, 3]);
        assert_eq!(first["events"][0]["type"], "hub_note");
        assert!(first["events"][0]["id"].as_str().unwrap().starts_with("evt_"));
        assert_eq!(poll(hub, json!({"node_id": "node_a", "timeout_ms": 0}))["events"], json!([]));
        let envelope = hub.envelope("node_b", "events_poll", json!({"timeout_ms": 0}));
        assert_eq!(numbers(&poll(hub, envelope)["events"]), [2]);
        assert_eq!(poll(hub, json!({"node_id": "node_x", "timeout_ms": 0}))["events"], json!([]));
    });
}

#[test]
fn a_client_with_a_cursor_is_told_again_what_did_not_arrive() {
    on_sqlite(|hub| {
        (1..=3).for_each(|n| add_event(hub, "node_a", n));
        let ask = |after: Value| poll(hub, json!({"node_id": "node_a", "timeout_ms": 0, "after": after}));
        let all = ask(json!(0));
        assert_eq!(numbers(&all["events"]), [1, 2, 3]);
        assert_eq!(numbers(&ask(json!("0"))["events"]), [1, 2, 3], "nothing says that it arrived");
        let first = &all["events"][0];
        assert_eq!(numbers(&ask(first["seq"].clone())["events"]), [2, 3]);
        assert_eq!(numbers(&ask(first["id"].clone())["events"]), [2, 3]);
        assert_eq!(ask(all["cursor"].clone())["events"], json!([]));
        assert_eq!(numbers(&ask(json!(i64::MAX))["events"]), [1, 2, 3], "a cursor of another database");
        assert_eq!(
            poll(hub, json!({"node_id": "node_a", "timeout_ms": 0}))["events"],
            json!([]),
            "it has arrived"
        );
    });
}

#[test]
fn a_waiting_poll_is_woken() {
    both(|hub| {
        let waiting = start_poll(hub);
        add_event(hub, "node_a", 7);
        let answer = hub.runtime.block_on(waiting).unwrap();
        assert_eq!(numbers(&answer.expect(200)["events"]), [7]);
    });
}

#[test]
fn an_event_that_nobody_rings_for_is_found_too() {
    both(|hub| {
        let waiting = start_poll(hub);
        let now = hub.hub.now();
        hub.hub
            .store
            .write_now(move |tx| events::insert_event(tx, "node_a", "hub_note", r#"{"n":8}"#, now))
            .unwrap();
        let answer = hub.runtime.block_on(waiting).unwrap();
        assert_eq!(numbers(&answer.expect(200)["events"]), [8]);
    });
}

/// A poll that waits: it has looked for events, and listens.
fn start_poll(hub: &TestHub) -> tokio::task::JoinHandle<crate::common::TestResponse> {
    let waiting = hub.runtime.spawn(post(hub.router(), json!({"node_id": "node_a", "timeout_ms": 25_000})));
    wait::until("the poll listens", Duration::from_secs(20), || hub.hub.events.listeners() == 1);
    waiting
}

async fn post(router: Router, body: Value) -> crate::common::TestResponse {
    send(
        router,
        crate::common::request("POST", "/a2a/events/poll", None, Some(body.to_string().into_bytes())),
    )
    .await
}

#[test]
fn a_heartbeat_tells_events_once() {
    on_sqlite(|hub| {
        hub.register("node_a");
        add_event(hub, "node_a", 1);
        let beat = || hub.post("/a2a/heartbeat", &json!({"node_id": "node_a"})).expect(200);
        assert_eq!(numbers(&beat()["pending_events"]), [1]);
        assert_eq!(beat()["pending_events"], json!([]));
        add_event(hub, "node_a", 2);
        assert_eq!(numbers(&beat()["pending_events"]), [2]);
        // Each way tells for itself: what got lost on one arrives on another.
        assert_eq!(numbers(&poll(hub, json!({"node_id": "node_a", "timeout_ms": 0}))["events"]), [1, 2]);
    });
}

#[test]
fn events_expire_after_a_week() {
    on_sqlite(|hub| {
        add_event(hub, "node_a", 1);
        hub.clock.advance(6 * 24 * 3_600_000);
        add_event(hub, "node_a", 2);
        hub.clock.advance(24 * 3_600_000);
        let now = hub.hub.now();
        assert_eq!(
            numbers(&poll(hub, json!({"node_id": "node_a", "timeout_ms": 0, "after": 0}))["events"]),
            [2]
        );
        assert_eq!(hub.hub.store.write_now(move |tx| events::forget_old(tx, now)).unwrap(), 1);
    });
}

#[test]
fn a_stream_begins_with_a_ping_tells_events_and_ends_in_time() {
    on_sqlite(|hub| {
        add_event(hub, "node_a", 1);
        let text = stream(hub, "node_a", None, 300);
        assert!(text.starts_with(": ping\n\n"), "{text}");
        assert_eq!(streamed(&text).iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1]);
        assert!(streamed(&stream(hub, "node_a", None, 0)).is_empty(), "told already");
    });
}

#[test]
fn a_stream_resumes_after_the_last_event() {
    on_sqlite(|hub| {
        (1..=4).for_each(|n| add_event(hub, "node_a", n));
        let all = streamed(&stream(hub, "node_a", None, 0));
        assert_eq!(all.len(), 4);
        let rest = streamed(&stream(hub, "node_a", Some(&all[1].0), 0));
        assert_eq!(rest, all[2..]);
        assert_eq!(streamed(&stream(hub, "node_a", Some(&format!("evt_{}", all[2].0)), 0)), all[3..]);
        assert_eq!(streamed(&stream(hub, "node_a", Some("0"), 0)), all);
        for bad in ["x", "-1", "1.5", "99999999999999999999"] {
            let request =
                Request::builder().uri("/a2a/events/stream?node_id=node_a").header("Last-Event-ID", bad);
            let answer = hub.runtime.block_on(send(hub.router(), request.body(Body::empty()).unwrap()));
            answer.refused(400, "invalid_cursor");
        }
    });
}

#[test]
fn an_open_stream_hears_what_comes_later_and_ends_when_the_hub_closes() {
    on_sqlite(|hub| {
        let request =
            Request::builder().uri("/a2a/events/stream?node_id=node_a").body(Body::empty()).unwrap();
        let mut body = hub.runtime.block_on(hub.router().oneshot(request)).unwrap().into_body();
        let mut next = || hub.runtime.block_on(body.frame()).map(|frame| frame.unwrap().into_data().unwrap());
        assert_eq!(next().unwrap(), ": ping\n\n");
        add_event(hub, "node_a", 5);
        let text = String::from_utf8(next().unwrap().to_vec()).unwrap();
        assert_eq!(streamed(&text)[0].1, 5);
        hub.hub.events.close();
        assert_eq!(next(), None);
        let began = Instant::now();
        assert_eq!(
            poll(hub, json!({"node_id": "node_a", "timeout_ms": 25_000, "after": "evt_1"}))["count"],
            0
        );
        assert!(began.elapsed() < Duration::from_secs(20));
    });
}

#[test]
fn a_stream_or_poll_with_a_wrong_field_is_refused() {
    on_sqlite(|hub| {
        for query in ["", "?node_id=", "?node_id=a%2Fb", "?node_id=a&node_id=b", "?node_id=%E2%80%AEa"] {
            let answer = hub.get(&format!("/a2a/events/stream{query}"));
            assert_eq!(answer.status, 400, "{answer}");
            answer.explains();
        }
        hub.hub.events.close();
        for odd in ["abc", "-5", "1e9", ""] {
            let answer = hub.get(&format!("/a2a/events/stream?node_id=node_a&duration_ms={odd}"));
            assert_eq!(answer.status, 200, "{answer}");
        }
        for after in [json!(-1), json!(1.5), json!("x"), json!([]), json!({}), json!(true), json!("evt_-1")] {
            let body = json!({"node_id": "node_a", "timeout_ms": 0, "after": after});
            hub.post("/a2a/events/poll", &body).refused(400, "invalid_cursor");
        }
        for body in [
            json!({}),
            json!({"node_id": 5}),
            json!({"node_id": "a b"}),
            json!({"node_id": "node_a", "sender_id": "node_b"}),
            json!({"node_id": "node_a", "timeout_ms": "5"}),
            json!({"node_id": "node_a", "payload": 5}),
        ] {
            hub.post("/a2a/events/poll", &body).refused(400, "validation_error");
        }
        let other = hub.envelope("node_a", "hello", json!({}));
        hub.post("/a2a/events/poll", &other).refused(400, "message_type_mismatch");
    });
}
