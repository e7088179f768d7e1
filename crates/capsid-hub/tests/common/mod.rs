//! A hub inside the test, without a socket: on SQLite, on PostgreSQL, or the same test on both.
//!
//! ```ignore
//! mod common;
//! use common::{Bundle, both};
//!
//! #[test]
//! fn a_bundle_is_there_once_it_was_published() {
//!     both(|hub| {
//!         let secret = hub.register("node_a");
//!         let bundle = Bundle::new(1);
//!         hub.publish("node_a", &bundle).expect(200);
//!         hub.message_as("node_a", &secret, "fetch", json!({"asset_type": "Capsule"})).expect(200);
//!         hub.clock.advance(60_000);
//!         assert_eq!(hub.get("/a2a/stats").expect(200)["total_assets"], 1);
//!     });
//! }
//! ```
//!
//! The clock stands still until it is advanced, and chance begins at the same seed, so two hubs that get the same
//! requests give the same answers. Settings other than the usual ones: `TestHub::start(On::Sqlite, |config| …)`.
//! Several requests at once: `hub.runtime.block_on(…)` with `hub.router()`.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_pass_by_value)]

pub mod bundle;
pub mod caller;
pub mod economy;
pub mod mutate;
pub mod names;
pub mod running;
pub mod samples;
pub mod work;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
pub use bundle::Bundle;
use capsid_hub::config::HubConfig;
use capsid_hub::random::SeededRandom;
use capsid_hub::router::router;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::time::{Clock, Time};
use capsid_store::{Store, StoreOptions};
use capsid_testkit::postgres::{TestDatabase, TestPostgres};
use capsid_testkit::sqlite;
use http_body_util::BodyExt;
pub use names::Names;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// When the clock of a test begins: 2026-01-01T00:00:00Z.
pub const START: Time = Time(1_767_225_600_000);

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Sqlite,
    Postgres,
}

/// Runs a test on SQLite, then on PostgreSQL.
pub fn both(test: impl Fn(&TestHub)) {
    for on in [On::Sqlite, On::Postgres] {
        println!("on {on:?}");
        test(&TestHub::start(on, |_| {}));
    }
}

/// The same with settings.
pub fn both_with(change: impl Fn(&mut HubConfig), test: impl Fn(&TestHub)) {
    for on in [On::Sqlite, On::Postgres] {
        println!("on {on:?}");
        test(&TestHub::start(on, &change));
    }
}

/// Runs a test on SQLite alone: for what happens before or after the database. CONTRIBUTING.md has the rule.
pub fn on_sqlite(test: impl Fn(&TestHub)) {
    on_sqlite_with(|_| {}, test);
}

/// The same with settings.
pub fn on_sqlite_with(change: impl Fn(&mut HubConfig), test: impl Fn(&TestHub)) {
    test(&TestHub::start(On::Sqlite, change));
}

/// A clock that stands still until it is advanced.
#[derive(Debug)]
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn at(time: Time) -> Self {
        Self(AtomicI64::new(time.0))
    }

    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }
}

/// A hub with a database of its own.
pub struct TestHub {
    // The order matters: the hub lets go of its database before that is dropped.
    router: Router,
    pub hub: SharedHub,
    pub clock: Arc<TestClock>,
    /// What names stand for.
    pub names: Arc<Names>,
    pub runtime: Runtime,
    pub on: On,
    /// What `/openapi.json` says.
    pub description: Arc<Value>,
    messages: AtomicU64,
    /// How many requests have begun, and how many of them have ended.
    begun: AtomicU64,
    ended: AtomicU64,
    place: HubData,
}

/// Where a hub keeps its data.
struct HubData {
    database: Option<TestDatabase>,
    data: tempfile::TempDir,
    /// How often a hub began there.
    starts: u64,
}

impl TestHub {
    pub fn sqlite() -> Self {
        Self::start(On::Sqlite, |_| {})
    }

    pub fn postgres() -> Self {
        Self::start(On::Postgres, |_| {})
    }

    /// A hub on a new database, with the usual settings changed.
    pub fn start(on: On, change: impl FnOnce(&mut HubConfig)) -> Self {
        let place = HubData {
            database: (on == On::Postgres).then(TestPostgres::database),
            data: tempfile::tempdir().unwrap(),
            starts: 0,
        };
        let mut config = HubConfig {
            data: place.data.path().to_owned(),
            database: place.database.as_ref().map(|database| database.url.clone()),
            public_url: Some("http://hub.test".to_owned()),
            ..HubConfig::default()
        };
        config.timeouts.publication = Duration::from_millis(200);
        change(&mut config);
        Self::open(on, place, config)
    }

    fn open(on: On, mut place: HubData, config: HubConfig) -> Self {
        place.starts += 1;
        if on == On::Sqlite {
            sqlite::place_database(&config.data);
        }
        let clock = Arc::new(TestClock(AtomicI64::new(START.0)));
        let options = StoreOptions {
            readers: 2,
            writers: 4,
            min_free_bytes: config.admission.min_free_bytes,
            ..StoreOptions::new(&config.data, config.database.clone())
        };
        let store = Store::open(&options, START).unwrap();
        // With the chance of an earlier start it would draw the same tokens again.
        let random = Arc::new(SeededRandom::new(place.starts));
        let names = Arc::new(Names::default());
        let (time, found) = (Arc::clone(&clock), Arc::clone(&names));
        let hub = Hub::with_resolver(store, config, time, random, found).unwrap();
        let (router, description) = router(&hub);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self {
            router,
            hub,
            clock,
            names,
            runtime,
            on,
            description,
            messages: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            place,
        }
    }

    /// Closes the hub and opens another one on the same data.
    pub fn restart(self) -> Self {
        self.restart_with(|_| {})
    }

    /// The same with settings changed.
    pub fn restart_with(self, change: impl FnOnce(&mut HubConfig)) -> Self {
        let Self { router, hub, clock, runtime, on, messages, place, .. } = self;
        let mut config = HubConfig::clone(&hub.config);
        change(&mut config);
        drop((router, runtime, hub));
        let again = Self::open(on, place, config);
        again.clock.0.store(clock.now().0, Ordering::SeqCst);
        Self { messages, ..again }
    }

    /// Brings everything that was written into the index, as a running hub does a moment later.
    pub fn follow(&self) {
        self.hub.store.follow_all(self.clock.now()).unwrap();
    }

    /// Changes the index behind the hub's back.
    pub fn change_index(&self, sql: &'static str) {
        self.hub.store.write_index(|tx| tx.run(sql, &[])).unwrap();
    }

    /// The router, for tests that send several requests at once.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    pub fn get(&self, path: &str) -> TestResponse {
        self.call("GET", path, None, None)
    }

    pub fn get_as(&self, bearer: &str, path: &str) -> TestResponse {
        self.call("GET", path, Some(bearer), None)
    }

    pub fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.call("POST", path, None, Some(body.to_string().into_bytes()))
    }

    pub fn post_as(&self, bearer: &str, path: &str, body: &Value) -> TestResponse {
        self.call("POST", path, Some(bearer), Some(body.to_string().into_bytes()))
    }

    /// How often the hub has compared a secret, a session token or an API key.
    pub fn authentications(&self) -> u64 {
        self.hub.authentications.load(Ordering::Relaxed)
    }

    /// Any request at all.
    pub fn call(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> TestResponse {
        self.runtime.block_on(async {
            let (ended, begun) =
                (self.ended.load(Ordering::SeqCst), self.begun.fetch_add(1, Ordering::SeqCst));
            let before = self.authentications();
            let answered = send(self.router(), request(method, path, bearer, body)).await;
            let compared = self.authentications() - before;
            // Others count too where requests are sent at once.
            let is_alone = ended == begun && self.begun.load(Ordering::SeqCst) == begun + 1;
            assert!(compared <= 1 || !is_alone, "{method} {path} compares credentials {compared} times");
            self.ended.fetch_add(1, Ordering::SeqCst);
            // Use is counted a little later; a test sees it counted.
            self.hub.usage.flush().await.unwrap();
            answered
        })
    }

    /// Sends a message in an envelope, with a new message id, to the endpoint of its type.
    pub fn message(&self, sender: &str, kind: &str, payload: Value) -> TestResponse {
        self.post(&format!("/a2a/{kind}"), &self.envelope(sender, kind, payload))
    }

    /// The same with a node's secret.
    pub fn message_as(&self, sender: &str, secret: &str, kind: &str, payload: Value) -> TestResponse {
        self.post_as(secret, &format!("/a2a/{kind}"), &self.envelope(sender, kind, payload))
    }

    /// An envelope with a new message id.
    pub fn envelope(&self, sender: &str, kind: &str, payload: Value) -> Value {
        let n = self.messages.fetch_add(1, Ordering::SeqCst);
        json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
            "message_id": format!("msg_{n}"), "sender_id": sender,
            "timestamp": self.clock.now().iso(), "payload": payload,
        })
    }

    /// Says hello and gives the node's secret, which is not used yet.
    pub fn register(&self, node: &str) -> String {
        let answer = self.message(node, "hello", json!({})).expect(200);
        answer["node_secret"].as_str().unwrap().to_owned()
    }

    /// Lets a node take an asset on trial, so that its report counts. One that the hub does not know says hello before.
    pub fn take_on_trial(&self, node: &str, asset: &str) -> TestResponse {
        let ask = || self.message(node, "fetch", json!({"asset_ids": [asset], "trial": true}));
        let answer = ask();
        if !answer.text.contains("trial_not_allowed") {
            return answer;
        }
        self.message(node, "hello", json!({}));
        ask()
    }

    /// Publishes a bundle without a secret.
    pub fn publish(&self, node: &str, bundle: &Bundle) -> TestResponse {
        self.message(node, "publish", bundle.payload())
    }

    /// Fills the hub with so many bundles of three nodes, and gives them.
    pub fn fill(&self, count: u64) -> Vec<Bundle> {
        let bundles: Vec<_> = (0..count).map(Bundle::new).collect();
        for (n, bundle) in bundles.iter().enumerate() {
            self.publish(&format!("node_{}", n % 3), bundle).expect(200);
        }
        bundles
    }

    /// Everything in the database, in an order that does not depend on which one it is, with all use that was counted.
    pub fn dump(&self) -> String {
        self.runtime.block_on(self.hub.usage.flush()).unwrap();
        self.hub.store.read_now(capsid_store::backup::dump::dump).unwrap()
    }
}

/// A request as a client would send it.
pub fn request(method: &str, path: &str, bearer: Option<&str>, body: Option<Vec<u8>>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(bearer) = bearer {
        request = request.header(header::AUTHORIZATION, format!("Bearer {bearer}"));
    }
    match body {
        Some(body) => {
            request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body)).unwrap()
        }
        None => request.body(Body::empty()).unwrap(),
    }
}

/// Sends a request through a router.
pub async fn send(router: Router, request: Request<Body>) -> TestResponse {
    let asked = format!("{} {}", request.method(), request.uri());
    let response = router.oneshot(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    TestResponse { asked, status, headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}

/// What the hub answered.
#[derive(Debug, Clone)]
pub struct TestResponse {
    pub asked: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl TestResponse {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The body as JSON; panics unless the status is this one.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        self.json()
    }

    /// Panics unless it is a refusal with this status and code that says what is wrong and what to do.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"], code, "{self}");
        self.explains();
        body
    }

    /// Panics unless a refusal has a code, a problem and a fix.
    #[track_caller]
    pub fn explains(&self) {
        let body = self.json();
        for text in [&body["error"], &body["correction"]["problem"], &body["correction"]["fix"]] {
            assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{self}");
        }
    }
}

impl fmt::Display for TestResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} {}", self.asked, self.status, self.text)
    }
}
