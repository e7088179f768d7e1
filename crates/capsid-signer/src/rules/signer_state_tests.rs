use super::*;
use proptest::prelude::*;

/// A journal in memory: the hashes of each entry by its position.
#[derive(Default)]
struct MemoryJournal {
    state: SignerState,
    entries: Vec<(JournalEntry, HashBytes)>,
}

impl MemoryJournal {
    fn started() -> Self {
        let mut journal = Self::default();
        let reason = EpochReason::Created;
        journal.push(JournalEvent::Epoch { reason, key: [1; 32], signature: [0; 64] }).unwrap();
        journal
    }

    fn push(&mut self, event: JournalEvent) -> Result<(), String> {
        let entry = self.state.entry(event, 0);
        let (_, hash) = entry.encode();
        self.state.apply(&entry, hash, self.entries.len() as u64)?;
        self.entries.push((entry, hash));
        Ok(())
    }

    fn hashes_at(&self, offset: u64) -> Vec<HashBytes> {
        match &self.entries[offset as usize].0.event {
            JournalEvent::Signed { hashes, .. } | JournalEvent::CaughtUp { hashes, .. } => hashes.clone(),
            _ => Vec::new(),
        }
    }

    fn sign(&mut self, texts: &[RecordText]) -> Result<(), SignerRefusal> {
        for event in self.state.plan_records(texts, false, |offset| Ok(self.hashes_at(offset)))? {
            self.push(event).unwrap();
        }
        Ok(())
    }

    fn replayed(&self) -> SignerState {
        let mut state = SignerState::default();
        for (offset, (entry, hash)) in self.entries.iter().enumerate() {
            state.apply(entry, *hash, offset as u64).unwrap();
        }
        state
    }
}

fn name(session: u8) -> SignerChain {
    SignerChain::new("codex", &session.to_string()).unwrap()
}

/// Records of one history of a session: the flavour makes another history.
fn history(session: u8, flavour: u8, count: usize) -> Vec<RecordText> {
    let mut previous = None;
    let texts = (0..count as u64).map(|sequence| {
        let hash = [session, flavour, sequence as u8 + 1].repeat(11)[..32].try_into().unwrap();
        let text = RecordText { hash, chain: name(session), sequence, previous };
        previous = Some(hash);
        text
    });
    texts.collect()
}

#[test]
fn what_was_signed_is_signed_again_and_another_history_is_not() {
    let mut journal = MemoryJournal::started();
    let (ours, other) = (history(1, 0, 6), history(1, 1, 6));
    journal.sign(&ours[..4]).unwrap();
    let entries = journal.entries.len();
    journal.sign(&ours[..4]).unwrap();
    journal.sign(&ours[1..3]).unwrap();
    assert_eq!(journal.entries.len(), entries, "a repeated request leaves no entry");
    for refused in [&other[..1], &other[3..4], &other[4..], &ours[5..], &other[..]] {
        let refusal = journal.sign(refused).unwrap_err();
        assert_eq!((refusal.code.as_str(), refusal.count), ("signer_fork", Some(4)));
        assert_eq!(refusal.head, Some(capsid_seal::hash::hex(&ours[3].hash)));
    }
    journal.sign(&ours[2..]).unwrap();
    assert_eq!(journal.state.chain(&name(1)).unwrap().count(), 6);
    assert_eq!(journal.state.records(), 6);
}

#[test]
fn texts_of_two_chains_or_without_a_link_are_refused() {
    let mut journal = MemoryJournal::started();
    let mixed = [history(1, 0, 1), history(2, 0, 1)].concat();
    assert_eq!(journal.sign(&mixed).unwrap_err().code, "signer_malformed");
    assert_eq!(journal.sign(&[]).unwrap_err().code, "signer_malformed");
    let ours = history(1, 0, 3);
    assert_eq!(journal.sign(&[ours[0].clone(), ours[2].clone()]).unwrap_err().code, "signer_fork");
    assert!(journal.state.chains().is_empty(), "a refusal opens no chain");
}

#[test]
fn chains_are_adopted_until_the_first_signature_and_again_after_a_reset() {
    let mut journal = MemoryJournal::started();
    let adopt = |journal: &mut MemoryJournal, session, count, hash: u8| -> Result<(), SignerRefusal> {
        for event in journal.state.plan_adopt(&name(session), count, [hash; 32])? {
            journal.push(event).unwrap();
        }
        Ok(())
    };
    adopt(&mut journal, 1, 4, 9).unwrap();
    adopt(&mut journal, 1, 4, 9).unwrap();
    assert_eq!(adopt(&mut journal, 1, 3, 9).unwrap_err().code, "signer_fork");
    assert_eq!(adopt(&mut journal, 1, 4, 8).unwrap_err().code, "signer_fork");
    journal.sign(&history(2, 0, 1)).unwrap();
    assert_eq!(adopt(&mut journal, 3, 1, 1).unwrap_err().code, "signer_refused");
    let reset = JournalEvent::Epoch { reason: EpochReason::Reset, key: [2; 32], signature: [0; 64] };
    journal.push(reset).unwrap();
    assert_eq!(journal.state.chain(&name(1)).unwrap().count(), 4, "a reset forgets no chain");
    adopt(&mut journal, 3, 1, 1).unwrap();
    assert_eq!(adopt(&mut journal, 2, 0, 1).unwrap_err().code, "signer_fork");
    let next = RecordText { hash: [5; 32], chain: name(3), sequence: 1, previous: Some([1; 32]) };
    journal.sign(std::slice::from_ref(&next)).unwrap();
    assert_eq!(journal.state.chain(&name(3)).unwrap().adopted, 1);
}

#[test]
fn a_restarted_chain_keeps_its_old_head_in_sight() {
    let mut journal = MemoryJournal::started();
    journal.sign(&history(1, 0, 3)).unwrap();
    let event = journal.state.plan_restart(&name(1)).unwrap();
    journal.push(event).unwrap();
    journal.sign(&history(1, 1, 2)).unwrap();
    let chain = journal.state.chain(&name(1)).unwrap();
    assert_eq!((chain.count(), chain.restarted[0].count), (2, 3));
    assert_eq!(journal.state.plan_restart(&name(9)).unwrap_err().code, "signer_refused");
}

#[test]
fn an_entry_that_may_not_follow_is_refused_and_changes_nothing() {
    let mut journal = MemoryJournal::started();
    journal.sign(&history(1, 0, 2)).unwrap();
    let before = journal.state.clone();
    for event in [
        JournalEvent::Epoch { reason: EpochReason::Created, key: [1; 32], signature: [0; 64] },
        JournalEvent::Opened(name(1)),
        JournalEvent::Signed { chain: 0, first: 1, hashes: vec![[1; 32]] },
        JournalEvent::Signed { chain: 7, first: 0, hashes: vec![[1; 32]] },
        JournalEvent::Adopted { chain: 0, count: 9, head: [1; 32] },
        JournalEvent::Restarted { chain: 7 },
    ] {
        journal.push(event).unwrap_err();
        assert_eq!(journal.state, before);
    }
    let (entry, hash) = journal.entries[1].clone();
    journal.state.apply(&entry, hash, 0).unwrap_err();
}

proptest! {
    /// Whatever is asked, in whatever order: of each position of a history at most one hash is ever signed, what is
    /// signed links up from the first record on, and the journal alone gives the same state again.
    #[test]
    fn no_position_is_signed_twice(requests in prop::collection::vec((0_u8..3, 0_u8..2, 0_usize..8, 1_usize..5), 1..60)) {
        let mut journal = MemoryJournal::started();
        let mut signed: HashMap<(u8, u64), HashBytes> = HashMap::new();
        for (session, flavour, start, count) in requests {
            let texts = &history(session, flavour, start + count)[start..];
            if journal.sign(texts).is_ok() {
                for text in texts {
                    let hash = signed.entry((session, text.sequence)).or_insert(text.hash);
                    prop_assert_eq!(*hash, text.hash);
                    if let Some(before) = text.sequence.checked_sub(1) {
                        prop_assert_eq!(signed.get(&(session, before)), text.previous.as_ref());
                    }
                }
            }
        }
        prop_assert_eq!(journal.replayed(), journal.state.clone());
        prop_assert_eq!(journal.state.records() as usize, signed.len());
    }
}
