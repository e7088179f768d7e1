//! The private key's file: 32 raw bytes that only their owner may read.

use crate::sign::SigningKey;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::io::Read;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The bytes of a key file.
const LENGTH: usize = 32;

/// The path of a home's private key.
pub fn path(home: &Path) -> PathBuf {
    home.join("key")
}

/// Reads a key; nothing when there is none. Never makes one.
pub fn load(path: &Path) -> Result<Option<SigningKey>> {
    let Some(file) = files::open(path)? else { return Ok(None) };
    let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH + 1));
    file.take(LENGTH as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Problem::io("read", path, &error))?;
    let seed: &[u8; LENGTH] = bytes.as_slice().try_into().map_err(|_| wrong_length(path))?;
    Ok(Some(SigningKey::from_seed(seed)))
}

/// Reads a key that has to be there.
pub fn require(path: &Path) -> Result<SigningKey> {
    load(path)?.ok_or_else(|| {
        Problem::new(Code::KeyMissing, format!("There is no key at `{}`.", path.display()))
            .fix("Seal something first, which makes a key, or put the key back from a copy.")
    })
}

/// Reads the key, or makes the one of `seed` when there is none.
///
/// Of several processes that do so at once, one makes its key and all get that one.
pub fn load_or_create(path: &Path, seed: &[u8; LENGTH]) -> Result<SigningKey> {
    if let Some(key) = load(path)? {
        return Ok(key);
    }
    files::create_secret(path, seed)?;
    require(path)
}

/// Whether others than its owner may read or change the key. It is only reported, never changed.
pub fn is_loose(path: &Path) -> Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let meta = std::fs::metadata(path).map_err(|error| Problem::io("read", path, &error))?;
        Ok(meta.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(false)
    }
}

/// Copies the key of a home to a new file that only its owner may read.
pub fn backup(home: &Path, to: &Path) -> Result<()> {
    let key = require(&path(home))?;
    if files::create_secret(to, key.seed())? {
        return files::replace_private(&backup_record(home), key.public().hex().as_bytes());
    }
    let message = format!("`{}` is there already, so the key was not copied over it.", to.display());
    Err(Problem::new(Code::InputInvalid, message).fix("Name a file that does not exist yet."))
}

/// Holds the public key that was copied last.
fn backup_record(home: &Path) -> PathBuf {
    home.join("key.backup")
}

/// Whether a home has a key that [`backup`] did not copy. A key that cannot be read is another problem.
pub fn lacks_backup(home: &Path) -> bool {
    let Ok(Some(key)) = load(&path(home)) else { return false };
    let copied = files::read_optional(&backup_record(home)).ok().flatten().unwrap_or_default();
    copied.trim() != key.public().hex()
}

fn wrong_length(path: &Path) -> Problem {
    let message = format!("`{}` is not a private key: it does not hold exactly 32 bytes.", path.display());
    Problem::new(Code::KeyInvalid, message)
        .fix("Put the key back from a copy; or move the file away, and the next seal makes a new key.")
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn looking_makes_nothing_and_asking_makes_one_key() {
        let home = tempfile::tempdir().unwrap();
        let path = path(home.path());
        assert!(load(&path).unwrap().is_none());
        assert_eq!(require(&path).unwrap_err().code, Code::KeyMissing);
        assert_eq!(backup(home.path(), &home.path().join("copy")).unwrap_err().code, Code::KeyMissing);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        let first = load_or_create(&path, &[1; 32]).unwrap();
        let second = load_or_create(&path, &[2; 32]).unwrap();
        assert_eq!(first.public(), second.public());
        assert_eq!(fs::read(&path).unwrap(), [1; 32]);
        assert!(!is_loose(&path).unwrap());
    }

    #[test]
    fn of_many_who_make_a_key_at_once_all_get_the_same() {
        for _ in 0..20 {
            let home = tempfile::tempdir().unwrap();
            let path = path(home.path());
            let keys: Vec<String> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8_u8)
                    .map(|i| {
                        scope.spawn({
                            let path = &path;
                            move || load_or_create(path, &[i; 32]).unwrap()
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap().public().hex()).collect()
            });
            assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        }
    }

    #[test]
    fn a_file_of_another_length_is_refused_and_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = path(home.path());
        for bytes in [&[0_u8; 0][..], &[0; 31], &[0; 33], &[0; 64]] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(load(&path).unwrap_err().code, Code::KeyInvalid);
            assert_eq!(load_or_create(&path, &[1; 32]).unwrap_err().code, Code::KeyInvalid);
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    #[cfg(unix)]
    #[test]
    fn wide_permissions_are_told_and_left() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = path(home.path());
        load_or_create(&path, &[1; 32]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        load(&path).unwrap();
        assert!(is_loose(&path).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_backup_overwrites_nothing() {
        let home = tempfile::tempdir().unwrap();
        load_or_create(&path(home.path()), &[1; 32]).unwrap();
        let copy = home.path().join("copy");
        backup(home.path(), &copy).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), [1; 32]);
        assert!(!is_loose(&copy).unwrap());
        fs::write(&copy, "mine").unwrap();
        assert_eq!(backup(home.path(), &copy).unwrap_err().code, Code::InputInvalid);
        assert_eq!(fs::read(&copy).unwrap(), b"mine");
    }
}
