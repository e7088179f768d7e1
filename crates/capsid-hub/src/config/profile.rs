//! The two kinds of hub, and the defaults of each.

use super::{HubConfig, IdentityConfig};
use capsid_model::problem::{Code, Problem, Result};
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
        self
    }
}
