//! Embeddings: made of assets in batches, found by questions, made anew for another model; and whatever the endpoint
//! does, the hub goes on and comes back to it.

mod endpoint;
mod failures;
mod search;
mod storage;

use crate::common::{Bundle, On, TestHub};
use capsid_hub::config::{HubConfig, SecretText};
use capsid_hub::embedding::EmbedderState;
use capsid_hub::jobs::{Job, run_due};
use capsid_store::params;
use capsid_store::search::embeddings::NearAssets;
use endpoint::Endpoint;
use serde_json::json;

const KEY: &str = "key-that-nobody-may-see";
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// Three assets in a bundle, of which the event says nothing.
const SAYING: usize = 2;

/// Runs a test on both databases, with a hub that has embeddings made by an endpoint of its own.
fn both(test: impl Fn(&TestHub, &Endpoint)) {
    for on in [On::Sqlite, On::Postgres] {
        println!("on {on:?}");
        let endpoint = Endpoint::start(64);
        test(&start(on, &endpoint, |_| {}), &endpoint);
    }
}

/// The same on SQLite alone.
fn on_sqlite(test: impl Fn(&TestHub, &Endpoint)) {
    let endpoint = Endpoint::start(64);
    test(&start(On::Sqlite, &endpoint, |_| {}), &endpoint);
}

fn start(on: On, endpoint: &Endpoint, change: impl FnOnce(&mut HubConfig)) -> TestHub {
    TestHub::start(on, |config| {
        config.search.embeddings_url = Some(endpoint.url());
        config.search.embeddings_model = "words".to_owned();
        config.search.embeddings_key = SecretText(KEY.to_owned());
        config.search.embeddings_timeout_ms = 300;
        change(config);
    })
}

/// Publishes a bundle whose gene and capsule say this.
fn publish(hub: &TestHub, n: u64, says: &str) -> Bundle {
    let bundle = Bundle::new(n).with(|bundle| {
        bundle.gene["summary"] = json!(format!("Gene that {says}."));
        bundle.capsule["summary"] = json!(format!("Capsule that {says}."));
        for signals in [&mut bundle.gene["signals_match"], &mut bundle.capsule["trigger"]] {
            *signals = json!([format!("signal_{n}")]);
        }
    });
    hub.publish("node_a", &bundle).expect(200);
    bundle
}

/// Does what is due, and tells whether embeddings were among it.
fn work(hub: &TestHub) -> bool {
    hub.clock.advance(1_000);
    hub.runtime.block_on(run_due(&hub.hub)).contains(&Job::Embedding)
}

/// The same again and again until nothing is left.
fn work_all(hub: &TestHub) {
    while work(hub) {}
}

fn near(hub: &TestHub, words: &str) -> NearAssets {
    hub.runtime.block_on(hub.hub.embedder.find_near(words))
}

fn nearest(hub: &TestHub, words: &str) -> String {
    near(hub, words).first().map(|(id, _)| id.to_string()).unwrap_or_default()
}

fn state(hub: &TestHub) -> EmbedderState {
    hub.runtime.block_on(hub.hub.embedder.state()).unwrap()
}

/// How many rows there are of a model, with a vector and without.
fn rows(hub: &TestHub, model: &'static str) -> (i64, i64) {
    hub.hub
        .store
        .read_now(move |tx| {
            tx.query_first::<(i64, i64)>(
                "SELECT COUNT(vector), COUNT(*) - COUNT(vector) FROM embeddings WHERE model = $1",
                params![model],
            )
        })
        .unwrap()
        .unwrap()
}
