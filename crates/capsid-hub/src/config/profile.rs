//! The two kinds of hub, and the defaults of each.

use super::{HubConfig, TrialAccess};
use capsid_rules::evaluation::evidence_grade::{EvidenceGrade, GradeWeights};
use serde::Serialize;
use utoipa::ToSchema;

/// Who can reach a hub. It decides the defaults; each of them can be set on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HubProfile {
    /// Everybody who can reach it means well; mistakes and web pages are the danger.
    #[default]
    Private,
    /// Nobody is known.
    Public,
}

impl HubProfile {
    /// Reads a setting.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Private, Self::Public].into_iter().find(|profile| profile.as_str() == text)
    }

    /// The word of the setting.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

impl HubConfig {
    /// The defaults of a profile.
    pub fn for_profile(profile: HubProfile) -> Self {
        let config = Self { profile, ..Self::default() };
        match profile {
            HubProfile::Private => config,
            HubProfile::Public => config.with_public_defaults(),
        }
    }

    /// What differs on a hub that strangers use.
    fn with_public_defaults(mut self) -> Self {
        self.promotion.rule.lowest_grade = EvidenceGrade::Assigned;
        self.promotion.rule.asks_arbiter = true;
        self.promotion.trial = TrialAccess::Level1;
        self
    }

    /// What reports weigh by their grade.
    pub fn grade_weights(&self) -> GradeWeights {
        match self.profile {
            HubProfile::Private => GradeWeights::Private,
            HubProfile::Public => GradeWeights::Public,
        }
    }
}
