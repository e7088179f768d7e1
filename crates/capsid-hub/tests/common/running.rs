//! A hub that runs within the test and listens on a socket.

use axum::Router;
use capsid_hub::config::HubConfig;
use capsid_hub::random::SeededRandom;
use capsid_hub::router;
use capsid_hub::run::serve_hub;
use capsid_hub::server::serve_router;
use capsid_hub::state::{Hub, SharedHub};
use capsid_model::time::{Clock, SystemClock};
use capsid_store::{Store, StoreOptions};
use serde_json::Value;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A hub that runs within the test.
pub struct Running {
    pub base: String,
    pub address: std::net::SocketAddr,
    pub hub: SharedHub,
    stop: Option<oneshot::Sender<()>>,
    ends: JoinHandle<capsid_model::problem::Result<()>>,
    pub client: reqwest::Client,
    _data: tempfile::TempDir,
}

impl Running {
    pub async fn start(config: HubConfig) -> Self {
        Self::start_with(config, None).await
    }

    /// Starts a hub, or its server around other routes.
    pub async fn start_with(config: HubConfig, routes: Option<Router>) -> Self {
        Self::start_by(Arc::new(SystemClock), config, routes).await
    }

    /// The same by another clock.
    pub async fn start_by(clock: Arc<dyn Clock>, mut config: HubConfig, routes: Option<Router>) -> Self {
        let data = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        config.listen = address;
        config.data = data.path().to_owned();
        let folder = data.path().to_owned();
        let hub = tokio::task::spawn_blocking(move || {
            if config.database.is_none() {
                capsid_testkit::sqlite::place_database(&folder);
            }
            let options = StoreOptions::new(folder, config.database.clone());
            let store = Store::open(&options, SystemClock.now()).unwrap();
            Hub::new(store, config, clock, Arc::new(SeededRandom::new(7))).unwrap()
        });
        let hub = hub.await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let ends = match routes {
            None => tokio::spawn(serve_hub(Arc::clone(&hub), listener, stopped)),
            Some(routes) => {
                let routes = router::finish(routes, &hub);
                tokio::spawn(serve_router(Arc::clone(&hub), routes, listener, stopped))
            }
        };
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { base: hub.config.base_url(), address, hub, stop: Some(stop), ends, client, _data: data }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        read_json(self.client.get(self.url(path)).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
        read_json(self.client.post(self.url(path)).body(body).send().await.unwrap()).await
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    pub async fn stop(mut self) {
        self.stop.take();
        self.ends.await.unwrap().unwrap();
    }
}

/// The status and the body of a JSON response.
pub async fn read_json(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/json"), "{status}: {kind}");
    (status, response.json().await.unwrap())
}
