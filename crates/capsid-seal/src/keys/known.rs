//! `known_keys.json`: public keys of others, and of our own past.

use super::map::{self, KeyMap};
use crate::sign::PublicKey;
use capsid_model::Result;
use std::path::{Path, PathBuf};

/// The path of a home's known keys.
pub fn path(home: &Path) -> PathBuf {
    home.join("known_keys.json")
}

/// The keys that the home knows, and what was refused.
pub fn load(home: &Path) -> Result<KeyMap> {
    map::load(&path(home))
}

/// Makes a key known. Doing so twice changes nothing.
pub fn register(home: &Path, key: &PublicKey) -> Result<()> {
    let _lock = super::lock(home)?;
    map::register(&path(home), key)
}

/// Forgets a key. Doing so twice changes nothing.
pub fn remove(home: &Path, key: &PublicKey) -> Result<()> {
    let _lock = super::lock(home)?;
    map::remove(&path(home), key)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::sign::SigningKey;
    use capsid_model::Code;
    use std::fs;

    fn key(seed: u8) -> PublicKey {
        SigningKey::from_seed(&[seed; 32]).public()
    }

    #[test]
    fn the_file_is_sorted_indented_and_ends_with_a_line_break() {
        let home = tempfile::tempdir().unwrap();
        let keys = [key(1), key(2), key(1)];
        keys.iter().for_each(|key| register(home.path(), key).unwrap());
        let mut hex = [key(1).hex(), key(2).hex()];
        hex.sort();
        let lines: Vec<String> = hex.iter().map(|hex| format!("  \"{}\": \"{hex}\"", &hex[..16])).collect();
        assert_eq!(
            fs::read_to_string(path(home.path())).unwrap(),
            format!("{{\n{}\n}}\n", lines.join(",\n"))
        );
        assert_eq!(load(home.path()).unwrap().keys.len(), 2);
    }

    #[test]
    fn entries_that_cannot_be_used_are_told_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let text = format!(
            r#"{{"{}": "{}", "0000000000000000": "{}", "short": "00", "odd": 7, "gone": null}}"#,
            key(1).fingerprint(),
            key(1).hex().to_uppercase(),
            key(2).hex(),
        );
        fs::write(path(home.path()), text).unwrap();
        let known = load(home.path()).unwrap();
        assert_eq!(known.keys, [key(1)]);
        assert_eq!(known.refused.len(), 4, "{:?}", known.refused);
        register(home.path(), &key(3)).unwrap();
        let after = load(home.path()).unwrap();
        assert_eq!((after.keys.len(), after.refused.len()), (2, 4));
    }

    #[test]
    fn a_file_that_is_no_map_is_empty_to_a_reader_and_left_by_a_writer() {
        let home = tempfile::tempdir().unwrap();
        for text in ["", "[]", "{", "null", "{\"a\": }"] {
            fs::write(path(home.path()), text).unwrap();
            let known = load(home.path()).unwrap();
            assert_eq!((known.keys.len(), known.refused.len()), (0, 1));
            assert_eq!(register(home.path(), &key(1)).unwrap_err().code, Code::KeyInvalid);
            assert_eq!(fs::read_to_string(path(home.path())).unwrap(), text);
        }
    }

    #[test]
    fn two_who_register_at_once_both_stay() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for seed in 0..8 {
                let home = home.path();
                scope.spawn(move || register(home, &key(seed)).unwrap());
            }
        });
        assert_eq!(load(home.path()).unwrap().keys.len(), 8);
    }
}
