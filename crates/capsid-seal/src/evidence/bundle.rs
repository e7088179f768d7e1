//! A bundle: what its index and headers claim, and what its meta-chain and head statements expect.

use super::chain::{ChainOutcome, ChainTask, ReadChain};
use super::meta::{limit_runs, read_meta};
use super::names::{SealedName, of_listed};
use super::statement::{CheckedStatement, read_statements};
use super::{CollectOptions, CollectedChain, CollectedEvidence, META, watched};
use crate::heads::HEADS;
use crate::keys::KeySet;
use crate::meta::MetaTraces;
use crate::sources::{ChainClaim, ChainSource, ChainSources, INDEX};
use crate::verify::ChainVerdict;
use capsid_model::Result;
use capsid_verdict::FindingCode;
use capsid_verdict::evidence::{ChainPlace, EvidenceNote, Expectation, ExpectationSource, StatementSigner};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Collects a bundle, or one of its chain files.
pub(super) fn collect(
    sources: &ChainSources,
    keys: &KeySet,
    options: &CollectOptions,
) -> Result<CollectedEvidence> {
    let mut bundle = BundleCollector {
        keys,
        options,
        found: CollectedEvidence::default(),
        traces: MetaTraces::default(),
        expected: options.expectations.clone(),
    };
    bundle.found.evidence.has_claims = true;
    bundle.found.note_options(options);
    bundle.claims(sources);
    let folder = sources.folder.as_deref();
    let meta = sources.chains.iter().find(|chain| chain.is_meta);
    bundle.entries(meta);
    if let Some(folder) = folder {
        bundle.statements(folder);
    }
    bundle.chains(sources);
    if let Some(meta) = meta {
        bundle.meta(meta);
    }
    bundle.found.evidence.expectations = bundle.expected;
    Ok(bundle.found)
}

struct BundleCollector<'a> {
    keys: &'a KeySet,
    options: &'a CollectOptions,
    found: CollectedEvidence,
    /// What the good records of the meta-chain say.
    traces: MetaTraces,
    expected: Vec<Expectation>,
}

impl BundleCollector<'_> {
    /// What the index claims about itself.
    fn claims(&mut self, sources: &ChainSources) {
        for reason in &sources.refused_keys {
            self.found.push_claim(FindingCode::KeyRefused, None, reason.clone());
        }
        for reason in &sources.contradictions {
            self.found.push_claim(FindingCode::Contradiction, None, reason.clone());
        }
        for file in &sources.unlisted {
            let message = format!("{file} is not in {INDEX} and was not checked.");
            self.found.push_claim(FindingCode::UnlistedFile, None, message);
        }
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for chain in sources.chains.iter().filter(|chain| !chain.is_meta) {
            *counts.entry(chain.id.as_deref().unwrap_or_default()).or_default() += 1;
        }
        for (id, count) in counts {
            let chain = sources.chains.iter().find(|chain| chain.id.as_deref() == Some(id));
            let count = if id == META { count + 1 } else { count };
            if let Some(chain) = chain.filter(|_| count > 1) {
                let message = format!("{INDEX} lists {id} {count} times.");
                self.found.push_claim(FindingCode::ListedTwice, Some(&listed_name(chain)), message);
            }
        }
    }

    /// The meta-chain comes first: it says how long the others were, and when a key was retired.
    fn entries(&mut self, meta: Option<&ChainSource>) {
        let Some(meta) = meta.filter(|meta| !meta.is_missing()) else { return };
        if let Ok(traces) = read_meta(meta, self.keys) {
            self.expected.extend(traces.expectations.iter().cloned());
            self.traces = traces;
        }
    }

    fn statements(&mut self, folder: &Path) {
        let statements = match read_statements(folder, self.keys) {
            Ok(statements) => statements,
            Err(problem) => return self.found.push_unreadable(HEADS, &problem),
        };
        for statement in statements {
            match statement {
                CheckedStatement::Good(statement, key) => {
                    let name = statement.chain();
                    let fingerprint = key.key.fingerprint();
                    if self.traces.limit(&fingerprint, &name).is_some_and(|limit| statement.count > limit) {
                        self.statement_invalid(&name);
                        continue;
                    }
                    let signer = StatementSigner { fingerprint, origin: key.origin };
                    self.expected.push(Expectation {
                        source: ExpectationSource::HeadStatement(signer),
                        chain: name,
                        count: statement.count,
                        head: Some(statement.head),
                    });
                }
                CheckedStatement::Bad(named) => self.statement_invalid(named.as_deref().unwrap_or(HEADS)),
            }
        }
    }

    fn statement_invalid(&mut self, chain: &str) {
        self.found.evidence.notes.push(EvidenceNote {
            code: FindingCode::StatementInvalid,
            chain: chain.to_owned(),
            position: None,
            message: format!(
                "The head statement of {chain} is not signed by a key that this verification allows."
            ),
        });
    }

    fn chains(&mut self, sources: &ChainSources) {
        let mut ids = BTreeSet::new();
        let mut moved: BTreeSet<String> = BTreeSet::new();
        let mut present: BTreeSet<String> = BTreeSet::new();
        for source in sources.chains.iter().filter(|chain| !chain.is_meta) {
            let id = source.id.clone().unwrap_or_else(|| source.label.clone());
            if id == META || !ids.insert(id.clone()) {
                continue;
            }
            let sealed = SealedName::read(source);
            let is_renamed =
                source.id.is_some() && sealed.as_ref().is_some_and(|name| !name.has_bundle_id(&id));
            let name = match &sealed {
                Some(sealed) if !is_renamed => sealed.full(),
                _ => listed_name(source),
            };
            // A chain under another name is compared with what is said of the one that it is.
            let sealed = sealed.map(|sealed| sealed.full());
            let own = sealed.clone().unwrap_or_else(|| name.clone());
            if let Some(sealed) = sealed.filter(|_| is_renamed)
                && self.expected.iter().any(|one| one.chain == sealed)
            {
                let message = format!("{INDEX} says the chain is {name}; the records say {sealed}.");
                self.found.push_claim(FindingCode::Contradiction, Some(&name), message);
                let copies = self.expected.iter().filter(|one| one.chain == sealed);
                let copies: Vec<Expectation> =
                    copies.map(|one| Expectation { chain: name.clone(), ..one.clone() }).collect();
                self.expected.extend(copies);
                moved.insert(sealed);
            }
            present.insert(name.clone());
            self.chain(source, name, &own);
        }
        self.expected.retain(|one| present.contains(&one.chain) || !moved.contains(&one.chain));
    }

    fn meta(&mut self, source: &ChainSource) {
        let heads = self.options.meta_heads.iter().map(|pinned| Expectation {
            source: ExpectationSource::PinnedHead,
            chain: META.to_owned(),
            count: pinned.length,
            head: Some(pinned.hash.clone()),
        });
        self.expected.extend(heads);
        if let Some(claimed) = source.claim.as_ref().and_then(|claim| claim.length) {
            self.expected.push(Expectation {
                source: ExpectationSource::Index,
                chain: META.to_owned(),
                count: claimed,
                head: None,
            });
        }
        self.chain(source, META.to_owned(), META);
    }

    /// `own` is the name that the records state.
    fn chain(&mut self, source: &ChainSource, name: String, own: &str) {
        if source.is_missing() {
            if !source.is_meta {
                self.expected.push(Expectation {
                    source: ExpectationSource::Index,
                    chain: name,
                    count: source.claim.as_ref().and_then(|claim| claim.length).unwrap_or_default(),
                    head: None,
                });
            } else if !self.expected.iter().any(|one| one.chain == META) {
                self.expected.push(Expectation {
                    source: ExpectationSource::Index,
                    chain: name,
                    count: 0,
                    head: None,
                });
            }
            return;
        }
        let watch = watched(&self.expected, &name);
        let task = ChainTask {
            source,
            name: &name,
            place: ChainPlace::Bundle,
            watch,
            keys: self.keys,
            options: self.options,
        };
        let (mut records, mut problem) = (None, None);
        match task.run() {
            Ok(ChainOutcome::Read(read)) => records = Some(self.accept(source, (&name, own), *read)),
            Ok(ChainOutcome::Changed(one)) => self.found.evidence.unreadable.push(one),
            Err(unreadable) => {
                self.found.push_unreadable(&name, &unreadable);
                problem = Some(unreadable);
            }
        }
        self.found.chains.push(CollectedChain { name, source: source.clone(), records, problem });
    }

    fn accept(
        &mut self,
        source: &ChainSource,
        (name, own): (&str, &str),
        mut read: ReadChain,
    ) -> ChainVerdict {
        limit_runs(&self.traces, own, &mut read.evidence.runs);
        self.options.own_limits.limit_runs(own, &mut read.evidence.runs);
        if read.records.valid && self.options.since.is_none() {
            for (place, claim) in [(INDEX, source.claim.as_ref()), ("its file", read.header.as_ref())] {
                let Some(reason) = claim.and_then(|claim| contradiction(source, claim, &read)) else {
                    continue;
                };
                let message = format!("{place} contradicts the records: {reason}.");
                self.found.push_claim(FindingCode::Contradiction, Some(name), message);
                break;
            }
        }
        self.found.evidence.notes.append(&mut read.notes);
        self.found.evidence.chains.push(read.evidence);
        read.records
    }
}

/// A meta-chain that is shorter than claimed was cut; that is not a contradiction.
fn contradiction(source: &ChainSource, claim: &ChainClaim, read: &ReadChain) -> Option<String> {
    if source.is_meta && claim.length.is_some_and(|length| length > read.facts.length) {
        return None;
    }
    claim.contradicted_by(&read.facts)
}

fn listed_name(source: &ChainSource) -> String {
    match &source.id {
        Some(id) => of_listed(id, source.tool.as_deref()),
        None => super::names::of_source(source),
    }
}
