//! A caller at an address of its own.

use super::{TestHub, TestResponse, request, send};
use axum::extract::ConnectInfo;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Sends requests from one address.
pub struct TestCaller<'a> {
    hub: &'a TestHub,
    address: SocketAddr,
}

impl TestHub {
    /// Somebody at an address.
    pub fn from(&self, address: &str) -> TestCaller<'_> {
        TestCaller { hub: self, address: SocketAddr::new(address.parse().unwrap(), 50_000) }
    }
}

impl TestCaller<'_> {
    pub fn call(&self, method: &str, path: &str, bearer: Option<&str>, body: Option<&Value>) -> TestResponse {
        let mut request = request(method, path, bearer, body.map(|body| body.to_string().into_bytes()));
        request.extensions_mut().insert(ConnectInfo(self.address));
        self.hub.runtime.block_on(send(self.hub.router(), request))
    }

    pub fn get(&self, path: &str, bearer: Option<&str>) -> TestResponse {
        self.call("GET", path, bearer, None)
    }

    pub fn post(&self, path: &str, bearer: Option<&str>, body: &Value) -> TestResponse {
        self.call("POST", path, bearer, Some(body))
    }

    /// A message in an envelope, with a new message id.
    pub fn message(&self, node: &str, secret: Option<&str>, kind: &str, payload: Value) -> TestResponse {
        self.post(&format!("/a2a/{kind}"), secret, &self.hub.envelope(node, kind, payload))
    }

    pub fn hello(&self, node: &str, secret: Option<&str>, payload: Value) -> TestResponse {
        self.message(node, secret, "hello", payload)
    }

    pub fn heartbeat(&self, node: &str, secret: Option<&str>) -> TestResponse {
        self.post("/a2a/heartbeat", secret, &json!({"node_id": node}))
    }
}
