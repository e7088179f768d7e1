//! What the service knows of one chain.

use super::HashBytes;
use super::record_text::RecordText;
use super::refusal::SignerRefusal;
use super::signer_chain::SignerChain;

/// The end of a chain that was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedHead {
    pub count: u64,
    pub hash: HashBytes,
    /// The entry of the journal that made it.
    pub entry: u64,
}

/// Where the journal holds the hashes of the last request of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedSpan {
    pub first: u64,
    pub count: u64,
    /// The position of the entry in the journal.
    pub offset: u64,
}

/// A chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignerChainState {
    pub name: SignerChain,
    /// None before the first record.
    pub head: Option<SignedHead>,
    /// How many of its records the home's own key signed.
    pub adopted: u64,
    /// Ends of histories that root gave up.
    pub restarted: Vec<SignedHead>,
    pub(super) last: Option<SignedSpan>,
}

impl SignerChainState {
    pub(super) fn new(name: SignerChain) -> Self {
        Self { name, head: None, adopted: 0, restarted: Vec::new(), last: None }
    }

    /// How many records are signed.
    pub fn count(&self) -> u64 {
        self.head.map_or(0, |head| head.count)
    }

    pub(super) fn fork(&self) -> SignerRefusal {
        SignerRefusal::fork(self.count(), self.head.as_ref().map(|head| &head.hash))
    }

    /// The texts that are new. Those before them must be the ones of the last request, which is repeated after a crash.
    pub(super) fn new_texts<'a>(
        &self,
        texts: &'a [RecordText],
        hashes_at: impl FnOnce(u64) -> Result<Vec<HashBytes>, SignerRefusal>,
    ) -> Result<&'a [RecordText], SignerRefusal> {
        let first = texts.first().map_or(0, |text| text.sequence);
        let known = self.count().checked_sub(first).ok_or_else(|| self.fork())?;
        let known = usize::try_from(known).unwrap_or(usize::MAX).min(texts.len());
        let (repeated, new) = texts.split_at(known);
        if !repeated.is_empty() {
            let span = self.last.filter(|span| span.first <= first).ok_or_else(|| self.fork())?;
            let hashes = hashes_at(span.offset)?;
            let start = usize::try_from(first - span.first).unwrap_or(usize::MAX);
            let signed = hashes.get(start..).unwrap_or_default();
            let is_same = signed.len() >= repeated.len()
                && signed.iter().zip(repeated).all(|(hash, text)| *hash == text.hash);
            if !is_same {
                return Err(self.fork());
            }
        }
        let mut previous = self.head.map(|head| head.hash);
        for (sequence, text) in (self.count()..).zip(new) {
            if (text.sequence, text.previous) != (sequence, previous) {
                return Err(self.fork());
            }
            previous = Some(text.hash);
        }
        Ok(new)
    }
}
