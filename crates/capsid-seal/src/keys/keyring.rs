//! `keyring.json` of `qp-capsule`: the own keys over time, in epochs.

use crate::sign::PublicKey;
use capsid_disk::files;
use capsid_model::{Code, Object, Problem, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The only version there is.
const VERSION: u64 = 1;

/// The keys over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Keyring {
    version: u64,
    /// The number of the epoch whose key signs.
    pub active_epoch: u64,
    /// All epochs, oldest first.
    pub epochs: Vec<KeyEpoch>,
    #[serde(flatten)]
    others: Object,
}

/// The time of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyEpoch {
    /// Its number, from 0.
    pub epoch: u64,
    /// Always `ed25519`.
    pub algorithm: String,
    /// The public key.
    pub public_key_hex: String,
    /// Its short name.
    pub fingerprint: String,
    /// When the key came into use.
    pub created_at: String,
    /// When another took its place.
    pub rotated_at: Option<String>,
    /// Whether it signs.
    pub status: KeyStatus,
    #[serde(flatten)]
    others: Object,
}

/// Whether an epoch's key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyStatus {
    /// It does.
    Active,
    /// It did.
    Retired,
}

/// The path of a home's keyring.
pub fn path(home: &Path) -> PathBuf {
    home.join("keyring.json")
}

/// Reads the keyring; nothing when there is none.
pub fn load(home: &Path) -> Result<Option<Keyring>> {
    let path = path(home);
    let Some(text) = files::read_optional(&path)? else { return Ok(None) };
    let invalid = |reason: String| {
        Problem::new(Code::KeyInvalid, format!("`{}` cannot be used: {reason}.", path.display()))
            .fix("Put the file back from a copy, or move it away.")
    };
    let object: Object = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    match object.get("version").and_then(capsid_model::Value::as_u64) {
        Some(VERSION) => {
            serde_json::from_value(object.into()).map(Some).map_err(|error| invalid(error.to_string()))
        }
        _ => {
            let version = object.get("version").map_or_else(|| "none".to_owned(), ToString::to_string);
            Err(invalid(format!("unsupported keyring version: {version} (expected {VERSION})")))
        }
    }
}

/// Writes the keyring.
pub(super) fn save(home: &Path, keyring: &Keyring) -> Result<()> {
    let text = serde_json::to_string_pretty(keyring)
        .map_err(|error| Problem::new(Code::Internal, format!("The keyring cannot be written: {error}.")))?;
    files::replace(&path(home), format!("{text}\n").as_bytes())
}

impl Keyring {
    /// An empty one.
    pub(super) fn empty() -> Self {
        Self { version: VERSION, active_epoch: 0, epochs: Vec::new(), others: Object::new() }
    }

    /// Ends every active epoch, lists `old` if it was not, and begins the epoch of `new`.
    pub(super) fn rotate(&mut self, old: &PublicKey, new: &PublicKey, now: &str) {
        if !self.holds(old) {
            self.push(old, now);
        }
        self.begin(new, now);
    }

    /// Ends every active epoch and begins that of a key.
    pub(super) fn begin(&mut self, key: &PublicKey, now: &str) {
        for epoch in self.epochs.iter_mut().filter(|epoch| epoch.status == KeyStatus::Active) {
            epoch.status = KeyStatus::Retired;
            epoch.rotated_at = Some(now.to_owned());
        }
        self.active_epoch = self.push(key, now);
    }

    fn holds(&self, key: &PublicKey) -> bool {
        self.epochs.iter().any(|epoch| epoch.key().is_ok_and(|own| own == *key))
    }

    fn push(&mut self, key: &PublicKey, now: &str) -> u64 {
        let number = self.epochs.iter().map(|epoch| epoch.epoch.saturating_add(1)).max().unwrap_or(0);
        self.epochs.push(KeyEpoch {
            epoch: number,
            algorithm: "ed25519".to_owned(),
            public_key_hex: key.hex(),
            fingerprint: key.short_fingerprint(),
            created_at: now.to_owned(),
            rotated_at: None,
            status: KeyStatus::Active,
            others: Object::new(),
        });
        number
    }
}

impl KeyEpoch {
    /// The key, if the entry is sound: the right algorithm, 64 digits, and a name that is their beginning.
    pub fn key(&self) -> Result<PublicKey> {
        let refused = |reason: &str| {
            let message = format!("Epoch {} of `keyring.json` is not used: {reason}.", self.epoch);
            Problem::new(Code::KeyInvalid, message).fix("Put the file back from a copy.")
        };
        if self.algorithm != "ed25519" {
            return Err(refused("its algorithm is not ed25519"));
        }
        let key = PublicKey::from_hex(&self.public_key_hex)
            .map_err(|_| refused("its key is not a public key of 64 hex digits"))?;
        match [key.short_fingerprint(), key.fingerprint()].contains(&self.fingerprint) {
            true => Ok(key),
            false => Err(refused("the fingerprint is not the beginning of its key")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::sign::SigningKey;
    use std::fs;

    fn key(seed: u8) -> PublicKey {
        SigningKey::from_seed(&[seed; 32]).public()
    }

    #[test]
    fn rotation_keeps_what_was_there_and_the_file_reads_back() {
        let home = tempfile::tempdir().unwrap();
        let mut keyring = Keyring::empty();
        keyring.rotate(&key(1), &key(2), "t1");
        keyring.epochs[0].others.insert("note".into(), "mine".into());
        keyring.rotate(&key(2), &key(3), "t2");
        save(home.path(), &keyring).unwrap();
        assert_eq!(load(home.path()).unwrap().unwrap(), keyring);
        let shape: Vec<_> =
            keyring.epochs.iter().map(|e| (e.epoch, e.status, e.rotated_at.as_deref())).collect();
        assert_eq!(
            shape,
            [
                (0, KeyStatus::Retired, Some("t1")),
                (1, KeyStatus::Retired, Some("t2")),
                (2, KeyStatus::Active, None)
            ]
        );
        assert_eq!(keyring.active_epoch, 2);
        let text = fs::read_to_string(path(home.path())).unwrap();
        assert!(
            text.starts_with("{\n  \"version\": 1,\n  \"active_epoch\": 2,\n  \"epochs\": [\n"),
            "{text}"
        );
        assert!(text.ends_with("}\n") && text.contains("\"note\": \"mine\""));
    }

    #[test]
    fn another_version_or_form_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        assert!(load(home.path()).unwrap().is_none());
        for text in ["", "[]", "{}", r#"{"version":2,"active_epoch":0,"epochs":[]}"#, r#"{"version":1}"#] {
            fs::write(path(home.path()), text).unwrap();
            assert_eq!(load(home.path()).unwrap_err().code, Code::KeyInvalid, "{text}");
        }
    }

    #[test]
    fn an_entry_whose_name_is_not_its_keys_beginning_is_refused() {
        let mut keyring = Keyring::empty();
        keyring.rotate(&key(1), &key(2), "t");
        keyring.epochs[0].fingerprint = key(2).short_fingerprint();
        keyring.epochs[1].algorithm = "rsa".into();
        assert!(keyring.epochs.iter().all(|epoch| epoch.key().is_err()));
    }
}
