//! A hub on a database of its own, asked through its router, at a time that the test sets.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request};
use capsid_hub::auth::credentials::Credentials;
use capsid_hub::auth::sender::Sender;
use capsid_hub::config::HubConfig;
use capsid_hub::error::{ApiError, HubCode};
use capsid_hub::random::SystemRandom;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::time::{Clock, Time};
use capsid_store::{Store, StoreOptions};
use capsid_testkit::postgres::{TestDatabase, TestPostgres};
use capsid_testkit::sqlite;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tower::ServiceExt;

pub const HOME: &str = "192.0.2.1";
pub const ELSEWHERE: &str = "198.51.100.7";
pub const PASSWORD: &str = "correct horse";

/// A clock that goes on when it is told to.
pub struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }
}

/// The hub comes before its database, so that it ends first.
pub struct TestAccounts {
    pub clock: Arc<HandClock>,
    pub hub: SharedHub,
    pub router: Router,
    pub folder: tempfile::TempDir,
    _database: Option<TestDatabase>,
}

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub bytes: Vec<u8>,
}

impl Got {
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"], code, "{body}");
        assert!(!body["correction"]["fix"].as_str().unwrap().is_empty());
        body
    }
}

/// One request that is being put together.
pub struct Ask<'a> {
    desk: &'a TestAccounts,
    method: &'static str,
    path: String,
    from: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Ask<'_> {
    pub fn from(mut self, address: &'static str) -> Self {
        self.from = address;
        self
    }

    pub fn token(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.text(body.to_string()).header("content-type", "application/json")
    }

    pub fn text(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn form(self, body: &str) -> Self {
        self.text(body).header("content-type", "application/x-www-form-urlencoded")
    }

    pub async fn send(self) -> Got {
        let mut request = Request::builder().method(self.method).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut request = request.body(Body::from(self.body)).unwrap();
        let address = SocketAddr::new(self.from.parse().unwrap(), 50_000);
        request.extensions_mut().insert(ConnectInfo(address));
        let response = self.desk.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        Got { status, headers, text: String::from_utf8_lossy(&bytes).into_owned(), bytes: bytes.to_vec() }
    }
}

impl TestAccounts {
    /// On SQLite.
    pub fn new() -> Self {
        Self::with(HubConfig::default())
    }

    /// On SQLite, with settings.
    pub fn with(config: HubConfig) -> Self {
        Self::on(None, config)
    }

    /// One on SQLite and one on PostgreSQL.
    pub fn both() -> [Self; 2] {
        [None, Some(TestPostgres::database())].map(|database| Self::on(database, HubConfig::default()))
    }

    fn on(database: Option<TestDatabase>, config: HubConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(HandClock(AtomicI64::new(1_770_000_000_000)));
        if database.is_none() {
            sqlite::place_database(folder.path());
        }
        let options =
            StoreOptions::new(folder.path(), database.as_ref().map(|database| database.url.clone()));
        let given = Arc::clone(&clock);
        // Making a hub waits for the database, which a thread of the runtime may not.
        let made = std::thread::spawn(move || {
            let store = Store::open(&options, given.now()).unwrap();
            Hub::new(store, config, given, Arc::new(SystemRandom)).unwrap()
        });
        let hub = made.join().unwrap();
        let (router, _) = capsid_hub::router::router(&hub);
        Self { clock, hub, router, folder, _database: database }
    }

    /// Lets time pass.
    pub fn wait(&self, ms: i64) {
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn ask(&self, method: &'static str, path: impl Into<String>) -> Ask<'_> {
        Ask { desk: self, method, path: path.into(), from: HOME, headers: Vec::new(), body: Vec::new() }
    }

    pub fn post(&self, path: impl Into<String>) -> Ask<'_> {
        self.ask("POST", path)
    }

    pub fn get(&self, path: impl Into<String>) -> Ask<'_> {
        self.ask("GET", path)
    }

    /// Makes an account and gives its token.
    pub async fn account(&self, email: &str) -> String {
        let body = json!({"email": email, "password": PASSWORD});
        let made = self.post("/auth/register").json(&body).send().await.expect(201);
        made["token"].as_str().unwrap().to_owned()
    }

    pub async fn login(&self, email: &str, password: &str, from: &'static str) -> Got {
        let body = json!({"email": email, "password": password});
        self.post("/auth/login").from(from).json(&body).send().await
    }

    pub async fn new_key(&self, token: &str) -> Got {
        self.post("/account/api-keys").token(token).json(&json!({})).send().await
    }

    pub async fn hello(&self, node: &str, secret: Option<&str>) -> Value {
        let message = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": "hello", "message_id": "m",
            "sender_id": node, "timestamp": "2025-01-15T08:30:00Z", "payload": {},
        });
        let ask = self.post("/a2a/hello").json(&message);
        let ask = if let Some(secret) = secret { ask.token(secret) } else { ask };
        ask.send().await.expect(200)["payload"].clone()
    }

    /// Says hello for a node and gives its claim code.
    pub async fn code_of(&self, node: &str) -> String {
        self.hello(node, None).await["claim_code"].as_str().unwrap().to_owned()
    }

    /// Makes an account that owns a node: its token and the node's secret, which was shown.
    pub async fn owner_of(&self, node: &str, email: &str) -> (String, String) {
        let token = self.account(email).await;
        let met = self.hello(node, None).await;
        let secret = met["node_secret"].as_str().unwrap().to_owned();
        self.hello(node, Some(&secret)).await;
        let claim = self.post(format!("/claim/{}", met["claim_code"].as_str().unwrap())).token(&token);
        claim.send().await.expect(200);
        (token, secret)
    }

    /// Whether a request with these credentials may act for a node.
    pub async fn act(&self, node: &str, credentials: Credentials) -> Result<(), HubCode> {
        let (context, sender) = (self.hub.context(), Sender::new(node, credentials));
        let acted = self.hub.store.write(move |tx| sender.lock(tx, &context).map(drop));
        acted.await.map_err(|error: ApiError| error.code)
    }
}

pub fn session(token: &str) -> Credentials {
    Credentials { session: Some(token.to_owned()), ..Credentials::default() }
}

pub fn key(text: &str) -> Credentials {
    Credentials { api_key: Some(text.to_owned()), ..Credentials::default() }
}

pub fn secret(text: &str) -> Credentials {
    Credentials { secret: Some(text.to_owned()), ..Credentials::default() }
}
