//! Checking the meta-chain, and every conversation against it.

use super::compare::{CheckedConversation, MetaVerifyOptions, PinnedHead, compare_all};
use super::entry::MetaEntry;
use crate::TrailHome;
use crate::chain::{ChainReader, checkpoint_keys, checkpoint_of};
use crate::keys::KeySet;
use crate::verify::{self, ChainVerdict};
use capsid_model::{Problem, Result};
use std::collections::HashMap;
use std::path::Path;

/// What a pinned head proves about the meta-chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinResult {
    /// It is the head.
    Head,
    /// The chain went on from it.
    Ancestor,
    /// The chain is shorter than it was.
    Truncated,
    /// Another record is at its position.
    Altered,
}

/// What there is to say about a home's meta-chain and its conversations.
#[derive(Debug, Clone)]
pub struct MetaReport {
    /// The verdict on the meta-chain itself; none when there is no meta-chain.
    pub chain: Option<ChainVerdict>,
    /// How many records its checkpoint file names while the meta-chain itself is absent or empty.
    pub lost: usize,
    /// How it compares with the pinned head, if there is one.
    pub pin: Option<PinResult>,
    /// The conversations: recorded ones in the order of the meta-chain, then the others.
    pub conversations: Vec<CheckedConversation>,
}

impl MetaReport {
    /// The head, to be noted outside; none when the meta-chain is empty, absent or broken.
    pub fn head(&self) -> Option<PinnedHead> {
        let chain = self.chain.as_ref().filter(|chain| chain.valid)?;
        Some(PinnedHead { length: chain.length, hash: chain.head.clone()? })
    }

    /// Whether nothing is broken, lost or changed. Conversations that grew or were not recorded yet are no fault.
    pub fn is_ok(&self) -> bool {
        self.chain.as_ref().is_none_or(|chain| chain.valid)
            && self.lost == 0
            && !matches!(self.pin, Some(PinResult::Truncated | PinResult::Altered))
            && !self.conversations.iter().any(|conversation| conversation.status.is_bad())
    }
}

/// Verifies the meta-chain of a home, and every conversation against its last record. Nothing is created.
///
/// Behind a break of the meta-chain nothing is believed: only conversations recorded before it are compared.
pub fn verify_meta(home: &TrailHome, keys: &KeySet, options: &MetaVerifyOptions) -> Result<MetaReport> {
    std::fs::read_dir(home.root()).map_err(|error| Problem::io("read", home.root(), &error))?;
    let mut log = MetaLog::default();
    let chain = match home.meta() {
        meta if meta.exists() => Some(verify_chain(&meta, keys, options, &mut log)?),
        _ => None,
    };
    let verified = chain.as_ref().map_or(0, |chain| chain.length);
    let broken = chain.as_ref().is_some_and(|chain| !chain.valid);
    let lost = match &chain {
        Some(chain) if chain.total > 0 => 0,
        _ => checkpoint_keys(&checkpoint_of(&home.meta())).len(),
    };
    let pin = options.pinned.as_ref().map(|pinned| compare_pin(pinned, &log, verified, broken));
    let entries = latest(log.entries.into_iter().filter(|(at, _)| *at < verified).map(|(_, entry)| entry));
    let conversations = compare_all(home, entries, keys, options, broken)?;
    Ok(MetaReport { chain, lost, pin, conversations })
}

/// What was met while the meta-chain was verified.
#[derive(Debug, Default)]
struct MetaLog {
    entries: Vec<(u64, MetaEntry)>,
    /// The hash at the pinned place.
    at_pin: Option<String>,
}

fn verify_chain(
    path: &Path,
    keys: &KeySet,
    options: &MetaVerifyOptions,
    log: &mut MetaLog,
) -> Result<ChainVerdict> {
    let pinned = options.pinned.as_ref().map(|pinned| pinned.length);
    let records = ChainReader::open(path)?.into_records(None).zip(0..).map(|(stored, at)| {
        if let Ok(stored) = &stored {
            log.entries.extend(MetaEntry::parse(&stored.canonical).map(|entry| (at, entry)));
            if pinned == Some(at + 1) {
                log.at_pin = Some(stored.seal.hash.clone());
            }
        }
        stored
    });
    let options =
        verify::VerifyOptions { signatures: options.signatures, ..verify::VerifyOptions::default() };
    verify::verify(records, &options, keys)
}

fn compare_pin(pinned: &PinnedHead, log: &MetaLog, verified: u64, broken: bool) -> PinResult {
    match &log.at_pin {
        _ if pinned.length == 0 => PinResult::Ancestor,
        _ if verified < pinned.length && broken => PinResult::Altered,
        _ if verified < pinned.length => PinResult::Truncated,
        Some(hash) if *hash != pinned.hash => PinResult::Altered,
        _ if verified == pinned.length && !broken => PinResult::Head,
        _ => PinResult::Ancestor,
    }
}

/// The last entry of each conversation, in the order of their first ones.
pub(super) fn latest(entries: impl Iterator<Item = MetaEntry>) -> Vec<MetaEntry> {
    let mut index_by_name = HashMap::new();
    let mut latest: Vec<MetaEntry> = Vec::new();
    for mut entry in entries {
        let index = *index_by_name.entry((entry.tool.clone(), entry.session.clone())).or_insert(latest.len());
        match latest.get_mut(index) {
            Some(before) => {
                entry.earlier = std::mem::take(&mut before.earlier);
                entry.earlier.push((before.count, before.head_hash.clone()));
                *before = entry;
            }
            None => latest.push(entry),
        }
    }
    latest
}
