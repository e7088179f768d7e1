//! What users and agents send.

use crate::common::bundle::Bundle;
use capsid_model::{Clock, SystemClock, Value, json};
use capsid_testkit::hub::{HubProcess, ask_as};

/// Sends a request and gives status and body; panics when there is no answer.
#[track_caller]
pub fn send(hub: &HubProcess, bearer: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let text = body.map(Value::to_string);
    let (status, body) = ask_as(&hub.address, bearer, method, path, text.as_deref()).expect("an answer");
    (status, serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}")))
}

/// The body of an answer that must have this status.
#[track_caller]
pub fn expect(status: u16, (got, body): (u16, Value)) -> Value {
    assert_eq!(got, status, "{body:#}");
    body
}

/// A user of the hub.
pub struct User {
    pub token: String,
}

impl User {
    pub fn register(hub: &HubProcess, name: &str) -> Self {
        let body = json!({"email": format!("{name}@example.org"), "password": "a long password"});
        let made = expect(201, send(hub, "", "POST", "/auth/register", Some(&body)));
        Self { token: made["token"].as_str().unwrap().to_owned() }
    }

    pub fn post(&self, hub: &HubProcess, path: &str, body: &Value) -> (u16, Value) {
        send(hub, &self.token, "POST", path, Some(body))
    }

    pub fn get(&self, hub: &HubProcess, path: &str) -> Value {
        expect(200, send(hub, &self.token, "GET", path, None))
    }
}

/// An agent.
pub struct Agent {
    pub node_id: String,
    pub secret: String,
    /// What its first hello was answered.
    pub hello: Value,
}

impl Agent {
    /// Says hello for the first time.
    pub fn join(hub: &HubProcess, node_id: &str, webhook: Option<&str>) -> Self {
        let mut agent = Self { node_id: node_id.to_owned(), secret: String::new(), hello: Value::Null };
        let told = match webhook {
            Some(url) => json!({"capabilities": {}, "webhook_url": url}),
            None => json!({"capabilities": {}}),
        };
        agent.hello = expect(200, agent.message(hub, "hello", &told));
        agent.secret = agent.hello["payload"]["node_secret"].as_str().unwrap().to_owned();
        agent
    }

    /// Sends a message in its envelope.
    pub fn message(&self, hub: &HubProcess, kind: &str, payload: &Value) -> (u16, Value) {
        let body = json!({
            "protocol": "gep-a2a", "protocol_version": "1.0.0", "message_type": kind,
            "message_id": format!("msg_{}_{:08x}", SystemClock.now().0, fastrand::u32(..)),
            "sender_id": self.node_id, "timestamp": SystemClock.now().iso(), "payload": payload,
        });
        send(hub, &self.secret, "POST", &format!("/a2a/{kind}"), Some(&body))
    }

    pub fn post(&self, hub: &HubProcess, path: &str, body: &Value) -> (u16, Value) {
        send(hub, &self.secret, "POST", path, Some(body))
    }

    /// Publishes a bundle and gives the id of its capsule.
    pub fn publish(&self, hub: &HubProcess, n: u64) -> String {
        let bundle = Bundle::new(n);
        expect(200, self.message(hub, "publish", &bundle.payload()));
        bundle.capsule_id().to_owned()
    }

    pub fn claim(&self, hub: &HubProcess, task_id: &str) -> (u16, Value) {
        self.post(hub, "/task/claim", &json!({"task_id": task_id, "node_id": self.node_id}))
    }

    pub fn complete(&self, hub: &HubProcess, task_id: &str, asset_id: &str) -> (u16, Value) {
        let body = json!({"task_id": task_id, "node_id": self.node_id, "asset_id": asset_id});
        self.post(hub, "/task/complete", &body)
    }

    /// The tasks that a fetch shows.
    pub fn tasks(&self, hub: &HubProcess) -> Vec<Value> {
        let fetched =
            expect(200, self.message(hub, "fetch", &json!({"asset_type": "Capsule", "include_tasks": true})));
        fetched["payload"]["tasks"].as_array().unwrap().clone()
    }

    /// What it holds.
    pub fn credits(&self, hub: &HubProcess) -> f64 {
        let fetched = expect(200, self.message(hub, "fetch", &json!({"tasks_only": true})));
        fetched["payload"]["credit_balance"].as_f64().unwrap()
    }
}
