//! Evidence of a home where all is well, to be spoiled.

use capsid_verdict::KeyOrigin;
use capsid_verdict::evidence::{ChainEvidence, ChainPlace, Expectation, ExpectationSource, VerdictEvidence};
use capsid_verdict::verify::SignerRun;
use std::collections::BTreeMap;

pub const NAME: &str = "codex/s";
pub const SIGNER: &str = "0123456789abcdef";

/// The hash of the last record of a chain when it had so many.
pub fn head(count: u64) -> String {
    format!("{count:064x}")
}

pub fn run(first: u64, count: u64, origin: Option<KeyOrigin>) -> SignerRun {
    SignerRun { first, count, signer: SIGNER.to_owned(), origin, epoch: None, until: None }
}

pub fn chain(name: &str, total: u64) -> ChainEvidence {
    ChainEvidence {
        name: name.to_owned(),
        place: ChainPlace::Home,
        is_meta: name == "meta",
        total,
        runs: vec![run(0, total, Some(KeyOrigin::Own))],
        has_checked_signatures: true,
        at: (1..=total).map(|count| (count, head(count))).collect::<BTreeMap<_, _>>(),
        ..ChainEvidence::default()
    }
}

pub fn expect(source: ExpectationSource, chain: &str, count: u64, head: Option<String>) -> Expectation {
    Expectation { source, chain: chain.to_owned(), count, head }
}

/// One chain of four records that the meta-chain recorded.
pub fn sound() -> VerdictEvidence {
    VerdictEvidence {
        chains: vec![chain(NAME, 4), chain("meta", 1)],
        has_claims: true,
        expectations: vec![expect(ExpectationSource::MetaEntry, NAME, 4, Some(head(4)))],
        ..VerdictEvidence::default()
    }
}
