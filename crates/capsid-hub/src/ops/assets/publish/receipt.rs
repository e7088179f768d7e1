//! What is kept of a publish: all of its response that does not follow from the request.

use crate::error::{ApiError, ApiResult};
use capsid_model::problem::{Code, Problem};
use capsid_model::time::Time;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::registry::publish::{NewBundle, PublishOutcome, PublishedAsset};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What became of a bundle. The same request gives the same response with it.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishReceipt {
    /// The hub's own id for the response.
    pub message_id: String,
    /// When it was made.
    pub at: Time,
    pub status: AssetStatus,
    pub reason: Option<String>,
    /// Whether the same node published it before.
    pub is_known: bool,
    pub receipt_id: String,
    /// Something that it is much like, and how much.
    pub similar: Option<(AssetId, f64)>,
    /// State and score of gene, capsule and event.
    pub assets: Vec<(AssetStatus, i64)>,
    /// The capsule's mean track and its four dimensions.
    pub parts: [f64; 5],
    /// The milli-credits of the node.
    pub balance: i64,
    /// Whether the signature was made with what everybody knows.
    pub is_signature_weak: bool,
}

/// The receipt in short.
#[derive(Serialize, Deserialize)]
struct StoredReceipt<'r>(
    Cow<'r, str>,
    i64,
    Cow<'r, str>,
    Option<String>,
    bool,
    Cow<'r, str>,
    Option<(String, f64)>,
    Vec<(String, i64)>,
    [f64; 5],
    i64,
    bool,
);

/// A bundle that was stored, or was stored before.
struct Entry {
    status: AssetStatus,
    reason: Option<String>,
    receipt_id: String,
    similar: Option<(AssetId, f64)>,
    assets: Vec<PublishedAsset>,
}

impl PublishReceipt {
    /// The receipt of a bundle; a refusal where nothing was stored.
    pub fn new(
        (message_id, at): (&str, Time),
        bundle: &NewBundle,
        outcome: PublishOutcome,
        balance: i64,
        is_signature_weak: bool,
    ) -> ApiResult<Self> {
        let is_known = matches!(outcome, PublishOutcome::Already { .. });
        let entry = match outcome {
            PublishOutcome::OfAnother(status) => return Err(super::duplicate_asset_error(status)),
            PublishOutcome::Revoked(id) => return Err(super::revoked(&id)),
            PublishOutcome::Already { status, receipt_id, assets } => {
                Entry { status, reason: bundle.reason.clone(), receipt_id, similar: None, assets }
            }
            PublishOutcome::Kept { status, reason, similar, assets } => {
                Entry { status, reason, receipt_id: bundle.receipt_id.clone(), similar, assets }
            }
        };
        let capsule = entry.assets.iter().find(|asset| asset.asset_type == AssetType::Capsule);
        Ok(Self {
            message_id: message_id.to_owned(),
            at,
            status: entry.status,
            reason: entry.reason,
            is_known,
            receipt_id: entry.receipt_id,
            similar: entry.similar,
            parts: capsule.map(|capsule| capsule.parts).unwrap_or_default(),
            assets: entry.assets.iter().map(|asset| (asset.status, asset.gdi)).collect(),
            balance,
            is_signature_weak,
        })
    }

    /// The bytes that are kept.
    pub fn to_bytes(&self) -> ApiResult<Vec<u8>> {
        let stored = StoredReceipt(
            Cow::from(&self.message_id),
            self.at.0,
            Cow::from(self.status.as_str()),
            self.reason.clone(),
            self.is_known,
            Cow::from(&self.receipt_id),
            self.similar.as_ref().map(|(id, likeness)| (id.to_string(), *likeness)),
            self.assets.iter().map(|(status, gdi)| (status.as_str().to_owned(), *gdi)).collect(),
            self.parts,
            self.balance,
            self.is_signature_weak,
        );
        serde_json::to_vec(&stored).map_err(ApiError::not_serializable)
    }

    /// The receipt that was kept.
    pub fn from_bytes(bytes: &[u8]) -> ApiResult<Self> {
        Self::read(bytes).ok_or_else(|| {
            Problem::new(Code::StoreDamaged, "The stored response to a publish cannot be read.").into()
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let stored: StoredReceipt<'_> = serde_json::from_slice(bytes).ok()?;
        let similar = match stored.6 {
            Some((id, likeness)) => Some((AssetId::parse(&id)?, likeness)),
            None => None,
        };
        let asset = |(status, gdi): (String, i64)| Some((AssetStatus::parse(&status)?, gdi));
        Some(Self {
            message_id: stored.0.into_owned(),
            at: Time(stored.1),
            status: AssetStatus::parse(&stored.2)?,
            reason: stored.3,
            is_known: stored.4,
            receipt_id: stored.5.into_owned(),
            similar,
            assets: stored.7.into_iter().map(asset).collect::<Option<_>>()?,
            parts: stored.8,
            balance: stored.9,
            is_signature_weak: stored.10,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_reads_back_as_it_was_written_and_is_short() {
        let receipt = PublishReceipt {
            message_id: "msg_1767225600000_0a1b2c3d".into(),
            at: Time(1_767_225_600_000),
            status: AssetStatus::Candidate,
            reason: None,
            is_known: false,
            receipt_id: "rcpt_1767225600000_0a1b2c3d4e5f".into(),
            similar: None,
            assets: vec![
                (AssetStatus::Candidate, 5012),
                (AssetStatus::Promoted, 5013),
                (AssetStatus::Stale, 1),
            ],
            parts: [0.1 + 0.2, 1.0 / 3.0, f64::MIN_POSITIVE, 0.0, 100.0],
            balance: -5,
            is_signature_weak: true,
        };
        let bytes = receipt.to_bytes().unwrap();
        assert_eq!(PublishReceipt::from_bytes(&bytes).unwrap(), receipt);
        assert!(bytes.len() < 320, "{}", bytes.len());
        let similar = PublishReceipt {
            reason: Some("a \"reason\"".into()),
            similar: Some((AssetId([7; 32]), 0.8125)),
            ..receipt
        };
        assert_eq!(PublishReceipt::from_bytes(&similar.to_bytes().unwrap()).unwrap(), similar);
        assert!(PublishReceipt::from_bytes(b"[1]").is_err());
    }
}
