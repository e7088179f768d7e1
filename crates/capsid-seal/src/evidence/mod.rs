//! Collects what a verdict is made of: the chains of a home, a bundle, a database or a JSON file, and everything that says
//! what must be there. Nothing is written. [`capsid_verdict::evaluate`] makes the verdict of it.

mod bundle;
mod chain;
mod changes;
mod home;
mod imported;
mod meta;
mod names;
mod own_limits;
mod statement;

pub use home::collect_home;
pub use imported::collect_imported;
pub use meta::read_meta;
pub use own_limits::{AdoptedCounts, OwnKeyLimits};

use crate::keys::KeySet;
use crate::meta::PinnedHead;
use crate::sources::{ChainSource, ChainSources, SourceKind};
use crate::verify::{ChainVerdict, VerifiedCheckpoint};
use capsid_model::{Code, Problem, Result};
use capsid_verdict::evidence::{ClaimFault, Expectation, UnreadableChain, VerdictEvidence};
use capsid_verdict::{FindingCode, SignerPolicy, TrailVerdict, evaluate};
use std::collections::BTreeSet;

/// The name of the meta-chain in evidence.
pub const META: &str = "meta";

/// How much to look at.
#[derive(Debug, Clone, Default)]
pub struct CollectOptions {
    /// Leave signatures out. The verdict is `unverified` at best.
    pub skip_signatures: bool,
    /// Check many signatures at once; see [`crate::verify::BATCH_NOTE`].
    pub batch: bool,
    /// Verify the chains of databases from their last recorded count on, and compare the rest by counts and heads.
    pub quick: bool,
    /// Begin at a record that was verified before. For a single chain.
    pub since: Option<VerifiedCheckpoint>,
    /// How many threads check; 0 is one for every core.
    pub threads: usize,
    /// States of the meta-chain that were noted elsewhere.
    pub meta_heads: Vec<PinnedHead>,
    /// The chains of a home to look at, as `tool/session`; the meta-chain is always read. All when there are none.
    pub only: BTreeSet<String>,
    /// What a witness outside the data says, such as the signing service.
    pub expectations: Vec<Expectation>,
    /// What the user's own home says of its keys, for data that is not among its chains.
    pub own_limits: OwnKeyLimits,
}

impl CollectOptions {
    /// For one chain of a home and its traces.
    pub fn for_chain(tool: &str, session: &str) -> Self {
        Self { only: BTreeSet::from([format!("{tool}/{session}")]), ..Self::default() }
    }
}

/// Evidence, and the chains that it is about.
#[derive(Debug, Clone, Default)]
pub struct CollectedEvidence {
    /// What [`evaluate`] takes.
    pub evidence: VerdictEvidence,
    /// Every chain that was found, with what its records come to.
    pub chains: Vec<CollectedChain>,
}

/// A chain that was found.
#[derive(Debug, Clone)]
pub struct CollectedChain {
    /// Its name in the evidence: `tool/session`, `meta`, or the path.
    pub name: String,
    /// Where its records are.
    pub source: ChainSource,
    /// What its records come to; none when they cannot be read.
    pub records: Option<ChainVerdict>,
    /// Why they cannot be read.
    pub problem: Option<Problem>,
}

impl CollectedChain {
    /// The name of a chain in evidence: `tool/session`, `meta`, or what the source is called.
    pub fn name_of(source: &ChainSource) -> String {
        names::of_source(source)
    }
}

impl CollectedEvidence {
    /// The verdict under a requirement.
    pub fn evaluate(&self, policy: &SignerPolicy) -> TrailVerdict {
        evaluate(&self.evidence, policy)
    }

    /// Notes why a chain cannot be read. Rows that somebody hid are no trouble of reading.
    fn push_unreadable(&mut self, chain: &str, problem: &Problem) {
        if problem.code == Code::ChainBroken {
            return self.push_claim(FindingCode::Malformed, Some(chain), problem.message.clone());
        }
        self.evidence.unreadable.push(UnreadableChain {
            chain: chain.to_owned(),
            code: FindingCode::Unreadable,
            message: problem.message.clone(),
            fix: problem.fix.clone(),
        });
    }

    fn push_claim(&mut self, code: FindingCode, chain: Option<&str>, message: String) {
        self.evidence.claims.push(ClaimFault { code, chain: chain.map(str::to_owned), message });
    }

    fn note_options(&mut self, options: &CollectOptions) {
        if options.skip_signatures {
            self.evidence.not_checked.push("signatures".to_owned());
        }
        if let Some(since) = &options.since {
            self.evidence.not_checked.push(format!("the first {} records", since.sequence));
        }
    }
}

/// Collects whatever was opened: a bundle, a database, JSON files, or a home elsewhere.
pub fn collect_sources(
    sources: &ChainSources,
    keys: &KeySet,
    options: &CollectOptions,
) -> Result<CollectedEvidence> {
    match sources.kind {
        SourceKind::Bundle => bundle::collect(sources, keys, options),
        _ => home::collect_files(sources, keys, options),
    }
}

/// The lengths at which somebody knows the hash of a chain's last record.
fn watched(expected: &[Expectation], chain: &str) -> BTreeSet<u64> {
    expected.iter().filter(|one| one.chain == chain && one.head.is_some()).map(|one| one.count).collect()
}
