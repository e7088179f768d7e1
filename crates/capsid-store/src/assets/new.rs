//! An asset that is about to be stored.

use crate::assets::AssetTraits;
use crate::assets::id::AssetId;
use capsid_rules::assets::safety::SafetyVerdict;
use capsid_rules::evaluation::gdi::{BeliefRule, Gdi, GdiInputs, gdi};
use capsid_rules::lifecycle::AssetType;

/// An asset that passed every check that needs no database.
#[derive(Debug, Clone)]
pub struct NewAsset {
    /// Its id, which was verified.
    pub asset_id: AssetId,
    pub asset_type: AssetType,
    /// The part of a listing that never changes.
    pub card: String,
    /// The text that was published, byte for byte.
    pub body: String,
    /// What was learnt from the body.
    pub traits: AssetTraits,
    pub environment: Option<String>,
    /// What the scan of its texts said.
    pub scanned: SafetyVerdict,
}

impl NewAsset {
    /// Its first score, by a publisher of this reputation.
    pub fn score(&self, reputation: f64, rule: &BeliefRule) -> Gdi {
        let small = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
        let known = GdiInputs {
            confidence: self.traits.confidence,
            success_streak: small(self.traits.success_streak),
            files: small(self.traits.blast_files),
            lines: small(self.traits.blast_lines),
            triggers: small(self.traits.triggers),
            summary_chars: small(self.traits.summary_chars),
            reputation,
            has_event: self.traits.has_event,
            validation: self.traits.proof,
            ..GdiInputs::default()
        };
        gdi(&known, rule)
    }
}
