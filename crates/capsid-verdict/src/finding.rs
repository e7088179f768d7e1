//! One fact about chains, with a stable code.

use crate::level::{Dimension, VerdictLevel};
use serde::{Deserialize, Serialize};

/// A fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    pub code: FindingCode,
    /// How bad it is here.
    pub level: VerdictLevel,
    /// What it is about.
    pub dimension: Dimension,
    /// The chain.
    pub chain: Option<String>,
    /// The position of the record.
    pub position: Option<u64>,
    /// A sentence.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

macro_rules! codes {
    ($($name:ident $word:literal $dimension:ident $doc:literal;)*) => {
        /// The kinds of findings. `findings.toml` says when each is found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum FindingCode { $(#[doc = $doc] $name,)* }

        impl FindingCode {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// What it is about.
            pub fn dimension(self) -> Dimension {
                match self { $(Self::$name => Dimension::$dimension,)* }
            }
        }
    };
}

codes! {
    Hash "hash" Content "Text and hash differ.";
    Malformed "malformed" Content "It is not a sealed record.";
    Column "column" Link "A column differs from the text.";
    Missing "missing" Link "There is a gap inside the chain.";
    Link "link" Link "A record does not follow the one before it.";
    Signature "signature" Signature "A signature does not hold.";
    SignaturePq "signature_pq" Signature "A post-quantum signature does not hold.";
    UnknownSigner "unknown_signer" Signature "No key goes by the signer's name.";
    SignerNotAllowed "signer_not_allowed" Signer "A key does not meet the requirement.";
    RetiredKey "retired_key" Signer "A retired key signed after its last position.";
    BundledSigner "bundled_signer" Signer "The keys came with the data.";
    Contradiction "contradiction" Claims "A header and the records differ.";
    ListedTwice "listed_twice" Claims "A chain is listed twice, or named like the meta-chain.";
    KeyRefused "key_refused" Claims "A key has a name that is not its own.";
    UnlistedFile "unlisted_file" Claims "The index does not list a chain file.";
    ChainMissing "chain_missing" Completeness "A listed chain has no file.";
    MetaInvalid "meta_invalid" Meta "The meta-chain is broken.";
    MetaTruncated "meta_truncated" Completeness "The meta-chain is shorter than a trace of it.";
    MetaMissing "meta_missing" Completeness "The meta-chain is gone, and a trace is left.";
    MetaAbsent "meta_absent" Completeness "Nothing says how long the chains were.";
    Truncated "truncated" Completeness "A chain is shorter than recorded.";
    ConversationMissing "conversation_missing" Completeness "A recorded chain is absent.";
    Altered "altered" Completeness "A chain differs at a recorded count.";
    Grown "grown" Completeness "A chain is longer than recorded.";
    Open "open" Completeness "A chain is not recorded yet.";
    Unrecorded "unrecorded" Completeness "The meta-chain of a bundle does not know a chain.";
    PinnedHeadMissing "pinned_head_missing" Completeness "A noted head is beyond the end.";
    PinnedHeadDiffers "pinned_head_differs" Completeness "A noted head differs.";
    Forked "forked" Completeness "A chain differs from a head statement at its count.";
    StatementInvalid "statement_invalid" Signer "A head statement is not signed by an allowed key.";
    SignerUnreachable "signer_unreachable" Completeness "The signing service and its heads cannot be read.";
    Pending "pending" Signature "Records wait for a signature.";
    NotChecked "not_checked" Content "Something was left out on purpose.";
    Empty "empty" Completeness "A chain has no records.";
    RecoveredCopy "recovered_copy" Content "A private copy was rolled back and read.";
    TimeOrder "time_order" Time "A claimed time goes back.";
    Changed "changed" Content "A file changed while it was read.";
    Unreadable "unreadable" Content "It cannot be read.";
}

impl FindingCode {
    /// The step of the evaluation that finds it, from 1 on. Of findings of one level, the earliest step decides.
    pub fn step(self) -> u8 {
        match self {
            Self::Unreadable | Self::Changed => 1,
            Self::Hash | Self::Malformed => 2,
            Self::Column => 3,
            Self::Missing | Self::Link => 4,
            Self::Signature | Self::UnknownSigner => 5,
            Self::SignaturePq => 6,
            Self::SignerNotAllowed | Self::RetiredKey | Self::BundledSigner => 7,
            Self::Contradiction
            | Self::ListedTwice
            | Self::KeyRefused
            | Self::UnlistedFile
            | Self::ChainMissing => 8,
            Self::MetaInvalid | Self::MetaTruncated | Self::MetaMissing => 9,
            Self::MetaAbsent
            | Self::Truncated
            | Self::ConversationMissing
            | Self::Altered
            | Self::Grown
            | Self::Open
            | Self::Unrecorded
            | Self::PinnedHeadMissing
            | Self::PinnedHeadDiffers => 10,
            Self::Forked | Self::StatementInvalid | Self::SignerUnreachable => 11,
            Self::Pending | Self::NotChecked | Self::Empty | Self::RecoveredCopy | Self::TimeOrder => 12,
        }
    }
    /// Whether it is about a record by itself, or about who signed it.
    pub(crate) fn is_of_a_record(self) -> bool {
        (2..=7).contains(&self.step())
    }
}
