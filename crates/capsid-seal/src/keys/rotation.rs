//! A new key in the place of the old one, which is never lost.

use super::{file, keyring, known, map};
use crate::sign::{PublicKey, SigningKey};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::path::{Path, PathBuf};

/// The path of a private key that was replaced.
pub fn retired_path(home: &Path, fingerprint: &str) -> PathBuf {
    home.join(format!("key.retired-{fingerprint}"))
}

/// Puts the key of `seed` in the place of the home's key; `now` is text such as [`crate::python_iso`] gives.
///
/// The old private key stays beside it and its public key becomes known before anything is replaced. So whatever
/// instant the program is killed at, every record verifies and either the old or the new key signs.
pub fn rotate(home: &Path, seed: &[u8; 32], now: &str) -> Result<PublicKey> {
    let _lock = super::lock(home)?;
    let old = file::require(&file::path(home))?;
    let new = SigningKey::from_seed(seed);
    if new.public() == old.public() {
        return Err(Problem::new(Code::KeyInvalid, "The new key is the old one.").fix("Rotate again."));
    }
    let mut ring = keyring::load(home)?.unwrap_or_else(keyring::Keyring::empty);
    retire(home, &old)?;
    map::register(&known::path(home), &old.public())?;
    files::replace_secret(&file::path(home), seed)?;
    ring.rotate(&old.public(), &new.public(), now);
    keyring::save(home, &ring)?;
    Ok(new.public())
}

fn retire(home: &Path, old: &SigningKey) -> Result<()> {
    let path = retired_path(home, &old.public().fingerprint());
    if files::create_secret(&path, old.seed())? || file::require(&path)?.public() == old.public() {
        return Ok(());
    }
    let message =
        format!("`{}` holds another key than its name says, so nothing was rotated.", path.display());
    Err(Problem::new(Code::KeyInvalid, message).fix("Move that file away, then rotate again."))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::keys::KeyOrigin;
    use std::fs;

    fn public(seed: u8) -> PublicKey {
        SigningKey::from_seed(&[seed; 32]).public()
    }

    #[test]
    fn the_old_key_stays_known_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert_eq!(rotate(home, &[2; 32], "t").unwrap_err().code, Code::KeyMissing);
        file::load_or_create(&file::path(home), &[1; 32]).unwrap();
        assert_eq!(rotate(home, &[1; 32], "t").unwrap_err().code, Code::KeyInvalid);
        assert_eq!(rotate(home, &[2; 32], "t1").unwrap(), public(2));
        assert_eq!(rotate(home, &[3; 32], "t2").unwrap(), public(3));
        assert_eq!(fs::read(file::path(home)).unwrap(), [3; 32]);
        for seed in [1, 2] {
            let retired = retired_path(home, &public(seed).fingerprint());
            assert_eq!(fs::read(&retired).unwrap(), [seed; 32]);
            assert!(!file::is_loose(&retired).unwrap());
        }
        let keys = crate::keys::load_home(home);
        let origins = [1, 2, 3].map(|seed| keys.candidates(&public(seed).fingerprint())[0].origin);
        assert_eq!(origins, [KeyOrigin::Retired, KeyOrigin::Retired, KeyOrigin::Own]);
        assert!(crate::keys::health::check(home).is_empty());
    }

    #[test]
    fn a_keyring_that_cannot_be_read_stops_the_rotation_before_it_begins() {
        let home = tempfile::tempdir().unwrap();
        file::load_or_create(&file::path(home.path()), &[1; 32]).unwrap();
        fs::write(keyring::path(home.path()), "{\"version\": 9}").unwrap();
        assert_eq!(rotate(home.path(), &[2; 32], "t").unwrap_err().code, Code::KeyInvalid);
        assert_eq!(fs::read(file::path(home.path())).unwrap(), [1; 32]);
        assert!(!known::path(home.path()).exists());
    }

    #[test]
    fn a_rotation_killed_before_its_last_step_is_told_and_healed_by_the_next() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        file::load_or_create(&file::path(home), &[1; 32]).unwrap();
        rotate(home, &[2; 32], "t1").unwrap();
        let before = fs::read(keyring::path(home)).unwrap();
        rotate(home, &[3; 32], "t2").unwrap();
        fs::write(keyring::path(home), before).unwrap();
        assert_eq!(crate::keys::health::check(home).len(), 1);
        rotate(home, &[4; 32], "t3").unwrap();
        assert!(crate::keys::health::check(home).is_empty());
        assert_eq!(keyring::load(home).unwrap().unwrap().epochs.len(), 4);
    }

    #[test]
    fn killed_after_any_step_no_key_is_lost_and_the_next_rotation_works() {
        for steps in 0..=3 {
            let home = tempfile::tempdir().unwrap();
            let home = home.path();
            let old = file::load_or_create(&file::path(home), &[1; 32]).unwrap();
            if steps >= 1 {
                retire(home, &old).unwrap();
            }
            if steps >= 2 {
                map::register(&known::path(home), &old.public()).unwrap();
            }
            if steps >= 3 {
                files::replace_secret(&file::path(home), &[2; 32]).unwrap();
            }
            let current = if steps == 3 { 2 } else { 1 };
            let before = crate::keys::load_home(home);
            assert_eq!(
                before.candidates(&public(current).fingerprint())[0].origin,
                KeyOrigin::Own,
                "{steps}"
            );
            assert_eq!(before.candidates(&public(1).fingerprint()).len(), 1, "{steps}");
            rotate(home, &[5; 32], "t").unwrap();
            assert!(crate::keys::health::check(home).is_empty());
            let after = crate::keys::load_home(home);
            for seed in [1, current] {
                assert_eq!(after.candidates(&public(seed).fingerprint()).len(), 1);
                assert!(retired_path(home, &public(seed).fingerprint()).exists());
            }
        }
    }
}
