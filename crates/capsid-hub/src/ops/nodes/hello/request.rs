//! What a hello says.

use super::public_key::KeyChange;
use crate::error::ApiResult;
use crate::http::validate;
use crate::runtime::hub_keys::HubKeys;
use capsid_rules::identity::secret_clients::{SecretClient, keeps_secrets};
use capsid_store::nodes::NodeProfileUpdate;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What a hello may say.
#[derive(Debug, Default, Deserialize)]
pub struct HelloRequest {
    capabilities: Option<Map<String, Value>>,
    gene_count: Option<f64>,
    capsule_count: Option<f64>,
    env_fingerprint: Option<Map<String, Value>>,
    // Whatever it is, it does not fail the hello.
    pub(super) webhook_url: Option<Value>,
    model: Option<String>,
    pub(super) name: Option<String>,
    referrer: Option<String>,
    identity_doc: Option<String>,
    constitution: Option<String>,
    rotate_secret: Option<bool>,
    public_key: Option<String>,
    public_key_signatures: Option<KeySignatures>,
}

/// What replaces a public key: the same text, signed with both.
#[derive(Debug, Default, Deserialize)]
pub(super) struct KeySignatures {
    /// Made with the present key.
    pub(super) current: String,
    /// Made with the next one.
    pub(super) next: String,
}

/// What a hello says about its machine.
pub(super) struct Machine {
    /// As it was sent, to be compared with what the node has published.
    pub(super) device_id: Option<String>,
    /// Whether its client is known to store secrets.
    pub(super) keeps_secret: bool,
    pub(super) profile: NodeProfileUpdate,
}

impl HelloRequest {
    /// Checks the texts. A name that is refused does not fail the hello.
    pub(super) fn check(&self) -> ApiResult<()> {
        let limits = [
            (&self.model, "payload.model", 200),
            (&self.referrer, "payload.referrer", 128),
            (&self.identity_doc, "payload.identity_doc", 8000),
            (&self.constitution, "payload.constitution", 8000),
        ];
        for (value, path, most) in limits {
            validate::text_or(value.as_deref(), path, most)?;
        }
        Ok(())
    }

    pub(super) fn rotates(&self) -> bool {
        self.rotate_secret == Some(true)
    }

    pub(super) fn key_change(&self) -> ApiResult<Option<KeyChange>> {
        KeyChange::parse(self.public_key.as_deref(), self.public_key_signatures.as_ref())
    }

    /// What it says about its machine, here or beside the payload.
    pub(super) fn machine(
        &self,
        beside: Option<Map<String, Value>>,
        keys: &HubKeys,
        clients: &[SecretClient],
    ) -> Machine {
        let print = self.env_fingerprint.clone().or(beside);
        let text = |key: &str| {
            let text = print.as_ref()?.get(key)?.as_str()?;
            Some(capsid_model::text::cut(text, 200).to_owned())
        };
        let count = |value: Option<f64>| value.filter(|n| (0.0..1e9).contains(n)).map(|n| n as i64);
        let declared =
            self.capabilities.as_ref().and_then(|all| all.get("node_secret")) == Some(&Value::Bool(true));
        let device_id = text("device_id").filter(|device| !device.trim().is_empty());
        let profile = NodeProfileUpdate {
            name: None,
            model: self.model.clone().or_else(|| text("model")),
            referrer: self.referrer.clone(),
            device_hash: device_id.as_deref().map(|device| keys.hash_device(device)),
            env_fingerprint: print.clone().and_then(without_device),
            gene_count: count(self.gene_count),
            capsule_count: count(self.capsule_count),
        };
        Machine {
            keeps_secret: keeps_secrets(
                clients,
                declared,
                text("client").as_deref(),
                text("client_version").as_deref(),
            ),
            device_id,
            profile,
        }
    }
}

/// A fingerprint without what names the machine.
fn without_device(mut print: Map<String, Value>) -> Option<String> {
    print.retain(|key, _| !key.to_ascii_lowercase().contains("device"));
    serde_json::to_string(&print).ok().filter(|json| json.len() <= 8192)
}
