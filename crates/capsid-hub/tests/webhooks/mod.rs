//! Webhooks: registered, called, signed, repeated, given up, sent again; and never into a network that is not public.

mod addresses;
mod delivery;
mod owners;
mod receiver;
mod registration;

use crate::common::{TestHub, both_with, on_sqlite_with};
use capsid_hub::config::HubConfig;
use capsid_hub::webhooks::worker::WebhookWorker;
use capsid_store::notifications::deliveries::calls::DeliverySettlement;
use serde_json::{Value, json};

/// Runs a test on both databases, with a hub that may call this machine.
fn both(test: impl Fn(&TestHub)) {
    both_with(allow_local, test);
}

/// The same on SQLite alone.
fn on_sqlite(test: impl Fn(&TestHub)) {
    on_sqlite_with(allow_local, test);
}

fn allow_local(config: &mut HubConfig) {
    config.allow_local_webhooks = true;
    config.webhooks.timeout_ms = 400;
    config.limits.hello.count = 1_000_000;
    config.limits.other.count = 1_000_000;
}

/// A node with a webhook.
struct Hooked {
    node: String,
    /// The node's own secret.
    secret: String,
    /// What calls are signed with.
    webhook_secret: String,
}

impl Hooked {
    fn new(hub: &TestHub, node: &str, url: &str) -> Self {
        let secret = hub.register(node);
        let told = hub.message_as(node, &secret, "hello", json!({"webhook_url": url})).expect(200);
        assert_eq!(told["webhook_status"], "registered", "{told}");
        let webhook_secret = told["webhook_secret"].as_str().unwrap().to_owned();
        Self { node: node.to_owned(), secret, webhook_secret }
    }

    /// Queues an event, and gives its id.
    fn ping(&self, hub: &TestHub) -> String {
        let told = hub.post_as(&self.secret, "/a2a/webhook/test", &json!({"node_id": self.node})).expect(200);
        told["delivery_id"].as_str().unwrap().to_owned()
    }

    /// How it stands with the webhook.
    fn webhook(&self, hub: &TestHub) -> Value {
        hub.get_as(&self.secret, &format!("/a2a/webhook?node_id={}", self.node)).expect(200)
    }

    /// The newest delivery.
    fn newest(&self, hub: &TestHub) -> Value {
        let path = format!("/a2a/webhook/deliveries?node_id={}&limit=1", self.node);
        hub.get_as(&self.secret, &path).expect(200)["deliveries"][0].clone()
    }
}

/// Makes every call that is due.
fn work(hub: &TestHub) -> Vec<DeliverySettlement> {
    let worker = WebhookWorker::new(&hub.hub);
    hub.runtime.block_on(worker.run_due()).unwrap()
}
