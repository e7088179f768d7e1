//! Up to where keys of a home that are not in use any more may have signed, wherever their records turn up.

use super::meta::read_meta;
use crate::TrailHome;
use crate::keys::{KeyOrigin, KeySet};
use crate::meta::MetaTraces;
use crate::sources::open_any;
use crate::verify::SignerRun;
use capsid_model::Result;
use capsid_verdict::PublicKey;
use std::collections::BTreeMap;

/// What the user's own home says about its keys.
#[derive(Debug, Clone, Default)]
pub struct OwnKeyLimits {
    traces: MetaTraces,
    /// The chains that the signing service took over, where it signs the home.
    pub adopted: Option<AdoptedCounts>,
}

/// How many records of each chain the home's own keys signed before a service took over. They count for these and no
/// more, because the account can read them.
#[derive(Debug, Clone, Default)]
pub struct AdoptedCounts {
    /// The keys of the service, which have no such limit.
    pub service: Vec<PublicKey>,
    /// How many records, by chain.
    pub counts: BTreeMap<String, u64>,
}

impl OwnKeyLimits {
    /// Reads the meta-chain of a home. Where no key was retired, there is nothing to read.
    pub fn read(home: &TrailHome, keys: &KeySet) -> Result<Self> {
        let has_retired = keys.iter().any(|one| one.origin == KeyOrigin::Retired);
        let mut limits = Self::default();
        if has_retired
            && home.meta().is_file()
            && let Some(meta) = open_any(&home.meta())?.chains.first()
        {
            limits.traces = read_meta(meta, keys)?;
        }
        Ok(limits)
    }

    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.traces.rotations.is_empty() && self.adopted.is_none()
    }

    /// Says of each run of a key of the home up to where it may go. `chain` is the name that the records state.
    pub fn limit_runs(&self, chain: &str, runs: &mut [SignerRun]) {
        for run in runs.iter_mut().filter(|run| is_own(run)) {
            if let Some(limit) = self.traces.limit(&run.signer, chain) {
                run.until = Some(run.until.map_or(limit, |until| until.min(limit)));
            }
        }
        if let Some(adopted) = &self.adopted {
            adopted.limit_runs(chain, runs);
        }
    }
}

impl AdoptedCounts {
    /// Whether a run is of a key that only counts for what was taken over.
    pub fn concerns(&self, run: &SignerRun) -> bool {
        is_own(run) && !self.service.iter().any(|key| key.fingerprint() == run.signer)
    }

    /// Says of each run of a key of the home up to where it may go.
    pub fn limit_runs(&self, chain: &str, runs: &mut [SignerRun]) {
        let adopted = self.counts.get(chain).copied().unwrap_or_default();
        for run in runs.iter_mut().filter(|run| self.concerns(run)) {
            run.origin = Some(KeyOrigin::Retired);
            run.until = Some(run.until.map_or(adopted, |until| until.min(adopted)));
        }
    }
}

fn is_own(run: &SignerRun) -> bool {
    matches!(run.origin, Some(KeyOrigin::Own | KeyOrigin::Retired))
}
