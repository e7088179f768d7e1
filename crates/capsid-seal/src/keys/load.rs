//! The keys of a home, each with where it came from.

use super::keyring::{self, KeyStatus};
use super::{adopted, file, known, pinned};
use capsid_model::Result;
use capsid_verdict::{KeyOrigin, KeySet};
use std::path::Path;

/// The keys of a home. Reads only; a missing file is an empty one, and one that cannot be used is listed in
/// [`KeySet::refused`]: what it holds may not be needed.
pub fn load_home(home: &Path) -> KeySet {
    let mut set = KeySet::default();
    let maps = [
        (known::load(home), KeyOrigin::Known),
        (pinned::load(home), KeyOrigin::Pinned),
        (adopted::load(home), KeyOrigin::Retired),
    ];
    for (map, origin) in maps {
        let map = usable(&mut set, map);
        map.keys.iter().for_each(|key| set.add(*key, origin));
        set.refused.extend(map.refused);
    }
    let keyring = usable(&mut set, keyring::load(home));
    for epoch in keyring.into_iter().flat_map(|keyring| keyring.epochs) {
        if let Ok(key) = epoch.key() {
            set.set_epoch(&key, epoch.epoch);
        }
        match epoch.key() {
            Ok(key) if epoch.status == KeyStatus::Retired => set.add(key, KeyOrigin::Retired),
            Ok(key) => set.add(key, KeyOrigin::Known),
            Err(problem) => set.refused.push(problem.message),
        }
    }
    if let Some(key) = usable(&mut set, file::load(&file::path(home))) {
        set.add(key.public(), KeyOrigin::Own);
        if set.epoch(&key.public()).is_none() {
            // A home of before there was a keyring, or one whose rotation was killed before its last step.
            set.set_epoch(&key.public(), u64::MAX);
        }
    }
    #[cfg(feature = "pq")]
    if let Some(key) = usable(&mut set, crate::pq::load_public(home)) {
        set.set_post_quantum(std::sync::Arc::new(key));
    }
    set
}

/// Adds the keys in a folder that is not the user's home, all with one origin.
pub fn add_folder(set: &mut KeySet, folder: &Path, origin: KeyOrigin) {
    let keys = load_home(folder);
    keys.iter().for_each(|trusted| set.add(trusted.key, origin));
    set.refused.extend(keys.refused);
}

fn usable<T: Default>(set: &mut KeySet, read: Result<T>) -> T {
    read.unwrap_or_else(|problem| {
        set.refused.push(problem.message);
        T::default()
    })
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::sign::{PublicKey, SigningKey};

    #[test]
    fn a_file_that_cannot_be_used_is_told_and_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let key: PublicKey = SigningKey::from_seed(&[1; 32]).public();
        known::register(home, &key).unwrap();
        std::fs::write(file::path(home), "too short").unwrap();
        std::fs::write(keyring::path(home), "{").unwrap();
        let set = load_home(home);
        assert_eq!(set.candidates(&key.fingerprint())[0].key, key);
        assert_eq!(set.refused.len(), 2, "{:?}", set.refused);
        let mut other = KeySet::default();
        add_folder(&mut other, home, KeyOrigin::Bundled);
        assert_eq!(other.candidates(&key.fingerprint())[0].origin, KeyOrigin::Bundled);
        assert_eq!(other.refused, set.refused);
    }
}
