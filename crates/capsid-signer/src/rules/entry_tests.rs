use super::*;

fn events() -> Vec<JournalEvent> {
    let hashes = vec![[3; 32], [4; 32]];
    vec![
        JournalEvent::Epoch { reason: EpochReason::Rotated, key: [1; 32], signature: [2; 64] },
        JournalEvent::Opened(SignerChain::new("claude-code", "ü s").unwrap()),
        JournalEvent::Signed { chain: 7, first: 1 << 40, hashes: hashes.clone() },
        JournalEvent::CaughtUp { chain: 7, first: 0, hashes },
        JournalEvent::Adopted { chain: 0, count: 9, head: [5; 32] },
        JournalEvent::Restarted { chain: u32::MAX },
    ]
}

fn entry(event: JournalEvent) -> JournalEntry {
    JournalEntry { number: 4711, time: -5, previous: [9; 32], event }
}

#[test]
fn an_entry_is_read_back_and_any_changed_byte_shows() {
    for event in events() {
        let entry = entry(event);
        let (bytes, hash) = entry.encode();
        assert_eq!(JournalEntry::decode(&bytes), DecodedEntry::Whole(entry.clone(), hash, bytes.len()));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(!matches!(JournalEntry::decode(&changed), DecodedEntry::Whole(..)), "{entry:?} at {at}");
        }
        for cut in 0..bytes.len() {
            assert_eq!(JournalEntry::decode(&bytes[..cut]), DecodedEntry::Torn);
        }
    }
}

#[test]
fn an_entry_is_small() {
    let hashes = vec![[0; 32]; MAX_TEXTS];
    let (bytes, _) = entry(JournalEvent::Signed { chain: 0, first: 0, hashes }).encode();
    assert!(bytes.len() <= 128 + 32 * MAX_TEXTS);
    assert!(bytes.len() <= MAX_ENTRY_BYTES);
}
