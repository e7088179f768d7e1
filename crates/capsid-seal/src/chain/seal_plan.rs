//! Sealing a group on two threads: the hashes one after the other, the signatures wherever there is time.

use crate::{ChainLink, RecordSeal, Sealer, StoredRecord};
use capsid_model::{Code, Problem, Result};
use std::sync::OnceLock;

/// Something that is to be in the chain once.
#[derive(Debug, Clone)]
pub struct PendingRecord<T> {
    /// Identifies it within the chain, and stays the same however often it is offered.
    pub key: String,
    /// Whether more is to come: offered again without this, it gets a second record ([`RecordReason::Late`]).
    pub open: bool,
    /// About how many bytes it holds.
    pub weight: usize,
    /// What the record is made of, once it is clear that it has to be made.
    pub item: T,
}

/// Why a record is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordReason {
    /// The item is new.
    First,
    /// It was sealed before it was complete, and now is.
    Late,
}

/// What is to be sealed, and why.
pub(super) type SealPlan<'a, T> = Vec<(&'a PendingRecord<T>, RecordReason)>;

/// A record that is about to be added to the chain. The first thread that is free signs it.
#[derive(Default)]
struct RecordSlot {
    hashed: OnceLock<Result<StoredRecord>>,
    signed: OnceLock<Result<RecordSeal>>,
}

impl RecordSlot {
    fn signed(&self, stored: &StoredRecord, sealer: Option<&Sealer>) -> Result<RecordSeal> {
        self.signed.get_or_init(|| signed(stored.seal.clone(), sealer)).clone()
    }
}

/// The seal with its signature. No record goes into a chain without one.
pub(super) fn signed(mut seal: RecordSeal, sealer: Option<&Sealer>) -> Result<RecordSeal> {
    match sealer {
        _ if !seal.signature.is_empty() => {}
        Some(sealer) => sealer.sign(&mut seal)?,
        None => {
            return Err(Problem::new(
                Code::Internal,
                "A record came without a signature, and nobody signs here.",
            ));
        }
    }
    Ok(seal)
}

/// Seals a group in order and hands each record on as soon as it is signed.
///
/// A hash covers the one before it, so one thread makes them all. A signature covers its own hash alone: that thread
/// signs from the end, the one that writes signs from the beginning, and they meet where both are done.
pub(super) fn seal_in_order<T: Sync>(
    plan: &SealPlan<'_, T>,
    first: ChainLink,
    seal: &mut (impl FnMut(&T, RecordReason, &ChainLink) -> Result<StoredRecord> + Send),
    sealer: Option<&Sealer>,
    mut write: impl FnMut(usize, &StoredRecord, &RecordSeal) -> Result<()>,
) -> Result<()> {
    let slots: Vec<RecordSlot> = plan.iter().map(|_| RecordSlot::default()).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if hash_all(plan, first, seal, &slots) {
                for slot in slots.iter().rev() {
                    if let Some(Ok(stored)) = slot.hashed.get() {
                        // Its error is reported to the writer.
                        let _ = slot.signed(stored, sealer);
                    }
                }
            }
        });
        for (index, slot) in slots.iter().enumerate() {
            match slot.hashed.wait() {
                Ok(stored) => write(index, stored, &slot.signed(stored, sealer)?)?,
                Err(problem) => return Err(problem.clone()),
            }
        }
        Ok(())
    })
}

/// Makes every hash; false when one could not be made, and then those after it are not made either.
fn hash_all<T>(
    plan: &SealPlan<'_, T>,
    mut link: ChainLink,
    seal: &mut impl FnMut(&T, RecordReason, &ChainLink) -> Result<StoredRecord>,
    slots: &[RecordSlot],
) -> bool {
    for ((item, turn), slot) in plan.iter().zip(slots) {
        let stored = seal(&item.item, *turn, &link);
        let hash = stored.as_ref().ok().map(|stored| stored.seal.hash.clone());
        // Nobody else sets it.
        let _ = slot.hashed.set(stored);
        let Some(hash) = hash else { return false };
        link = ChainLink { sequence: link.sequence + 1, previous_hash: Some(hash) };
    }
    true
}
