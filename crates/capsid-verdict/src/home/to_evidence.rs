//! The traces of a home with the records that were checked, as the evidence of a verdict.

use super::{HomeChain, HomeChains};
use crate::bundle::{BundleReading, CheckedChain, META, ReadChain};
use crate::evidence::{
    ChainEvidence, ChainPlace, EvidenceNote, Expectation, ExpectationSource, UnreadableChain, VerdictEvidence,
};
use crate::finding::FindingCode;
use crate::key_set::KeyOrigin;

impl HomeChains {
    pub(super) fn find(&self, id: &str) -> Option<&HomeChain> {
        self.chains.iter().find(|chain| chain.id.as_deref() == Some(id))
    }

    pub(super) fn evidence(
        &self,
        reading: &BundleReading,
        place: ChainPlace,
        only: Option<&str>,
    ) -> VerdictEvidence {
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

impl HomeChain {
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
