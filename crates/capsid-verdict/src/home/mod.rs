//! What a page cannot read of a home by itself. The program collects it, and the page makes the verdict of the home with
//! it and with the records that it checked.

use crate::bundle::{BundleReading, CheckedChain, META, ReadChain};
use crate::evaluate;
use crate::evidence::{
    ChainEvidence, ChainPlace, ClaimFault, EvidenceNote, Expectation, ExpectationSource, UnreadableChain,
    VerdictEvidence,
};
use crate::finding::FindingCode;
use crate::key_set::KeyOrigin;
use crate::policy::SignerPolicy;
use crate::verdict::TrailVerdict;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The traces of a home.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HomeTraces {
    /// Those of the home's own chains, the meta-chain among them.
    pub own: TracedChains,
    /// Those of the chains that were imported.
    pub imported: TracedChains,
}

/// The traces of chains of one place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TracedChains {
    /// Every chain that was found.
    pub chains: Vec<TracedChain>,
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
pub struct TracedChain {
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

impl TracedChains {
    fn find(&self, id: &str) -> Option<&TracedChain> {
        self.chains.iter().find(|chain| chain.id.as_deref() == Some(id))
    }

    fn evidence(&self, reading: &BundleReading, place: ChainPlace, only: Option<&str>) -> VerdictEvidence {
        let about = only.map(|id| self.find(id).map_or(META, |chain| chain.name.as_str()));
        // The meta-chain is a witness of every chain.
        let is_about = |name: &str| about.is_none_or(|about| name == about || name == META);
        let mut evidence = VerdictEvidence {
            has_claims: true,
            expectations: self.expectations.iter().filter(|one| is_about(&one.chain)).cloned().collect(),
            claims: self
                .claims
                .iter()
                .filter(|one| one.chain.as_deref().is_none_or(is_about))
                .cloned()
                .collect(),
            notes: self
                .notes
                .iter()
                .filter(|one| one.chain.is_empty() || is_about(&one.chain))
                .cloned()
                .collect(),
            unreadable: self.unreadable.iter().filter(|one| is_about(&one.chain)).cloned().collect(),
            ..VerdictEvidence::default()
        };
        if place == ChainPlace::Home {
            evidence.expectations.extend(reading.noted.iter().map(|(count, head)| Expectation {
                source: ExpectationSource::PinnedHead,
                chain: META.to_owned(),
                count: *count,
                head: Some(head.clone()),
            }));
        }
        for chain in self.chains.iter().filter(|chain| is_about(&chain.name)) {
            // Why it cannot be read was said by whoever has its file.
            if !self.unreadable.iter().any(|one| one.chain == chain.name) {
                chain.add_to(&mut evidence, reading, place);
            }
        }
        for (file, why) in reading.unreadable.iter().filter(|_| only.is_none()) {
            evidence.unreadable.push(unreadable(file, format!("{file}: {why}")));
        }
        evidence
    }
}

impl TracedChain {
    fn add_to(&self, evidence: &mut VerdictEvidence, reading: &BundleReading, place: ChainPlace) {
        let Some(id) = self.id.as_deref() else {
            evidence.chains.push(ChainEvidence {
                name: self.name.clone(),
                place,
                is_meta: self.is_meta,
                has_checked_signatures: true,
                pending: self.pending,
                ..ChainEvidence::default()
            });
            return;
        };
        let read = if id == META { reading.meta.as_ref() } else { reading.chains.get(id) };
        match read {
            Some(ReadChain::Checked(chain)) => self.add_checked(evidence, chain, place),
            Some(ReadChain::Unreadable(why)) => {
                evidence.unreadable.push(unreadable(&self.name, why.clone()));
            }
            Some(ReadChain::Missing) | None => {
                let why = format!("The records of {} were not read.", self.name);
                evidence.unreadable.push(unreadable(&self.name, why));
            }
        }
    }

    fn add_checked(&self, evidence: &mut VerdictEvidence, chain: &CheckedChain, place: ChainPlace) {
        let mut found =
            ChainEvidence::from_records(self.name.clone(), place, self.is_meta, &chain.records, true);
        found.at.clone_from(&chain.at);
        found.pending = self.pending;
        for run in &mut found.runs {
            // A key that came with an import counts for what was imported, and is no key of the home.
            if place == ChainPlace::Home && run.origin == Some(KeyOrigin::Bundled) {
                run.origin = None;
            }
            if run.origin.is_some() {
                run.until = self.limits.get(&run.signer).copied();
            }
        }
        evidence.notes.extend(chain.time_breaks.iter().map(|at| EvidenceNote {
            code: FindingCode::TimeOrder,
            chain: self.name.clone(),
            position: Some(*at),
            message: format!("Record {at} claims an earlier time than record {}.", at.saturating_sub(1)),
        }));
        evidence.chains.push(found);
    }
}

fn unreadable(chain: &str, message: String) -> UnreadableChain {
    UnreadableChain { chain: chain.to_owned(), code: FindingCode::Unreadable, message, fix: None }
}
