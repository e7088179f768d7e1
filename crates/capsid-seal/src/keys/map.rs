//! A file that maps fingerprints to public keys, as `agent-capsule` writes it.

use crate::sign::PublicKey;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What such a file gives: the keys that can be used, and what was refused and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyMap {
    /// The keys, in the order of their fingerprints.
    pub keys: Vec<PublicKey>,
    /// A sentence for every entry that cannot be used.
    pub refused: Vec<String>,
}

/// A file of public keys by itself.
#[derive(Debug, Clone)]
pub struct KeyFile(PathBuf);

impl KeyFile {
    /// The file at a path, which need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The keys, and what was refused.
    pub fn load(&self) -> Result<KeyMap> {
        load(&self.0)
    }

    /// Adds a key, under the lock of a home's keys.
    pub fn add(&self, home: &Path, key: &PublicKey) -> Result<()> {
        let _lock = super::lock(home)?;
        if let Some(folder) = self.0.parent() {
            files::create_private_folder(folder)?;
        }
        register(&self.0, key)
    }
}

/// Reads the file: each entry is independent, and a missing file is an empty one.
pub(super) fn load(path: &Path) -> Result<KeyMap> {
    let Some(text) = files::read_optional(path)? else { return Ok(KeyMap::default()) };
    let Some(entries) = parse(&text) else {
        let refused =
            vec![format!("`{}` is not a JSON object, so none of its keys is used.", path.display())];
        return Ok(KeyMap { refused, ..KeyMap::default() });
    };
    let mut map = KeyMap::default();
    for (name, value) in &entries {
        match entry(name, value) {
            Ok(key) => map.keys.push(key),
            Err(reason) => {
                map.refused.push(format!("`{name}` in `{}` is not used: {reason}.", path.display()));
            }
        }
    }
    Ok(map)
}

/// Adds a key; every other entry stays, usable or not. The caller holds the lock of the keys.
pub(super) fn register(path: &Path, key: &PublicKey) -> Result<()> {
    let mut entries = match files::read_optional(path)? {
        Some(text) => parse(&text).ok_or_else(|| invalid(path))?,
        None => BTreeMap::new(),
    };
    entries.insert(key.fingerprint(), Value::String(key.hex()));
    let text = serde_json::to_string_pretty(&entries).map_err(|_| invalid(path))?;
    files::replace(path, format!("{text}\n").as_bytes())
}

/// Removes a key; every other entry stays. The caller holds the lock of the keys.
pub(super) fn remove(path: &Path, key: &PublicKey) -> Result<()> {
    let Some(text) = files::read_optional(path)? else { return Ok(()) };
    let mut entries = parse(&text).ok_or_else(|| invalid(path))?;
    if entries.remove(&key.fingerprint()).is_none() {
        return Ok(());
    }
    let text = serde_json::to_string_pretty(&entries).map_err(|_| invalid(path))?;
    files::replace(path, format!("{text}\n").as_bytes())
}

fn parse(text: &str) -> Option<BTreeMap<String, Value>> {
    serde_json::from_str(text).ok()
}

fn entry(name: &str, value: &Value) -> std::result::Result<PublicKey, &'static str> {
    let text = value.as_str().ok_or("its key is not a text")?;
    let key = PublicKey::from_hex(text.trim()).map_err(|_| "its key is not a public key of 64 hex digits")?;
    match key.fingerprint() == name {
        true => Ok(key),
        false => Err("the name is not the beginning of its key"),
    }
}

fn invalid(path: &Path) -> Problem {
    let message = format!("`{}` is not a JSON object, so no key was added to it.", path.display());
    Problem::new(Code::KeyInvalid, message).fix("Repair the file or move it away, then add the key again.")
}
