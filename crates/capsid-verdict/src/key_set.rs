//! Which keys a verifier may use, and where each came from.

use crate::public_key::{PublicKey, SHORT_PREFIX};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

/// The origin of a key, ordered by how much it proves about the signer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrigin {
    /// It came with the data, so it proves nothing about who signed.
    Bundled,
    /// The home knows it.
    Known,
    /// The user vouches for it.
    Pinned,
    /// It was the home's own before a rotation.
    Retired,
    /// It is the home's own.
    Own,
    /// The user named it for this one verification. No other is used then.
    Given,
}

impl KeyOrigin {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Known => "known",
            Self::Retired => "retired",
            Self::Own => "own",
            Self::Pinned => "pinned",
            Self::Given => "given",
        }
    }
}

/// A key and where it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustedKey {
    /// The key.
    pub key: PublicKey,
    /// If a key has several origins, the strongest one.
    pub origin: KeyOrigin,
}

/// A key for signatures that also hold against quantum computers.
pub trait PostQuantumKey: fmt::Debug + Send + Sync {
    /// Whether the signature covers the text of this hash.
    fn verifies(&self, hash: &str, signature: &str) -> bool;
}

/// All the keys a verifier may use.
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: BTreeMap<String, TrustedKey>,
    only_given: bool,
    pinned: bool,
    own: BTreeSet<String>,
    epochs: BTreeMap<String, u64>,
    /// A sentence for every file of keys, and every entry of one, that cannot be used.
    pub refused: Vec<String>,
    post_quantum: Option<Arc<dyn PostQuantumKey>>,
}

impl KeySet {
    /// Only the key that the user named.
    pub fn from_key(key: PublicKey) -> Self {
        let mut set = Self::default();
        set.add(key, KeyOrigin::Given);
        set
    }

    /// Adds a key. A key that exists already has the stronger of both origins.
    pub fn add(&mut self, key: PublicKey, origin: KeyOrigin) {
        let entry = self.keys.entry(key.hex()).or_insert(TrustedKey { key, origin });
        entry.origin = entry.origin.max(origin);
        self.only_given |= origin == KeyOrigin::Given;
        self.pinned |= origin == KeyOrigin::Pinned;
        if matches!(origin, KeyOrigin::Own | KeyOrigin::Retired) {
            self.own.insert(key.hex());
        }
    }

    /// Makes all pinned keys but these merely known: one signer is asked for.
    pub fn pin_only(&mut self, pinned: &[PublicKey]) {
        for entry in self.keys.values_mut().filter(|one| one.origin == KeyOrigin::Pinned) {
            if !pinned.contains(&entry.key) {
                entry.origin = KeyOrigin::Known;
            }
        }
    }

    /// Every key that a record's `signed_by` can mean: 16 digits or more of the key, or the short name, which several
    /// may share. With a given key, only that one counts, also for a record that does not name its signer.
    pub fn candidates(&self, signed_by: &str) -> Vec<TrustedKey> {
        let usable = |key: &&TrustedKey| !self.only_given || key.origin == KeyOrigin::Given;
        let Some(digits) = digits(signed_by).or((self.only_given && signed_by.is_empty()).then_some(""))
        else {
            return Vec::new();
        };
        let range = self.keys.range::<str, _>((Bound::Included(digits), Bound::Unbounded));
        let named = range.take_while(|(hex, _)| hex.starts_with(digits)).map(|(_, key)| key);
        named.filter(usable).copied().collect()
    }

    /// Makes every own key a retired one, and puts its place among the own keys at `last` at most. Another key takes over.
    pub fn retire_own(&mut self, last: u64) {
        for trusted in self.keys.values_mut().filter(|trusted| trusted.origin == KeyOrigin::Own) {
            trusted.origin = KeyOrigin::Retired;
        }
        self.epochs.values_mut().for_each(|epoch| *epoch = (*epoch).min(last));
    }

    /// Says which of the home's own keys a key is, counted from the oldest.
    pub fn set_epoch(&mut self, key: &PublicKey, epoch: u64) {
        self.epochs.insert(key.hex(), epoch);
    }

    /// Which of the home's own keys a key is, counted from the oldest.
    pub fn epoch(&self, key: &PublicKey) -> Option<u64> {
        if self.epochs.is_empty() {
            return None;
        }
        self.epochs.get(&key.hex()).copied()
    }

    /// Whether the user vouches for any key.
    pub fn has_pinned(&self) -> bool {
        self.pinned
    }

    /// All keys, in the order of their digits.
    pub fn iter(&self) -> impl Iterator<Item = &TrustedKey> {
        self.keys.values()
    }

    /// Whether a key is or was the home's own, whatever else is known of it.
    pub fn is_own(&self, key: &PublicKey) -> bool {
        self.own.contains(&key.hex())
    }

    /// The home's post-quantum key, which goes with its own keys.
    pub fn post_quantum(&self) -> Option<&dyn PostQuantumKey> {
        self.post_quantum.as_deref()
    }

    /// Sets the home's post-quantum key.
    pub fn set_post_quantum(&mut self, key: Arc<dyn PostQuantumKey>) {
        self.post_quantum = Some(key);
    }
}

fn digits(signed_by: &str) -> Option<&str> {
    match signed_by.strip_prefix(SHORT_PREFIX) {
        Some(short) => (short.len() == 4).then_some(short),
        None => (signed_by.len() >= 16).then_some(signed_by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    fn key(seed: u64) -> PublicKey {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        PublicKey::from_signing_key(&SigningKey::from_bytes(&bytes))
    }

    fn matching_keys(set: &KeySet, name: &str) -> Vec<PublicKey> {
        set.candidates(name).iter().map(|trusted| trusted.key).collect()
    }

    #[test]
    fn a_key_is_found_by_each_of_its_names_and_no_other() {
        let mut set = KeySet::default();
        (0..50).for_each(|seed| set.add(key(seed), KeyOrigin::Known));
        let own = key(7);
        for name in [own.fingerprint(), own.hex()] {
            assert_eq!(matching_keys(&set, &name), [own]);
        }
        let near = format!("{}0", &own.fingerprint()[..15]);
        let upper = own.fingerprint().to_uppercase();
        let hex = own.hex();
        let too_long = format!("{hex}0");
        for name in
            ["", "qp_key_", "qp_key_0", &format!("qp_key_{}", &hex[..5]), &hex[..4], &near, &upper, &too_long]
        {
            assert!(name == own.fingerprint() || matching_keys(&set, name).is_empty(), "{name}");
        }
    }

    #[test]
    fn keys_that_share_a_short_name_are_all_candidates() {
        // 16 bits collide soon: among this many keys some pair always does.
        let mut set = KeySet::default();
        let keys: Vec<PublicKey> = (0..800).map(key).collect();
        keys.iter().for_each(|key| set.add(*key, KeyOrigin::Known));
        let shared = keys.iter().find(|key| matching_keys(&set, &key.short_fingerprint()).len() > 1).unwrap();
        let candidates = matching_keys(&set, &shared.short_fingerprint());
        assert!(candidates.iter().all(|key| key.short_fingerprint() == shared.short_fingerprint()));
        assert!(candidates.contains(shared));
    }

    #[test]
    fn a_given_key_is_the_only_one() {
        let mut set = KeySet::from_key(key(1));
        set.add(key(2), KeyOrigin::Pinned);
        assert_eq!(matching_keys(&set, &key(1).fingerprint()), [key(1)]);
        assert_eq!(matching_keys(&set, ""), [key(1)]);
        assert!(matching_keys(&set, &key(2).fingerprint()).is_empty());
    }

    #[test]
    fn an_own_key_that_another_replaces_is_retired_and_comes_before_it() {
        let mut set = KeySet::default();
        set.add(key(1), KeyOrigin::Own);
        set.set_epoch(&key(1), u64::MAX);
        set.add(key(2), KeyOrigin::Pinned);
        set.retire_own(9);
        set.add(key(3), KeyOrigin::Own);
        set.set_epoch(&key(3), 10);
        let origin = |seed: u64| set.candidates(&key(seed).fingerprint())[0].origin;
        assert_eq!([1, 2, 3].map(origin), [KeyOrigin::Retired, KeyOrigin::Pinned, KeyOrigin::Own]);
        assert!(set.epoch(&key(1)) < set.epoch(&key(3)));
    }

    #[test]
    fn the_origin_that_says_more_stays() {
        let mut set = KeySet::default();
        set.add(key(1), KeyOrigin::Pinned);
        set.add(key(1), KeyOrigin::Bundled);
        set.add(key(2), KeyOrigin::Bundled);
        set.add(key(2), KeyOrigin::Known);
        let origin = |seed: u64| set.candidates(&key(seed).fingerprint())[0].origin;
        assert_eq!([origin(1), origin(2)], [KeyOrigin::Pinned, KeyOrigin::Known]);
    }
}
