#![allow(clippy::disallowed_methods)]

use super::*;
use crate::rules::entry::EpochReason;
use crate::rules::signer_chain::SignerChain;

fn fill(path: &Path, count: u64) -> Vec<u64> {
    let (mut journal, mut state) = SignerJournal::open(path).unwrap();
    let mut ends = vec![journal.length()];
    let mut events = Vec::new();
    if state.next_number() == 0 {
        events.push(JournalEvent::Epoch { reason: EpochReason::Created, key: [1; 32], signature: [0; 64] });
        events.push(JournalEvent::Opened(SignerChain::new("codex", "s").unwrap()));
    }
    let first = state.records();
    events.extend((first..count).map(|first| JournalEvent::Signed {
        chain: 0,
        first,
        hashes: vec![[first as u8; 32]],
    }));
    for event in events {
        let entry = state.entry(event, 7);
        let (bytes, hash) = entry.encode();
        state.apply(&entry, hash, journal.length()).unwrap();
        journal.append(&bytes).unwrap();
        ends.push(journal.length());
    }
    ends
}

#[test]
fn a_torn_tail_is_cut_at_any_byte_and_the_journal_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let ends = fill(&path, 3);
    let whole = std::fs::read(&path).unwrap();
    for cut in ends[3] as usize..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (journal, state) = SignerJournal::open(&path).unwrap();
        let kept = ends.iter().copied().filter(|end| *end <= cut as u64).max().unwrap();
        assert_eq!(journal.length(), kept);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), kept);
        drop(journal);
        fill(&path, 3);
        assert_eq!(
            std::fs::read(&path).unwrap(),
            whole,
            "cut at {cut}, {} entries were there",
            state.next_number()
        );
    }
    let mut zeros = whole.clone();
    zeros.extend([0; 5000]);
    std::fs::write(&path, zeros).unwrap();
    assert_eq!(SignerJournal::open(&path).unwrap().0.length(), whole.len() as u64);
}

#[test]
fn damage_before_entries_that_were_synced_is_an_error_and_cuts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let ends = fill(&path, 40);
    let whole = std::fs::read(&path).unwrap();
    for at in [0, ends[1] as usize + 2, ends[5] as usize + 60] {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        assert_eq!(SignerJournal::open(&path).unwrap_err().code, Code::SignerDamaged, "{at}");
        assert_eq!(std::fs::read(&path).unwrap(), changed);
    }
}

#[test]
fn hashes_are_read_from_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let ends = fill(&path, 3);
    let (journal, state) = SignerJournal::open(&path).unwrap();
    assert_eq!(state.records(), 3);
    assert_eq!(journal.hashes_at(ends[3]).unwrap(), [[1; 32]]);
    assert_eq!(journal.hashes_at(0).unwrap_err().code, "signer_damaged");
    assert_eq!(journal.hashes_at(ends[3] + 1).unwrap_err().code, "signer_damaged");
}
