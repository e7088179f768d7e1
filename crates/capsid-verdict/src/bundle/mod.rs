//! Turns what was read of a bundle into evidence. Whoever reads the files calls this, so that every reader comes to the
//! same verdict.

mod index;
mod meta_log;
mod statement;

pub use index::{BundleIndex, ListedChain};
pub use meta_log::{MetaLog, RecordedHead, RetiredLimits};
pub use statement::{BundleStatement, SaidHead};

use crate::claim::{ChainClaim, ChainFacts};
use crate::evaluate::first_refused;
use crate::evidence::{
    ChainEvidence, ChainPlace, ClaimFault, EvidenceNote, Expectation, ExpectationSource, UnreadableChain,
    VerdictEvidence,
};
use crate::finding::FindingCode;
use crate::hash::sha3_hex;
use crate::key_set::KeySet;
use crate::policy::SignerPolicy;
use crate::verify::ChainVerdict;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the meta-chain: its id, its tool and its session.
pub const META: &str = "meta";

/// What was read of a bundle.
#[derive(Debug, Clone, Default)]
pub struct BundleReading {
    /// The index.
    pub index: BundleIndex,
    /// The statements of `heads.json`.
    pub statements: Vec<BundleStatement>,
    /// The chains, by id. Those that nobody read are left out, and then nothing is said of them.
    pub chains: BTreeMap<String, ReadChain>,
    /// The meta-chain, if there is one.
    pub meta: Option<ReadChain>,
    /// What the meta-chain's records say.
    pub log: MetaLog,
    /// Heads of the meta-chain that the reader noted: how many records, and the hash of the last one.
    pub noted: Vec<(u64, String)>,
    /// Chain files that the index does not list.
    pub unlisted: Vec<String>,
    /// Files other than chains that cannot be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// Where the chains are.
    pub place: ChainPlace,
}

/// One chain as it was read.
#[derive(Debug, Clone)]
pub enum ReadChain {
    /// Its file is not there.
    Missing,
    /// Its file cannot be read, and why.
    Unreadable(String),
    /// Its records were checked.
    Checked(Box<CheckedChain>),
}

/// What the records of a chain come to. Signers that nobody knows were passed over.
#[derive(Debug, Clone)]
pub struct CheckedChain {
    /// The verdict on the records.
    pub records: ChainVerdict,
    /// What is compared with claims.
    pub facts: ChainFacts,
    /// What the head of its own file claims.
    pub header: ChainClaim,
    /// The tool and the session that its first record was sealed with.
    pub sealed: Option<(String, String)>,
    /// The hash of the last record at each of [`BundleReading::wanted`].
    pub at: BTreeMap<u64, String>,
    /// Positions whose claimed time is more than ten minutes before that of the record before.
    pub time_breaks: Vec<u64>,
}

impl BundleReading {
    /// The lengths of each chain at which its hash is needed, by id.
    pub fn wanted(&self) -> BTreeMap<String, BTreeSet<u64>> {
        let mut wanted: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        wanted.entry(META.to_owned()).or_default().extend(self.noted.iter().map(|(count, _)| *count));
        let said = self.statements.iter().filter_map(BundleStatement::said);
        let said = said.map(|one| (one.tool.as_str(), one.session.as_str(), one.count));
        let recorded =
            self.log.heads(u64::MAX).map(|one| (one.tool.as_str(), one.session.as_str(), one.count));
        let mut by_name: BTreeMap<(&str, &str), BTreeSet<u64>> = BTreeMap::new();
        for (tool, session, count) in said.chain(recorded) {
            by_name.entry((tool, session)).or_default().insert(count);
        }
        if let Some(counts) = by_name.get(&(META, META)) {
            wanted.entry(META.to_owned()).or_default().extend(counts);
        }
        for (id, chain) in &self.chains {
            let listed = self.index.find(id);
            let listed = listed.and_then(|one| Some((one.tool.as_deref()?, one.session.as_deref()?)));
            let sealed = chain.checked().and_then(|chain| chain.sealed.as_ref());
            let sealed = sealed.map(|(tool, session)| (tool.as_str(), session.as_str()));
            for counts in [listed, sealed].into_iter().flatten().filter_map(|name| by_name.get(&name)) {
                wanted.entry(id.clone()).or_default().extend(counts);
            }
        }
        wanted
    }

    /// The evidence for a verdict under a requirement; on one chain alone, also that of the meta-chain.
    pub fn evidence(&self, keys: &KeySet, policy: &SignerPolicy, only: Option<&str>) -> VerdictEvidence {
        let mut collector = Collector::new(self, keys, policy, only);
        collector.statements();
        collector.chains();
        collector.meta();
        collector.evidence
    }
}

impl ReadChain {
    fn checked(&self) -> Option<&CheckedChain> {
        match self {
            Self::Checked(chain) => Some(chain),
            _ => None,
        }
    }
}

struct Collector<'a> {
    reading: &'a BundleReading,
    keys: &'a KeySet,
    policy: &'a SignerPolicy,
    only: Option<&'a str>,
    /// How many records of the meta-chain are believed.
    good_meta: u64,
    retired: BTreeMap<String, RetiredLimits>,
    /// What the meta-chain and statements expect, by tool and session.
    expected: BTreeMap<(String, String), Vec<Expectation>>,
    evidence: VerdictEvidence,
}

impl<'a> Collector<'a> {
    fn new(
        reading: &'a BundleReading,
        keys: &'a KeySet,
        policy: &'a SignerPolicy,
        only: Option<&'a str>,
    ) -> Self {
        let good_meta = reading.meta.as_ref().and_then(ReadChain::checked).map_or(0, |meta| {
            let mut evidence =
                ChainEvidence::from_records(META.to_owned(), reading.place, true, &meta.records, true);
            limit(&mut evidence, &reading.log.retired(u64::MAX, keys), &[(META, META)]);
            first_refused(&evidence, policy).unwrap_or_else(|| evidence.good())
        });
        let mut expected: BTreeMap<(String, String), Vec<Expectation>> = BTreeMap::new();
        for one in reading.log.heads(good_meta) {
            let source = match one.is_open {
                true => ExpectationSource::MetaOpenList,
                false => ExpectationSource::MetaEntry,
            };
            let expectation = Expectation {
                source,
                chain: format!("{}/{}", one.tool, one.session),
                count: one.count,
                head: Some(one.head.clone()),
            };
            expected.entry((one.tool.clone(), one.session.clone())).or_default().push(expectation);
        }
        let evidence = VerdictEvidence { has_claims: true, ..VerdictEvidence::default() };
        let retired = reading.log.retired(good_meta, keys);
        Self { reading, keys, policy, only, good_meta, retired, expected, evidence }
    }

    fn is_wanted(&self, id: &str) -> bool {
        self.only.is_none_or(|only| only == id)
    }

    /// A statement counts if the key that signed it is allowed, and was not retired before.
    fn statements(&mut self) {
        for statement in &self.reading.statements {
            let signer = statement.signer(self.keys);
            let Some(said) = statement.said() else {
                self.refuse("a chain");
                continue;
            };
            let name = (said.tool.clone(), said.session.clone());
            let signer = signer.filter(|signer| {
                let limits = self.retired.get(&signer.key.fingerprint());
                limits.is_none_or(|limits| said.count <= limits.get(&name).copied().unwrap_or_default())
            });
            match signer {
                Some(signer) => self.expected.entry(name).or_default().push(Expectation {
                    source: ExpectationSource::HeadStatement(signer.into()),
                    chain: said.name(),
                    count: said.count,
                    head: Some(said.head.clone()),
                }),
                None => self.refuse(&said.name()),
            }
        }
    }

    fn refuse(&mut self, chain: &str) {
        let is_about = self.only.is_none_or(|only| {
            self.reading.index.find(only).is_some_and(|listed| listed.name() == chain) || chain == only
        });
        if is_about {
            self.evidence.notes.push(EvidenceNote {
                code: FindingCode::StatementInvalid,
                chain: chain.to_owned(),
                position: None,
                message: format!(
                    "The head statement of {chain} is not signed by a key that this verification allows."
                ),
            });
        }
    }

    fn chains(&mut self) {
        let reading = self.reading;
        let mut seen = BTreeSet::new();
        let mut renamed = Vec::new();
        for listed in &reading.index.chains {
            if listed.id == META || !seen.insert(listed.id.as_str()) || !self.is_wanted(&listed.id) {
                continue;
            }
            if !listed.is_plain() {
                let why = format!("index.json: the id {} is no file name.", listed.id);
                self.unreadable(&listed.name(), why);
                continue;
            }
            let Some(chain) = reading.chains.get(&listed.id) else { continue };
            renamed.extend(self.chain(listed, chain));
        }
        let expected = std::mem::take(&mut self.expected);
        let names: BTreeSet<String> = self.evidence.chains.iter().map(|chain| chain.name.clone()).collect();
        for ((tool, session), expectations) in expected {
            let name = format!("{tool}/{session}");
            let moved = renamed.iter().find(|(sealed, _)| *sealed == name).filter(|_| !names.contains(&name));
            let is_meta = tool == META && session == META;
            for one in expectations {
                let chain = match moved {
                    _ if is_meta => META.to_owned(),
                    Some((_, chain)) => chain.clone(),
                    None => one.chain.clone(),
                };
                let is_about =
                    self.only.is_none() || is_meta || names.contains(&chain) || self.only_is_named(&chain);
                if is_about {
                    self.evidence.expectations.push(Expectation { chain, ..one });
                }
            }
        }
        let about = self.only.and_then(|only| reading.index.find(only)).map(ListedChain::name);
        let is_about = |fault: &&ClaimFault| self.only.is_none() || (about.is_some() && fault.chain == about);
        self.evidence.claims.extend(reading.index.faults.iter().filter(is_about).cloned());
        if self.only.is_none() {
            for file in &reading.unlisted {
                let message = format!("{file} is not in index.json and was not checked.");
                self.claim(FindingCode::UnlistedFile, None, message);
            }
            for (file, why) in &reading.unreadable {
                self.unreadable(file, format!("{file}: {why}"));
            }
        }
    }

    fn only_is_named(&self, name: &str) -> bool {
        let listed = self.only.and_then(|only| self.reading.index.find(only));
        listed.is_some_and(|listed| listed.name() == name)
    }

    /// Takes one chain. Returns the name that its records have and its own, where they contradict each other.
    fn chain(&mut self, listed: &ListedChain, chain: &ReadChain) -> Option<(String, String)> {
        let mut name = listed.name();
        let chain = match chain {
            ReadChain::Missing => {
                let (count, head) = (listed.claim.length.unwrap_or_default(), listed.claim.head_hash.clone());
                let source = ExpectationSource::Index;
                self.evidence.expectations.push(Expectation { source, chain: name, count, head });
                return None;
            }
            ReadChain::Unreadable(why) => {
                self.unreadable(&name, why.clone());
                return None;
            }
            ReadChain::Checked(chain) => chain,
        };
        let sealed = chain.sealed.as_ref().map(|(tool, session)| (tool.as_str(), session.as_str()));
        let mut moved = None;
        if let Some((tool, session)) = sealed {
            let own = format!("{tool}/{session}");
            let is_expected = self.expected.contains_key(&(tool.to_owned(), session.to_owned()));
            if is_name_of(&listed.id, &format!("{tool}-{session}")) {
                name = own;
            } else if is_expected && own != name {
                let message = format!("index.json says the chain is {name}; the records say {own}.");
                self.claim(FindingCode::Contradiction, Some(name.clone()), message);
                moved = Some((own, name.clone()));
            }
        }
        let place = self.reading.place;
        let mut evidence = ChainEvidence::from_records(name.clone(), place, false, &chain.records, true);
        evidence.at.clone_from(&chain.at);
        let listed_name = listed.tool.as_deref().zip(listed.session.as_deref());
        let names: Vec<(&str, &str)> = sealed.into_iter().chain(listed_name).collect();
        limit(&mut evidence, &self.retired, &names);
        if evidence.fault.is_none() && first_refused(&evidence, self.policy).is_none() {
            let file = format!("{}.json", listed.id);
            for (place, claim) in [("index.json", &listed.claim), (&file, &chain.header)] {
                if let Some(mismatch) = claim.conflict(&chain.facts) {
                    let message = mismatch.sentence(place);
                    self.claim(FindingCode::Contradiction, Some(name.clone()), message);
                }
            }
        }
        self.time_breaks(&name, chain);
        self.evidence.chains.push(evidence);
        moved
    }

    fn meta(&mut self) {
        let claim = &self.reading.index.meta;
        // The index says how long the meta-chain is: one that is shorter or gone was cut.
        if let Some(length) = claim.as_ref().and_then(|claim| claim.length) {
            self.evidence.expectations.push(Expectation {
                source: ExpectationSource::Index,
                chain: META.to_owned(),
                count: length,
                head: None,
            });
        }
        for (count, hash) in &self.reading.noted {
            self.evidence.expectations.push(Expectation {
                source: ExpectationSource::PinnedHead,
                chain: META.to_owned(),
                count: *count,
                head: Some(hash.clone()),
            });
        }
        let meta = match &self.reading.meta {
            None | Some(ReadChain::Missing) => return,
            Some(ReadChain::Unreadable(why)) => return self.unreadable(META, why.clone()),
            Some(ReadChain::Checked(meta)) => meta,
        };
        let mut evidence =
            ChainEvidence::from_records(META.to_owned(), self.reading.place, true, &meta.records, true);
        evidence.at.clone_from(&meta.at);
        limit(&mut evidence, &self.retired, &[(META, META)]);
        if evidence.fault.is_none() && self.good_meta == evidence.total {
            let claims = claim.iter().map(|claim| ("index.json", claim)).chain([("meta.json", &meta.header)]);
            for (place, claim) in claims {
                let mismatch = claim.conflict(&meta.facts);
                // That it is shorter is said by the expectation.
                let is_cut = claim.length.is_some_and(|length| length > meta.facts.length);
                if is_cut && place == "meta.json" {
                    self.evidence.expectations.push(Expectation {
                        source: ExpectationSource::Index,
                        chain: META.to_owned(),
                        count: claim.length.unwrap_or_default(),
                        head: None,
                    });
                }
                if let Some(mismatch) = mismatch.filter(|_| !is_cut) {
                    let message = mismatch.sentence(place);
                    self.claim(FindingCode::Contradiction, Some(META.to_owned()), message);
                }
            }
        }
        self.time_breaks(META, meta);
        self.evidence.chains.push(evidence);
    }

    fn time_breaks(&mut self, name: &str, chain: &CheckedChain) {
        self.evidence.notes.extend(chain.time_breaks.iter().map(|position| EvidenceNote {
            code: FindingCode::TimeOrder,
            chain: name.to_owned(),
            position: Some(*position),
            message: format!(
                "Record {position} claims an earlier time than record {}.",
                position.saturating_sub(1)
            ),
        }));
    }

    fn claim(&mut self, code: FindingCode, chain: Option<String>, message: String) {
        self.evidence.claims.push(ClaimFault { code, chain, message });
    }

    fn unreadable(&mut self, chain: &str, message: String) {
        let (chain, code) = (chain.to_owned(), FindingCode::Unreadable);
        self.evidence.unreadable.push(UnreadableChain { chain, code, message, fix: None });
    }
}

/// Says up to which length each retired key may have signed a chain of these names.
fn limit(evidence: &mut ChainEvidence, retired: &BTreeMap<String, RetiredLimits>, names: &[(&str, &str)]) {
    for run in &mut evidence.runs {
        let Some(limits) = retired.get(&run.signer) else { continue };
        let named = names.iter().map(|(tool, session)| ((*tool).to_owned(), (*session).to_owned()));
        run.until = Some(named.filter_map(|name| limits.get(&name).copied()).next().unwrap_or_default());
    }
}

/// Whether a chain's id is the name itself, or one that is safe for files and carries a hash; `-2` if it was taken.
fn is_name_of(id: &str, full: &str) -> bool {
    let hash = sha3_hex(full.as_bytes());
    let is_it = |id: &str| {
        let ending = id.strip_suffix(hash.get(..8).unwrap_or_default());
        id == full || ending.is_some_and(|rest| rest.ends_with('-'))
    };
    let numbered = id
        .rsplit_once('-')
        .filter(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    is_it(id) || numbered.is_some_and(|(name, _)| is_it(name))
}
