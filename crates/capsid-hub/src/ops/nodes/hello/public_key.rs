//! The public key of a node: a secret proves who calls, a key proves what was sent.

use super::request::KeySignatures;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor::unhex;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_model::hash::hex;
use capsid_model::time::Time;
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use ed25519_dalek::{Signature, VerifyingKey};

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
        let key: Option<[u8; 32]> = bytes(text).and_then(|bytes| bytes.try_into().ok());
        let key = key.filter(|key| VerifyingKey::from_bytes(key).is_ok_and(|key| !key.is_weak()));
        let key = key.ok_or_else(|| {
            ApiError::field(
                "payload.public_key",
                "an Ed25519 key of 32 bytes, hexadecimal or base64",
                "something else",
            )
        })?;
        let read = |text: &str, name: &str| {
            bytes(text).filter(|bytes| bytes.len() == Signature::BYTE_SIZE).ok_or_else(|| {
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
        let holds = |key: &[u8], signature: &[u8]| {
            let key = <[u8; 32]>::try_from(key).ok().and_then(|key| VerifyingKey::from_bytes(&key).ok());
            let signature = Signature::from_slice(signature);
            matches!((key, signature), (Some(key), Ok(signature)) if key.verify_strict(text.as_bytes(), &signature).is_ok())
        };
        match &self.signatures {
            Some([current, next]) if holds(present, current) && holds(&self.key, next) => Ok(()),
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

fn bytes(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    if text.len() > 200 {
        return None;
    }
    unhex(text).or_else(|| STANDARD.decode(text).ok())
}
