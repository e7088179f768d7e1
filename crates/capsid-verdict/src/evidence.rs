//! What was found out about chains, and what anything says must be there. A verdict is made of this alone.

use crate::finding::FindingCode;
use crate::key_set::KeyOrigin;
use crate::verify::{ChainVerdict, SignerRun, VerifyFailureClass};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All that a verdict is made of.
#[derive(Debug, Clone, Default)]
pub struct VerdictEvidence {
    /// The chains; the meta-chain is one of them.
    pub chains: Vec<ChainEvidence>,
    /// Whether anything claims facts about the chains from outside: an index, a header, a path.
    pub has_claims: bool,
    /// Claims that do not hold.
    pub claims: Vec<ClaimFault>,
    /// What anything says must be there.
    pub expectations: Vec<Expectation>,
    /// What cannot be read.
    pub unreadable: Vec<UnreadableChain>,
    /// What was left out on purpose, in words that follow "Not checked:".
    pub not_checked: Vec<String>,
    /// What a reader may want to know, and what changes no level.
    pub notes: Vec<EvidenceNote>,
}

/// What a chain's records come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainEvidence {
    /// `tool/session`, `meta`, or the path.
    pub name: String,
    /// Where it is.
    pub place: ChainPlace,
    /// Whether it is the meta-chain.
    pub is_meta: bool,
    /// How many records there are.
    pub total: u64,
    /// The first bad record.
    pub fault: Option<EvidenceFault>,
    /// Who signed; empty when signatures were not checked.
    pub runs: Vec<SignerRun>,
    /// Whether signatures were checked.
    pub has_checked_signatures: bool,
    /// Records that wait for their signatures.
    pub pending: u64,
    /// Post-quantum signatures that nobody could check.
    pub post_quantum_unchecked: u64,
    /// The hash of the last record at each length that an expectation names.
    pub at: BTreeMap<u64, String>,
}

impl ChainEvidence {
    /// The evidence of a chain whose records were verified.
    pub fn from_records(
        name: String,
        place: ChainPlace,
        is_meta: bool,
        records: &ChainVerdict,
        has_checked_signatures: bool,
    ) -> Self {
        let fault = records.failure.as_ref().map(|failure| EvidenceFault {
            code: fault_code(failure.class, &failure.message),
            position: records.broken_at.unwrap_or(records.length),
            detail: failure.message.clone(),
        });
        Self {
            name,
            place,
            is_meta,
            total: records.total.max(records.length),
            fault,
            runs: records.runs.clone(),
            has_checked_signatures,
            pending: 0,
            post_quantum_unchecked: records.post_quantum_unchecked,
            at: records.watched.clone(),
        }
    }

    /// How many records are good, from the first on.
    pub fn good(&self) -> u64 {
        self.fault.as_ref().map_or(self.total, |fault| fault.position)
    }
}

fn fault_code(class: VerifyFailureClass, message: &str) -> FindingCode {
    match class {
        VerifyFailureClass::Hash => FindingCode::Hash,
        VerifyFailureClass::Link => FindingCode::Link,
        VerifyFailureClass::Signature if message.starts_with(crate::record::POST_QUANTUM_INVALID) => {
            FindingCode::SignaturePq
        }
        VerifyFailureClass::Signature => FindingCode::Signature,
        VerifyFailureClass::UnknownSigner => FindingCode::UnknownSigner,
        VerifyFailureClass::Column => FindingCode::Column,
        VerifyFailureClass::Malformed => FindingCode::Malformed,
        VerifyFailureClass::Missing => FindingCode::Missing,
    }
}

/// Where a chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChainPlace {
    /// Among the chains of the user's home.
    Home,
    /// In the home, taken in from elsewhere.
    Imported,
    /// In an export.
    Bundle,
    /// In a file by itself.
    #[default]
    File,
}

/// What is wrong with the first bad record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceFault {
    /// The kind.
    pub code: FindingCode,
    /// The position that the record should have.
    pub position: u64,
    /// A few words with the position.
    pub detail: String,
}

/// A claim that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimFault {
    /// The kind: `contradiction`, `listed_twice`, `key_refused` or `unlisted_file`.
    pub code: FindingCode,
    /// The chain that it is about.
    pub chain: Option<String>,
    /// The sentence.
    pub message: String,
}

/// Something that says how long a chain was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Who says so.
    pub source: ExpectationSource,
    /// The chain: `tool/session` or `meta`.
    pub chain: String,
    /// How many records it had.
    pub count: u64,
    /// The hash of the last one, where it is known.
    pub head: Option<String>,
}

/// Who says how long a chain was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectationSource {
    /// An entry of the meta-chain.
    MetaEntry,
    /// The list of open chains in an entry of the meta-chain.
    MetaOpenList,
    /// A checkpoint file.
    CheckpointFile,
    /// The keys of sealed items, next to the records.
    SealedKeys,
    /// The mark that a finalised chain carries.
    FinalisedMark,
    /// A signed head statement.
    HeadStatement(StatementSigner),
    /// A head that the user noted elsewhere.
    PinnedHead,
    /// The index of a bundle.
    Index,
    /// An earlier import, which took the chain as it was.
    Import,
    /// The note beside a chain that was imported.
    ImportNote,
}

/// Who signed a head statement. Its signature was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementSigner {
    /// The fingerprint of the key.
    pub fingerprint: String,
    /// Where the key came from: the requirement of a verification refuses some.
    pub origin: KeyOrigin,
}

impl ExpectationSource {
    /// How a sentence names it.
    pub fn phrase(&self) -> String {
        match self {
            Self::MetaEntry => "the meta-chain recorded".to_owned(),
            Self::MetaOpenList => "the meta-chain listed it with".to_owned(),
            Self::CheckpointFile => "its checkpoint file names".to_owned(),
            Self::SealedKeys => "its list of sealed items names".to_owned(),
            Self::FinalisedMark => "the mark of a finalised chain names".to_owned(),
            Self::HeadStatement(signer) => format!("a statement signed by {} counts", signer.fingerprint),
            Self::PinnedHead => "you noted".to_owned(),
            Self::Index => "index.json lists".to_owned(),
            Self::ImportNote => "the note of its import names".to_owned(),
            Self::Import => "it was taken in although it lacked some of".to_owned(),
        }
    }
}

/// Something that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableChain {
    /// The chain or the file.
    pub chain: String,
    /// `unreadable` or `changed`.
    pub code: FindingCode,
    /// The sentence.
    pub message: String,
    /// How to fix it.
    pub fix: Option<String>,
}

/// A note that changes no level, or one that says why nothing more can be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceNote {
    /// The kind: `recovered_copy`, `time_order`, `statement_invalid` or `signer_unreachable`.
    pub code: FindingCode,
    /// The chain; empty where it is about all of them.
    pub chain: String,
    /// The position.
    pub position: Option<u64>,
    /// The sentence.
    pub message: String,
}
