//! What the meta-chain says: how long each chain was, and up to where a retired key may have signed.

use super::entry::MetaEntry;
use super::record::key;
use crate::StoredRecord;
use crate::keys::{KeyOrigin, KeySet, TrustedKey};
use capsid_model::exact::{ExactJson, parse};
use capsid_verdict::PublicKey;
use capsid_verdict::evidence::{Expectation, ExpectationSource};
use capsid_verdict::verify::SignerRun;
use std::collections::{BTreeMap, HashSet};

/// The name of the meta-chain in evidence.
const META: &str = "meta";

/// The kind of a meta record that names the next key.
pub const ROTATION: &str = "key_rotation";

/// A key that gave way to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRotation {
    /// The position of its record.
    pub position: u64,
    /// The key that is retired, which signed the record.
    pub old: PublicKey,
    /// The key that signs from then on.
    pub new: PublicKey,
    /// How many records of each chain were recorded before. A chain that is not named had none.
    pub limits: BTreeMap<String, u64>,
}

/// Takes the good records of a meta-chain in their order.
#[derive(Debug, Clone, Default)]
pub struct MetaTraces {
    /// What the entries and their lists of open chains say.
    pub expectations: Vec<Expectation>,
    /// The rotation of each retired key, oldest first.
    pub rotations: Vec<KeyRotation>,
    keys: HashSet<String>,
    count: u64,
    /// A retired key went on signing: nothing from there on is believed.
    is_broken: bool,
    /// The newest of the home's own keys that signed so far, by its place among them.
    newest: Option<u64>,
}

impl MetaTraces {
    /// Takes the next record. The keys are those that it was verified with.
    pub fn push(&mut self, stored: &StoredRecord, keys: &KeySet) {
        let position = self.count;
        self.skip(stored, keys);
        if self.is_broken {
            return;
        }
        if let Some(entry) = MetaEntry::parse(&stored.canonical) {
            self.keys.insert(key(&entry.tool, &entry.session, &entry.head_hash));
            let open = entry.open.iter().map(|open| Expectation {
                source: ExpectationSource::MetaOpenList,
                chain: format!("{}/{}", open.tool, open.session),
                count: open.count,
                head: Some(open.head.clone()),
            });
            self.expectations.push(Expectation {
                source: ExpectationSource::MetaEntry,
                chain: format!("{}/{}", entry.tool, entry.session),
                count: entry.count,
                head: Some(entry.head_hash.clone()),
            });
            self.expectations.extend(open);
        } else if let Some((old, new)) = rotation(&stored.canonical) {
            self.keys.insert(rotation_key(&old.hex(), &new.hex()));
            // The first one counts: a thief of the old key can seal others behind it.
            let is_retired = self.rotations.iter().any(|one| one.old == old);
            // One that was replaced without a record cannot make up for it once its successor has signed.
            let is_late = keys.epoch(&old).is_some_and(|epoch| Some(epoch) < self.newest);
            let is_good =
                |signer: TrustedKey| can_retire(keys, &signer, (old, new)) && (signer.key == new || !is_late);
            if is_retired || !signer(stored, keys).is_some_and(is_good) {
                return;
            }
            let limits = self.limits(position);
            self.rotations.push(KeyRotation { position, old, new, limits });
        }
    }

    /// Passes a record over that says nothing of interest.
    pub fn skip(&mut self, stored: &StoredRecord, keys: &KeySet) {
        let position = self.count;
        self.count += 1;
        let named = keys.candidates(&stored.seal.signed_by);
        self.newest = self.newest.max(named.first().and_then(|one| keys.epoch(&one.key)));
        let is_named = |one: &KeyRotation| {
            let name = stored.seal.signed_by.as_str();
            one.old.hex().starts_with(name) || one.old.short_fingerprint() == name
        };
        if self.is_broken || !self.rotations.iter().any(is_named) {
            return;
        }
        let limit = signer(stored, keys).and_then(|signer| self.limit(&signer.key.fingerprint(), META));
        self.is_broken = limit.is_some_and(|limit| position >= limit);
    }

    fn limits(&self, position: u64) -> BTreeMap<String, u64> {
        let mut limits = BTreeMap::from([(META.to_owned(), position + 1)]);
        for Expectation { chain, count, .. } in &self.expectations {
            let limit = limits.entry(chain.clone()).or_default();
            *limit = (*limit).max(*count);
        }
        limits
    }

    /// How many records of a chain a retired key may have signed; none where no rotation names it.
    pub fn limit(&self, fingerprint: &str, chain: &str) -> Option<u64> {
        let rotation = self.rotations.iter().find(|one| one.old.fingerprint() == fingerprint)?;
        Some(rotation.limits.get(chain).copied().unwrap_or(0))
    }

    /// Says of each run of a retired key up to where it may go.
    pub fn limit_runs(&self, chain: &str, runs: &mut [SignerRun]) {
        for run in runs.iter_mut().filter(|run| run.origin == Some(KeyOrigin::Retired)) {
            run.until = self.limit(&run.signer, chain);
        }
    }

    /// What the checkpoint file of the meta-chain says: a key that no record has stands for a record that is gone.
    pub fn expected_by_checkpoint(&self, keys: &[String]) -> Option<Expectation> {
        let lost = keys.iter().filter(|key| !self.keys.contains(*key)).count() as u64;
        (!keys.is_empty()).then(|| Expectation {
            source: ExpectationSource::CheckpointFile,
            chain: META.to_owned(),
            count: match lost {
                0 => keys.len().try_into().unwrap_or(self.count).min(self.count),
                lost => self.count + lost,
            },
            head: None,
        })
    }
}

/// The key that signed a record.
fn signer(stored: &StoredRecord, keys: &KeySet) -> Option<TrustedKey> {
    let seal = &stored.seal;
    let candidates = keys.candidates(&seal.signed_by);
    candidates.into_iter().find(|one| one.key.verifies(&seal.hash, &seal.signature))
}

/// A key names its successor. Where it is not there any more the successor does, if it is trusted no less: else a stranger
/// could retire a key.
fn can_retire(keys: &KeySet, signer: &TrustedKey, (old, new): (PublicKey, PublicKey)) -> bool {
    let trust = |key: PublicKey| keys.iter().find(|one| one.key == key).map(|one| one.origin);
    signer.key == old || (signer.key == new && Some(signer.origin) >= trust(old))
}

/// The key of the record of a rotation.
pub(super) fn rotation_key(old: &str, new: &str) -> String {
    format!("{ROTATION}:{old}:{new}")
}

pub(super) fn rotation(canonical: &str) -> Option<(PublicKey, PublicKey)> {
    let content = parse(canonical).ok()?;
    let result = content.at(&["outcome", "result"]).filter(|result| result.text("kind") == Some(ROTATION))?;
    let key = |name: &str| PublicKey::from_hex(result.get(name).and_then(ExactJson::as_str)?).ok();
    Some((key("old_public_key")?, key("new_public_key")?))
}
