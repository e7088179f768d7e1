//! A verdict, and how it is told.

use crate::finding::{Finding, FindingCode};
use crate::level::{Dimensions, VerdictLevel};
use crate::policy::SignerPolicy;

/// What all evidence comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailVerdict {
    /// The worst level of all findings.
    pub level: VerdictLevel,
    /// What was required.
    pub policy: SignerPolicy,
    /// What came of each dimension.
    pub dimensions: Dimensions,
    /// Every finding: those of records first, then claims, meta-chain, completeness, the rest.
    pub findings: Vec<Finding>,
    /// Each chain by itself.
    pub chains: Vec<ChainLevel>,
    /// Whether a requirement that the user wrote out is met.
    pub is_requirement_met: bool,
}

/// The verdict on one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLevel {
    /// Its name.
    pub name: String,
    /// Its level.
    pub level: VerdictLevel,
    /// What came of each dimension.
    pub dimensions: Dimensions,
    /// The code of its worst finding; none when it is valid.
    pub class: Option<FindingCode>,
    /// The position of its first bad record.
    pub broken_at: Option<u64>,
}

impl TrailVerdict {
    /// The exit status of a command that asked for it; a strict one takes nothing but `valid`.
    pub fn exit_code(&self, is_strict: bool) -> u8 {
        match self.level {
            VerdictLevel::Valid => 0,
            _ if is_strict => 1,
            VerdictLevel::Unverified => u8::from(!self.is_requirement_met),
            VerdictLevel::Incomplete | VerdictLevel::Invalid => 1,
            VerdictLevel::Unreadable => 2,
        }
    }

    /// The verdict on this and on other evidence that was judged by itself: the worst of both in every respect.
    #[must_use]
    pub fn combine(mut self, other: Self) -> Self {
        self.findings.extend(other.findings);
        // Within a level the order of the evaluation stays.
        self.findings.sort_by_key(|one| std::cmp::Reverse(one.level));
        Self {
            level: self.level.max(other.level),
            policy: self.policy,
            dimensions: self.dimensions.worst(&other.dimensions),
            findings: self.findings,
            chains: [self.chains, other.chains].concat(),
            is_requirement_met: self.is_requirement_met && other.is_requirement_met,
        }
    }

    /// The finding that decided the level: the first of the worst.
    pub fn decisive(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.level == self.level && self.level != VerdictLevel::Valid)
    }

    /// The findings about one chain.
    pub fn findings_about<'a>(&'a self, chain: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(move |finding| finding.chain.as_deref() == Some(chain))
    }
}
