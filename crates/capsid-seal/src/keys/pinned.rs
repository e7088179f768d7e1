//! `pinned_keys.json`: the keys that the user vouches for, received independently of the data. `pin_names.json` says
//! whose they are.

use super::map::{self, KeyMap};
use crate::sign::PublicKey;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The path of a home's pinned keys.
pub fn path(home: &Path) -> PathBuf {
    home.join("pinned_keys.json")
}

/// The path of the names.
pub fn names_path(home: &Path) -> PathBuf {
    home.join("pin_names.json")
}

/// The pinned keys, and what was refused.
pub fn load(home: &Path) -> Result<KeyMap> {
    map::load(&path(home))
}

/// Pins a key. Doing so twice changes nothing.
pub fn pin(home: &Path, key: &PublicKey) -> Result<()> {
    let _lock = super::lock(home)?;
    map::register(&path(home), key)
}

/// The names of pinned keys, by the digits of each key. A name may have several keys.
pub fn names(home: &Path) -> Result<BTreeMap<String, String>> {
    let path = names_path(home);
    let Some(text) = files::read_optional(&path)? else { return Ok(BTreeMap::new()) };
    serde_json::from_str(&text).map_err(|error| {
        let message = format!("`{}` cannot be used: {error}.", path.display());
        Problem::new(Code::KeyInvalid, message).fix("Put the file back from a copy, or move it away.")
    })
}

/// Pins a key under a name.
pub fn pin_as(home: &Path, key: &PublicKey, name: &str) -> Result<()> {
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Problem::new(Code::InputInvalid, "The name of a pinned key is one line of text."));
    }
    let _lock = super::lock(home)?;
    let mut names = names(home)?;
    map::register(&path(home), key)?;
    names.insert(key.hex(), name.to_owned());
    let text = serde_json::to_string_pretty(&names)
        .map_err(|error| Problem::new(Code::Internal, format!("The names cannot be written: {error}.")))?;
    files::replace(&names_path(home), format!("{text}\n").as_bytes())
}

/// The keys that are pinned under a name.
pub fn named(home: &Path, name: &str) -> Result<Vec<PublicKey>> {
    let names = names(home)?;
    let keys = load(home)?.keys.into_iter();
    Ok(keys.filter(|key| names.get(&key.hex()).is_some_and(|known| known == name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign::SigningKey;

    #[test]
    fn a_name_has_the_keys_that_were_pinned_under_it() {
        let home = tempfile::tempdir().unwrap();
        let [one, two, other] = [1, 2, 3].map(|seed| SigningKey::from_seed(&[seed; 32]).public());
        pin_as(home.path(), &one, "ada").unwrap();
        pin_as(home.path(), &two, "ada").unwrap();
        pin_as(home.path(), &other, "grace").unwrap();
        pin(home.path(), &other).unwrap();
        assert_eq!(named(home.path(), "ada").unwrap().len(), 2);
        assert_eq!(named(home.path(), "grace").unwrap(), [other]);
        assert!(named(home.path(), "nobody").unwrap().is_empty());
        assert_eq!(pin_as(home.path(), &one, " \n").unwrap_err().code, Code::InputInvalid);
    }
}
