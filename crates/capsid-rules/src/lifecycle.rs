//! The life of an asset: which state follows which.

use capsid_model::text_enum;
use serde::Serialize;
use std::fmt;

/// Where an asset stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AssetStatus {
    /// Published and waiting to be verified.
    Candidate,
    /// Verified and given to everyone.
    Promoted,
    Rejected,
    /// Held back until an administrator looks at it.
    Quarantined,
    /// Taken back by its publisher.
    Revoked,
    /// Promoted once, not used for long.
    Stale,
    /// Unused for so long that it is no longer given out.
    Archived,
}

text_enum!(AssetStatus {
    Candidate = "candidate",
    Promoted = "promoted",
    Rejected = "rejected",
    Quarantined = "quarantined",
    Revoked = "revoked",
    Stale = "stale",
    Archived = "archived",
});

impl AssetStatus {
    /// Whether nothing can follow.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Rejected | Self::Revoked)
    }

    /// Whether it was refused or withdrawn, or is held back: it cannot be handed in, and is not paid for.
    pub fn is_unusable(self) -> bool {
        matches!(self, Self::Rejected | Self::Revoked | Self::Quarantined)
    }

    /// Whether anyone may fetch it.
    pub fn is_distributed(self) -> bool {
        matches!(self, Self::Promoted | Self::Stale)
    }
}

impl fmt::Display for AssetStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What can happen to an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssetEvent {
    Promote,
    Reject,
    /// It is held back as unsafe or copied.
    Quarantine,
    /// An administrator lets it go on.
    Release,
    /// Its publisher takes it back.
    Revoke,
    /// It failed for others.
    Demote,
    /// Nobody used it for long.
    GrowStale,
    /// Nobody used it for very long.
    Archive,
    Revive,
}

text_enum!(AssetEvent {
    Promote = "promote",
    Reject = "reject",
    Quarantine = "quarantine",
    Release = "release",
    Revoke = "revoke",
    Demote = "demote",
    GrowStale = "grow_stale",
    Archive = "archive",
    Revive = "revive",
});

/// Why a change does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AssetChangeRefusal {
    pub from: AssetStatus,
    pub change: AssetEvent,
    pub why: &'static str,
}

impl fmt::Display for AssetChangeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A {} asset cannot take `{}`: {}", self.from, self.change.as_str(), self.why)
    }
}

impl std::error::Error for AssetChangeRefusal {}

/// The status that follows a change, or why there is none.
///
/// Unsafe content can turn up late, so what is given out already can still be quarantined. An archived asset can be
/// revoked too, because use would bring it back.
pub fn step(from: AssetStatus, change: AssetEvent) -> Result<AssetStatus, AssetChangeRefusal> {
    use AssetStatus::{Archived, Candidate, Promoted, Quarantined, Rejected, Revoked, Stale};
    let to = match (change, from) {
        (AssetEvent::Promote, Candidate) => Promoted,
        (AssetEvent::Reject, Candidate | Quarantined) => Rejected,
        (AssetEvent::Quarantine, Candidate | Promoted | Stale) => Quarantined,
        (AssetEvent::Release, Quarantined) => Candidate,
        (AssetEvent::Revoke, Candidate | Promoted | Stale | Archived) => Revoked,
        (AssetEvent::Demote, Promoted | Stale) => Candidate,
        (AssetEvent::GrowStale, Promoted) => Stale,
        (AssetEvent::Archive, Stale) => Archived,
        (AssetEvent::Revive, Stale) => Promoted,
        (AssetEvent::Revive, Archived) => Stale,
        _ => return Err(AssetChangeRefusal { from, change, why: refusal_reason(from, change) }),
    };
    Ok(to)
}

fn refusal_reason(from: AssetStatus, change: AssetEvent) -> &'static str {
    match (from, change) {
        (AssetStatus::Rejected, _) => "It was rejected, and that is final.",
        (AssetStatus::Revoked, _) => "Its publisher revoked it, and that is final.",
        (AssetStatus::Quarantined, AssetEvent::Quarantine) => "It is quarantined already.",
        (AssetStatus::Quarantined, _) => "An administrator must release or reject it first.",
        (_, AssetEvent::Promote) => "Only a candidate can be promoted.",
        (_, AssetEvent::Reject) => "Only a candidate or a quarantined asset can be rejected.",
        (_, AssetEvent::Quarantine) => "It is not given out, so there is nothing to hold back.",
        (_, AssetEvent::Release) => "Only a quarantined asset can be released.",
        (_, AssetEvent::Revoke) => "It cannot be revoked.",
        (_, AssetEvent::Demote) => "Only what is given out can be demoted.",
        (_, AssetEvent::GrowStale) => "Only a promoted asset can grow stale.",
        (_, AssetEvent::Archive) => "Only a stale asset can be archived.",
        (_, AssetEvent::Revive) => "Only a stale or an archived asset can be revived.",
    }
}

/// What an asset is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AssetType {
    Gene,
    /// A proven use of a strategy.
    Capsule,
    /// The record of how it came about.
    EvolutionEvent,
}

text_enum!(AssetType ignoring case {
    Gene = "Gene",
    Capsule = "Capsule",
    EvolutionEvent = "EvolutionEvent",
});

/// How far an asset is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustTier {
    Featured,
    Normal,
    Observation,
    Delisted,
}

text_enum!(TrustTier {
    Featured = "featured",
    Normal = "normal",
    Observation = "observation",
    Delisted = "delisted",
});

impl TrustTier {
    /// Whether lists show it.
    pub fn is_listed(self) -> bool {
        self != Self::Delisted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_word_is_read_back() {
        for status in AssetStatus::ALL {
            assert_eq!(AssetStatus::parse(status.as_str()), Some(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        for change in AssetEvent::ALL {
            assert_eq!(AssetEvent::parse(change.as_str()), Some(change));
        }
        for kind in AssetType::ALL {
            assert_eq!(AssetType::parse(kind.as_str()), Some(kind));
        }
        for tier in TrustTier::ALL {
            assert_eq!(TrustTier::parse(tier.as_str()), Some(tier));
        }
        assert_eq!(AssetStatus::parse("Promoted "), None);
        assert_eq!(AssetType::parse("capsule"), Some(AssetType::Capsule));
    }

    #[test]
    fn the_whole_table_of_steps() {
        let table = [
            ("candidate", "promote", "promoted"),
            ("candidate", "reject", "rejected"),
            ("candidate", "quarantine", "quarantined"),
            ("candidate", "revoke", "revoked"),
            ("promoted", "demote", "candidate"),
            ("promoted", "quarantine", "quarantined"),
            ("promoted", "revoke", "revoked"),
            ("promoted", "grow_stale", "stale"),
            ("quarantined", "release", "candidate"),
            ("quarantined", "reject", "rejected"),
            ("stale", "demote", "candidate"),
            ("stale", "quarantine", "quarantined"),
            ("stale", "revoke", "revoked"),
            ("stale", "archive", "archived"),
            ("stale", "revive", "promoted"),
            ("archived", "revive", "stale"),
            ("archived", "revoke", "revoked"),
        ];
        let mut allowed = Vec::new();
        for from in AssetStatus::ALL {
            for change in AssetEvent::ALL {
                if let Ok(to) = step(from, change) {
                    allowed.push((from.as_str(), change.as_str(), to.as_str()));
                }
            }
        }
        let mut expected = table.to_vec();
        expected.sort_unstable();
        allowed.sort_unstable();
        assert_eq!(allowed, expected);
    }

    #[test]
    fn a_refusal_says_why() {
        let refusal = step(AssetStatus::Revoked, AssetEvent::Promote).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "A revoked asset cannot take `promote`: Its publisher revoked it, and that is final."
        );
    }

    proptest! {
        #[test]
        fn a_terminal_state_is_never_left(changes in prop::collection::vec(0..AssetEvent::ALL.len(), 1..30)) {
            let mut status = AssetStatus::Candidate;
            for change in changes {
                let next = step(status, AssetEvent::ALL[change]);
                if status.is_terminal() {
                    prop_assert!(next.is_err());
                }
                if let Ok(next) = next {
                    prop_assert_ne!(next, status);
                    status = next;
                }
            }
        }
    }
}
