//! The record of a rotation: the old key names the new one, behind the last state of every chain.

use super::FILE;
use super::owner::ChainOwner;
use super::record::{PATIENCE, key_of, meta_record};
use super::traces::{ROTATION, rotation, rotation_key};
use crate::chain::{ChainReader, ChainWriter, PendingRecord, checkpoint_of};
use crate::{PublicKey, Sealer, StoredRecord};
use capsid_disk::{Lock, files};
use capsid_model::{Result, fields};
use std::path::Path;

/// A rotation, as whoever pinned the old key can check it.
#[derive(Debug, Clone)]
pub struct RotationRecord {
    /// The key that is retired.
    pub old: PublicKey,
    /// The key that signs from then on.
    pub new: PublicKey,
    /// The sealed record that says so.
    pub record: StoredRecord,
}

impl RotationRecord {
    /// Reads a record; none if it is not one of a rotation.
    pub fn from_record(record: StoredRecord) -> Option<Self> {
        let (old, new) = rotation(&record.canonical)?;
        Some(Self { old, new, record })
    }

    /// Whether the text is the one that was sealed, and the old key signed it.
    pub fn is_signed_by_old(&self) -> bool {
        let seal = &self.record.seal;
        seal.hash == crate::hash::sha3_hex(self.record.canonical.as_bytes())
            && self.old.verifies(&seal.hash, &seal.signature)
    }
}

/// Puts a key in the place of another with `switch`, and seals that `new` takes the place of `old`. The caller has
/// recorded every chain before.
///
/// Nobody else writes the meta-chain meanwhile. Killed between the two, the home is one that rotated without a record:
/// `capsid trail migrate` seals it.
pub fn record_rotation(
    home: &Path,
    (old, new): (&PublicKey, &PublicKey),
    sealer: &Sealer,
    (id, signed_at): (&str, &str),
    switch: impl FnOnce() -> Result<()>,
) -> Result<()> {
    files::create_private_folder(home)?;
    let _lock = Lock::acquire(&home.join("meta.lock"), "The meta-chain", PATIENCE)?;
    let path = home.join(FILE);
    let writer = ChainWriter::open(&path)?.with_key_of(key_of).signing_with(sealer.clone());
    let mut writer = writer.owned_by(ChainOwner::new(home, "meta", sealer));
    switch()?;
    let (old, new) = (old.hex(), new.hex());
    let record = meta_record(
        id,
        &format!("key rotated: {}", &new[..16]),
        fields! { "tool": "meta", "session_id": "meta" },
        &format!("{} takes the place of {}", &new[..16], &old[..16]),
        fields! { "kind": ROTATION, "old_public_key": old.as_str(), "new_public_key": new.as_str() },
    );
    let item = PendingRecord { key: rotation_key(&old, &new), open: false, weight: 0, item: () };
    writer.append(None, [item], |(): &(), _, link: &_| sealer.prepare(&record, link, signed_at))?;
    writer.write_checkpoint(None, &checkpoint_of(&path))
}

/// The rotations of a home, oldest first.
pub fn rotations(home: &Path) -> Result<Vec<RotationRecord>> {
    let path = home.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for stored in ChainReader::open(&path)?.into_records(None) {
        let stored = stored?;
        if stored.canonical.contains(ROTATION) {
            found.extend(RotationRecord::from_record(stored));
        }
    }
    Ok(found)
}
