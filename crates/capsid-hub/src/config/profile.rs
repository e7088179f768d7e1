//! The two kinds of hub, and the defaults of each.

use super::quotas::{KIB, MIB};
use super::{DAY, HOUR, HoldWarned, HubConfig, IdentityConfig, RowValues, TrialAccess};
use capsid_model::problem::{Code, Problem, Result};
use capsid_rules::credits::{CREDIT, GrantedUse, StakeSource};
use capsid_rules::evaluation::evidence_grade::GradeWeights;
use capsid_rules::evaluation::owners::OwnerPolicy;
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::rate_limit::RateLimit;
use capsid_rules::work::swarm::AggregatorFallback;
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

    /// Refuses to run a public hub to which strangers would send their secrets in the clear.
    pub fn check_profile(&self) -> Result<()> {
        let has_tls = self.tls.is_some() || !self.admission.trusted_proxies.is_empty();
        match self.profile {
            HubProfile::Public if !has_tls => {
                Err(Problem::new(Code::ConfigInvalid, "A hub with the profile `public` needs TLS.").fix(
                    "Set server.tls_certificate and server.tls_key, or name the proxy that has TLS in \
                     server.trusted_proxies.",
                ))
            }
            _ => Ok(()),
        }
    }

    /// What differs on a hub that strangers use.
    fn with_public_defaults(mut self) -> Self {
        self.admission.set_public_defaults();
        self.identity = IdentityConfig::public();
        self.work.aggregator.fallback = AggregatorFallback::Nobody;
        self.with_public_evaluation().with_public_credits().with_public_quotas()
    }

    /// Granted credits only pay fees, and rewards wait until the asset has proven itself.
    fn with_public_credits(mut self) -> Self {
        self.node_grant = 0;
        self.account_grant = 50 * CREDIT;
        let credits = &mut self.credits;
        credits.reuse_reward = 2 * CREDIT;
        (credits.report_reward_min, credits.report_reward_max) = (2 * CREDIT, 5 * CREDIT);
        credits.validator_stake = 50 * CREDIT;
        (credits.granted, credits.stake_from) = (GrantedUse::Fees, StakeSource::Earned);
        (credits.reward_hold_ms, credits.slash_percent) = (14 * DAY, 20);
        (self.work.preview, self.work.dispute_ms) = (true, 72 * HOUR);
        self
    }

    /// What one stranger may store, and how many nodes and accounts one may make.
    fn with_public_quotas(mut self) -> Self {
        self.quotas.publish_bytes = vec![MIB, 16 * MIB, 64 * MIB];
        self.quotas.publish_bundles = vec![20, 200, 2000];
        self.quotas.asset_bytes = 64 * KIB;
        self.limits.register = RateLimit { count: 3, window_ms: DAY };
        self.limits.hello = RateLimit { count: 60, window_ms: HOUR };
        self.hold_warned = HoldWarned::Level0;
        self
    }

    /// How reports count and assets are ranked where nobody is known.
    fn with_public_evaluation(mut self) -> Self {
        self.owners = OwnerPolicy::PUBLIC;
        self.promotion.rule = PromotionRule::public();
        self.ranking.row_values = RowValues::Adjusted;
        self.promotion.trial = TrialAccess::Level1;
        self.promotion.audit_share = 0.2;
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
