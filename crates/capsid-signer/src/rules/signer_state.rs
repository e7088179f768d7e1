//! What the entries of a user's journal add up to, and which events may follow.

use super::chain_state::{SignedHead, SignedSpan, SignerChainState};
use super::entry::{EpochReason, JournalEntry, JournalEvent};
use super::record_text::RecordText;
use super::refusal::SignerRefusal;
use super::signer_chain::SignerChain;
use super::{HashBytes, MAX_CHAINS, MAX_TEXTS};
use std::collections::HashMap;

/// The time of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignerEpoch {
    pub reason: EpochReason,
    pub key: HashBytes,
    /// By the key before it; zero where there is none.
    pub signature: [u8; 64],
    /// The entry that began it.
    pub from_entry: u64,
}

/// The state of one user. It changes by entries only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignerState {
    next_number: u64,
    last_hash: HashBytes,
    chains: Vec<SignerChainState>,
    index: HashMap<SignerChain, u32>,
    epochs: Vec<SignerEpoch>,
    records: u64,
    /// Whether a record was signed since the first key or the last reset.
    has_signed: bool,
}

impl SignerState {
    /// The number of the next entry.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// All chains, in the order in which they were opened.
    pub fn chains(&self) -> &[SignerChainState] {
        &self.chains
    }

    /// The keys over time.
    pub fn epochs(&self) -> &[SignerEpoch] {
        &self.epochs
    }

    /// How many records were signed.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Whether chains may still be taken over.
    pub fn is_adopt_open(&self) -> bool {
        !self.has_signed
    }

    /// One chain.
    pub fn chain(&self, name: &SignerChain) -> Option<&SignerChainState> {
        self.chains.get(*self.index.get(name)? as usize)
    }

    /// The entry that an event becomes.
    pub fn entry(&self, event: JournalEvent, time: i64) -> JournalEntry {
        JournalEntry { number: self.next_number, time, previous: self.last_hash, event }
    }

    /// The entries that events become, one after the other, each with its bytes and its hash.
    pub fn chain_entries(
        &self,
        events: Vec<JournalEvent>,
        time: i64,
    ) -> Vec<(JournalEntry, Vec<u8>, HashBytes)> {
        let (mut number, mut previous) = (self.next_number, self.last_hash);
        let entries = events.into_iter().map(|event| {
            let entry = JournalEntry { number, time, previous, event };
            let (bytes, hash) = entry.encode();
            (number, previous) = (number + 1, hash);
            (entry, bytes, hash)
        });
        entries.collect()
    }

    /// Adds an entry with its hash; `offset` is its position in the journal. One that may not follow is refused, and
    /// then nothing changes.
    pub fn apply(&mut self, entry: &JournalEntry, hash: HashBytes, offset: u64) -> Result<(), String> {
        if (entry.number, entry.previous) != (self.next_number, self.last_hash) {
            return Err(format!("entry {} does not follow the one before it", entry.number));
        }
        self.apply_event(&entry.event, entry.number, offset)
            .map_err(|reason| format!("entry {}: {reason}", entry.number))?;
        self.next_number += 1;
        self.last_hash = hash;
        Ok(())
    }

    fn apply_event(&mut self, event: &JournalEvent, number: u64, offset: u64) -> Result<(), &'static str> {
        match event {
            JournalEvent::Epoch { reason, key, signature } => {
                if self.epochs.is_empty() != (*reason == EpochReason::Created) {
                    return Err("a key does not come into use like this");
                }
                let (reason, key, signature) = (*reason, *key, *signature);
                self.epochs.push(SignerEpoch { reason, key, signature, from_entry: number });
                self.has_signed &= reason != EpochReason::Reset;
            }
            JournalEvent::Opened(name) => {
                if self.index.contains_key(name) || self.chains.len() >= MAX_CHAINS {
                    return Err("the chain is open already, or there are too many");
                }
                let number = u32::try_from(self.chains.len()).map_err(|_| "too many chains")?;
                self.index.insert(name.clone(), number);
                self.chains.push(SignerChainState::new(name.clone()));
            }
            JournalEvent::Signed { chain, first, hashes }
            | JournalEvent::CaughtUp { chain, first, hashes } => {
                let chain = self.chains.get_mut(*chain as usize).ok_or("the chain is not open")?;
                let count = hashes.len() as u64;
                let (Some(hash), true) = (hashes.last(), chain.count() == *first) else {
                    return Err("the records do not extend the chain");
                };
                chain.head = Some(SignedHead { count: first + count, hash: *hash, entry: number });
                chain.last = Some(SignedSpan { first: *first, count, offset });
                self.records += count;
                self.has_signed = true;
            }
            JournalEvent::Adopted { chain, count, head } => {
                let is_open = self.is_adopt_open();
                let chain = self.chains.get_mut(*chain as usize).ok_or("the chain is not open")?;
                if !is_open || *count == 0 || *count < chain.count() {
                    return Err("the chain cannot be taken over any more");
                }
                chain.head = Some(SignedHead { count: *count, hash: *head, entry: number });
                chain.adopted = *count;
                chain.last = None;
            }
            JournalEvent::Restarted { chain } => {
                let chain = self.chains.get_mut(*chain as usize).ok_or("the chain is not open")?;
                chain.restarted.extend(chain.head.take());
                chain.adopted = 0;
                chain.last = None;
            }
        }
        Ok(())
    }

    /// The events that sign records: none if all of them were signed before.
    ///
    /// `hashes_at` gives the hashes of the entry at a position of the journal.
    pub fn plan_records(
        &self,
        texts: &[RecordText],
        is_caught_up: bool,
        hashes_at: impl FnOnce(u64) -> Result<Vec<HashBytes>, SignerRefusal>,
    ) -> Result<Vec<JournalEvent>, SignerRefusal> {
        let Some(name) = texts.first().map(|text| &text.chain) else {
            return Err(SignerRefusal::malformed("the request holds no text"));
        };
        if texts.len() > MAX_TEXTS {
            return Err(SignerRefusal::malformed(format_args!("a request holds at most {MAX_TEXTS} texts")));
        }
        if texts.iter().any(|text| text.chain != *name) {
            return Err(SignerRefusal::malformed("a request holds texts of one chain"));
        }
        let (chain, mut events) = self.open_chain(name)?;
        let unopened = SignerChainState::new(name.clone());
        let state = self.chain(name).unwrap_or(&unopened);
        // Records that are sent again must follow each other too.
        let is_linked = texts.windows(2).all(|pair| {
            pair[0].sequence.checked_add(1) == Some(pair[1].sequence)
                && pair[1].previous == Some(pair[0].hash)
        });
        if !is_linked {
            return Err(state.fork());
        }
        let new = state.new_texts(texts, hashes_at)?;
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let (first, hashes) = (state.count(), new.iter().map(|text| text.hash).collect());
        events.push(match is_caught_up {
            true => JournalEvent::CaughtUp { chain, first, hashes },
            false => JournalEvent::Signed { chain, first, hashes },
        });
        Ok(events)
    }

    /// The events that take a chain over.
    pub fn plan_adopt(
        &self,
        name: &SignerChain,
        count: u64,
        head: HashBytes,
    ) -> Result<Vec<JournalEvent>, SignerRefusal> {
        if !self.is_adopt_open() {
            return Err(SignerRefusal::refused("Records were signed already, so no chain is taken over."));
        }
        let (chain, mut events) = self.open_chain(name)?;
        match self.chain(name).and_then(|chain| chain.head) {
            Some(known) if (known.count, known.hash) == (count, head) => return Ok(Vec::new()),
            Some(known) if known.count >= count => {
                return Err(SignerRefusal::fork(known.count, Some(&known.hash)));
            }
            _ => events.push(JournalEvent::Adopted { chain, count, head }),
        }
        Ok(events)
    }

    /// The event that allows a new history.
    pub fn plan_restart(&self, name: &SignerChain) -> Result<JournalEvent, SignerRefusal> {
        match self.index.get(name) {
            Some(chain) => Ok(JournalEvent::Restarted { chain: *chain }),
            None => Err(SignerRefusal::refused("The service knows no such chain.")),
        }
    }

    fn open_chain(&self, name: &SignerChain) -> Result<(u32, Vec<JournalEvent>), SignerRefusal> {
        match self.index.get(name) {
            Some(chain) => Ok((*chain, Vec::new())),
            None if self.chains.len() >= MAX_CHAINS => {
                Err(SignerRefusal::busy(&format!("{MAX_CHAINS} chains"), 3_600_000))
            }
            None => {
                let chain = u32::try_from(self.chains.len()).unwrap_or(u32::MAX);
                Ok((chain, vec![JournalEvent::Opened(name.clone())]))
            }
        }
    }
}

#[cfg(test)]
#[path = "signer_state_tests.rs"]
mod tests;
