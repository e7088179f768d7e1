//! The public key of a node: a secret proves who calls, a key proves what was sent.

use super::request::KeySignatures;
use crate::auth::public_key::{is_signed_by, read_bytes, read_key};
use crate::error::{ApiError, ApiResult, HubCode};
use capsid_model::hash::hex;
use capsid_model::time::Time;
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};

/// A key that a hello brings, and what allows it to replace another one.
#[derive(Debug, Clone)]
pub(super) struct KeyChange {
    key: [u8; 32],
    signatures: Option<[Vec<u8>; 2]>,
}

impl KeyChange {
    /// Reads a key and signatures, each as hexadecimal digits or base64.
    pub(super) fn parse(key: Option<&str>, signatures: Option<&KeySignatures>) -> ApiResult<Option<Self>> {
        let Some(text) = key else { return Ok(None) };
        let key = read_key(text).ok_or_else(|| {
            let expected = "an Ed25519 key of 32 bytes, hexadecimal or base64";
            ApiError::field("payload.public_key", expected, "something else")
        })?;
        let read = |text: &str, name: &str| {
            read_bytes(text).filter(|bytes| bytes.len() == 64).ok_or_else(|| {
                let path = format!("payload.public_key_signatures.{name}");
                ApiError::field(path, "a signature of 64 bytes, hexadecimal or base64", "something else")
            })
        };
        let signatures = match signatures {
            Some(both) => Some([read(&both.current, "current")?, read(&both.next, "next")?]),
            None => None,
        };
        Ok(Some(Self { key, signatures }))
    }

    /// Gives the node its first key, or replaces it where both keys have signed that.
    pub(super) fn apply(&self, tx: &mut dyn Tx, node: &NodeRow, hub_id: &str, now: Time) -> ApiResult<()> {
        let present = node.public_key.as_deref();
        if present == Some(self.key.as_slice()) {
            return Ok(());
        }
        if let Some(present) = present {
            self.check_signatures(present, &node.node_id, hub_id)?;
        }
        nodes::set_public_key(tx, &node.node_id, &self.key)?;
        let (before, after) = (present.map(hex), hex(&self.key));
        let change = AuditChange {
            kind: "node",
            subject: &node.node_id,
            action: "set_public_key",
            before: before.as_deref(),
            after: Some(&after),
            reason: None,
        };
        Ok(audit::add(tx, &format!("node:{}", node.node_id), change, now)?)
    }

    fn check_signatures(&self, present: &[u8], node_id: &str, hub_id: &str) -> ApiResult<()> {
        let text = replacement_text(hub_id, node_id, present, &self.key);
        match &self.signatures {
            Some([current, next]) if is_signed_by(present, &text, current) && is_signed_by(&self.key, &text, next) =>
            {
                Ok(())
            }
            _ => Err(ApiError::new(
                HubCode::PublicKeyInUse,
                format!("The node {node_id} has another public key, which did not sign this one."),
                "Sign `signed_text` with both keys and send `public_key_signatures: {current, next}`, or leave \
                 `public_key` out.",
            )
            .with("signed_text", text)),
        }
    }
}

/// What both keys sign. It names the hub and both keys, so that it holds nowhere else.
fn replacement_text(hub_id: &str, node_id: &str, present: &[u8], next: &[u8]) -> String {
    format!("capsid public key\n{hub_id}\n{node_id}\n{}\n{}\n", hex(present), hex(next))
}
