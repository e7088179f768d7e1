//! Watching the hub's numbers.

use crate::common::economy::trusting;
use crate::common::{on_sqlite_with, request};
use axum::Router;
use capsid_store::db::tx::Tx;
use capsid_store::nodes;
use futures_util::future::join_all;
use http_body_util::BodyExt;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::time::timeout;
use tower::ServiceExt;

/// The bodies of all events of a stream.
fn parse_events(text: &str) -> Vec<Value> {
    let blocks = text.split("\n\n").filter_map(|block| block.strip_prefix("event: stats\ndata: "));
    blocks.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Reads a stream up to its second event. After the first it meets the others at the barrier.
async fn watch(router: Router, first: Arc<Barrier>) -> Vec<Value> {
    let response = router.oneshot(request("GET", "/a2a/live", None, None)).await.unwrap();
    let (mut body, mut text) = (response.into_body(), String::new());
    while parse_events(&text).len() < 2 {
        let frame = body.frame().await.expect("the stream goes on").unwrap();
        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        if parse_events(&text).len() == 1 {
            first.wait().await;
        }
    }
    parse_events(&text)
}

#[test]
fn numbers_are_told_at_once_and_when_they_change() {
    on_sqlite_with(trusting, |hub| {
        hub.register("node_a");
        let at_once = hub.get("/a2a/live?duration_ms=0");
        assert_eq!(at_once.headers["content-type"], "text/event-stream");
        assert_eq!(parse_events(&at_once.text), [hub.get("/a2a/stats").expect(200)]);
        let (router, shared) = (hub.router(), hub.hub.clone());
        let watched = hub.runtime.block_on(async move {
            let first = Arc::new(Barrier::new(3));
            let watching = [(); 2].map(|()| tokio::spawn(watch(router.clone(), Arc::clone(&first))));
            first.wait().await;
            // As another hub on the same database would write it.
            let now = shared.now();
            let register = move |tx: &mut dyn Tx| nodes::lock_or_register(tx, "node_b", 0, now);
            shared.store.write(register).await.unwrap();
            // A slow database is counted less often.
            timeout(Duration::from_secs(100), join_all(watching)).await.unwrap()
        });
        for watched in watched {
            let counts: Vec<Value> =
                watched.unwrap().iter().map(|stats| stats["total_nodes"].clone()).collect();
            assert_eq!(counts, [1, 2]);
        }
    });
}

#[test]
fn one_address_has_only_so_many_places() {
    let hub = super::TestHub::sqlite();
    // Requests that come over no socket have this address.
    let held: Vec<_> = (0..64).map(|_| hub.hub.waiting.enter("address:local", 64).unwrap()).collect();
    hub.get("/a2a/live?duration_ms=0").refused(429, "rate_limited");
    drop(held);
    assert_eq!(hub.get("/a2a/live?duration_ms=0").status, 200);
}

#[test]
fn a_closing_hub_ends_the_stream() {
    let hub = super::TestHub::sqlite();
    let (router, shared) = (hub.router(), hub.hub.clone());
    hub.runtime.block_on(async move {
        let response = router.oneshot(request("GET", "/a2a/live", None, None)).await.unwrap();
        let mut body = response.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        shared.close();
        let rest = timeout(Duration::from_secs(60), body.collect()).await.unwrap().unwrap().to_bytes();
        assert_eq!(parse_events(std::str::from_utf8(&[first, rest].concat()).unwrap()).len(), 1);
    });
}
