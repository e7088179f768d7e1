//! Taking assets on trial, and proving to the hub that they were read.

use crate::calls::FetchedAssets;
use crate::node::NodeClient;
use capsid_model::hash::hmac_sha256_hex;
use capsid_model::{Code, Object, Result, Value, json};

impl NodeClient {
    /// Fetches assets by id to try them: candidates too, each with a nonce for the proof that it was read.
    pub fn fetch_trial(&self, ids: &[&str]) -> Result<FetchedAssets> {
        self.fetched(json!({"asset_ids": ids, "trial": true}), Some(ids))
    }

    /// The proof that this node read an asset, with a nonce of now. None where the hub gives no trial, or does not know
    /// what that is.
    pub fn prove_reading(&self, asset_id: &str) -> Result<Option<String>> {
        // Only a node that the hub knows gets a trial.
        if self.known()?.secret.is_none() {
            self.hello(Object::new())?;
        }
        match self.fetch_trial(&[asset_id]) {
            Ok(fetched) => {
                Ok(fetched.trial_nonce(asset_id).and_then(|nonce| fetched.read_proof(asset_id, nonce)))
            }
            Err(problem) if problem.code == Code::HubRefused => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Reports how an asset did here, with the proof that it was read: a hub counts a report only if its sender had the
    /// asset.
    pub fn report_tried(&self, asset_id: &str, report: &Value) -> Result<Object> {
        let mut report = report.clone();
        if report.get("read_proof").is_none()
            && let Some(proof) = self.prove_reading(asset_id)?
            && let Some(members) = report.as_object_mut()
        {
            members.insert("read_proof".to_owned(), proof.into());
        }
        self.report(asset_id, &report)
    }
}

impl FetchedAssets {
    /// The nonce that came with an asset on trial.
    pub fn trial_nonce(&self, asset_id: &str) -> Option<&str> {
        let trials = self.payload.get("trials").and_then(Value::as_array)?;
        let is_it = |trial: &&Value| trial.get("asset_id").and_then(Value::as_str) == Some(asset_id);
        trials.iter().find(is_it)?.get("nonce").and_then(Value::as_str)
    }

    /// The proof that an asset was read: the HMAC-SHA256 of its bytes as the hub served them. None where they did not
    /// come.
    pub fn read_proof(&self, asset_id: &str, nonce: &str) -> Option<String> {
        let bytes = self.bodies.get(asset_id)?;
        Some(hmac_sha256_hex(nonce.as_bytes(), bytes.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_of_reading_is_over_the_bytes_as_they_were_served() {
        let mut fetched = FetchedAssets::default();
        fetched.bodies.insert("a".to_owned(), r#"{"asset_id":"a"}"#.to_owned());
        let trials = json!({"trials": [{"asset_id": "b", "nonce": "x"}, {"asset_id": "a", "nonce": "n1"}]});
        fetched.payload = trials.as_object().cloned().unwrap();
        assert_eq!(fetched.trial_nonce("a"), Some("n1"));
        let proof = fetched.read_proof("a", "n1").unwrap();
        assert_eq!(proof, hmac_sha256_hex(b"n1", br#"{"asset_id":"a"}"#));
        assert_eq!(fetched.read_proof("b", "x"), None, "its bytes did not come");
        assert_eq!(fetched.trial_nonce("c"), None);
    }
}
