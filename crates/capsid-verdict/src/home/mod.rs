//! What a page cannot read of a home by itself. The program collects it, and the page makes the verdict of the home with
//! it and with the records that it checked.

mod to_evidence;

use crate::bundle::BundleReading;
use crate::evaluate;
use crate::evidence::{ChainPlace, ClaimFault, EvidenceNote, Expectation, UnreadableChain};
use crate::policy::SignerPolicy;
use crate::verdict::TrailVerdict;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The traces of a home.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HomeTraces {
    /// Those of the home's own chains, the meta-chain among them.
    pub own: HomeChains,
    /// Those of the chains that were imported.
    pub imported: HomeChains,
}

/// The traces of chains of one place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HomeChains {
    /// Every chain that was found.
    pub chains: Vec<HomeChain>,
    /// What anything says must be there.
    pub expectations: Vec<Expectation>,
    /// Claims that do not hold.
    pub claims: Vec<ClaimFault>,
    /// What changes no level, or says why nothing more can be said.
    pub notes: Vec<EvidenceNote>,
    /// What cannot be read.
    pub unreadable: Vec<UnreadableChain>,
}

/// What is known of a chain beside its records.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HomeChain {
    /// Its name in findings.
    pub name: String,
    /// The id that the page reads it by; none where there is nothing to read.
    pub id: Option<String>,
    /// Whether it is the meta-chain.
    pub is_meta: bool,
    /// Records that wait for their signatures.
    pub pending: u64,
    /// Up to which length of the chain a key counts, by fingerprint. A key that is not named counts for all of it.
    pub limits: BTreeMap<String, u64>,
}

impl HomeTraces {
    /// The lengths of each chain at which its hash is needed, by id.
    pub fn wanted(&self) -> BTreeMap<String, BTreeSet<u64>> {
        let mut wanted: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for part in [&self.own, &self.imported] {
            for expectation in part.expectations.iter().filter(|one| one.head.is_some()) {
                let chains = part.chains.iter().filter(|chain| chain.name == expectation.chain);
                for id in chains.filter_map(|chain| chain.id.clone()) {
                    wanted.entry(id).or_default().insert(expectation.count);
                }
            }
        }
        wanted
    }

    /// The verdict, as the command line gives it for the home, or for the chain of an id alone.
    pub fn evaluate(
        &self,
        reading: &BundleReading,
        own: &SignerPolicy,
        imported: &SignerPolicy,
        only: Option<&str>,
    ) -> TrailVerdict {
        let judge_own = || evaluate(&self.own.evidence(reading, ChainPlace::Home, only), own);
        let judge_imported =
            || evaluate(&self.imported.evidence(reading, ChainPlace::Imported, only), imported);
        match only {
            Some(id) if self.imported.find(id).is_some() => judge_imported(),
            Some(_) => judge_own(),
            None if self.imported.chains.is_empty() && self.imported.expectations.is_empty() => judge_own(),
            None => judge_own().combine(judge_imported()),
        }
    }
}
