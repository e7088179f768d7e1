//! Who seals in a home.

use super::{file, keyring, known, map};
use crate::sealer::Sealer;
use crate::sign::{PublicKey, SigningKey};
use capsid_model::{Code, Problem, Result};
use std::path::Path;

/// The one who seals in a home.
#[derive(Debug)]
pub struct OwnKeys {
    /// Seals with the home's key.
    pub sealer: Sealer,
    /// Whether the key was made just now.
    pub is_new: bool,
}

/// The home's key; the first time one is made, of the seed that is given then.
///
/// A lost key is not replaced without a request: a different key is a different signer.
pub fn own(home: &Path, seed: impl FnOnce() -> Result<[u8; 32]>, now: &str) -> Result<OwnKeys> {
    if let Some(key) = file::load(&file::path(home))? {
        return Ok(OwnKeys { sealer: sealer(home, key)?, is_new: false });
    }
    let _lock = super::lock(home)?;
    if let Some(key) = file::load(&file::path(home))? {
        return Ok(OwnKeys { sealer: sealer(home, key)?, is_new: false });
    }
    if let Some(lost) = lost(home)? {
        let message = format!("The key {} of `{}` is gone.", lost.fingerprint(), home.display());
        return Err(Problem::new(Code::KeyMissing, message)
            .fix("Put it back from a copy as `key`, or run `capsid key new` to go on with another one."));
    }
    let key = file::load_or_create(&file::path(home), &seed()?)?;
    begin(home, &key.public(), now)?;
    Ok(OwnKeys { sealer: sealer(home, key)?, is_new: true })
}

/// A seed from the system's source of randomness.
pub fn random_seed() -> Result<[u8; 32]> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| {
        Problem::new(Code::Internal, format!("The system gives no random numbers: {error}."))
    })?;
    Ok(seed)
}

/// Makes a key in the place of one that was lost. What the lost one sealed still verifies.
pub fn renew(home: &Path, seed: &[u8; 32], now: &str) -> Result<PublicKey> {
    let _lock = super::lock(home)?;
    if file::load(&file::path(home))?.is_some() {
        return Err(Problem::new(Code::KeyInvalid, "This home has a key already.")
            .fix("`capsid key rotate` puts another one in its place and keeps the old one."));
    }
    if let Some(lost) = lost(home)? {
        map::register(&known::path(home), &lost)?;
    }
    let key = file::load_or_create(&file::path(home), seed)?;
    begin(home, &key.public(), now)?;
    Ok(key.public())
}

/// The key that the keyring names as active, read when it is missing.
fn lost(home: &Path) -> Result<Option<PublicKey>> {
    let Some(ring) = keyring::load(home)? else { return Ok(None) };
    let active = ring.epochs.iter().find(|epoch| epoch.status == keyring::KeyStatus::Active);
    active.map(keyring::KeyEpoch::key).transpose()
}

fn begin(home: &Path, key: &PublicKey, now: &str) -> Result<()> {
    let mut ring = keyring::load(home)?.unwrap_or_else(keyring::Keyring::empty);
    ring.begin(key, now);
    keyring::save(home, &ring)
}

/// Signs twice where the home has a second key and this program knows how.
#[cfg(feature = "pq")]
fn sealer(home: &Path, key: SigningKey) -> Result<Sealer> {
    let sealer = Sealer::new(key);
    Ok(match crate::pq::load(home)? {
        Some(second) => sealer.with_pq(second),
        None => sealer,
    })
}

#[cfg(not(feature = "pq"))]
fn sealer(_home: &Path, key: SigningKey) -> Result<Sealer> {
    Ok(Sealer::new(key))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::keys::KeyOrigin;

    #[test]
    fn a_lost_key_is_not_replaced_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let first = own(home, || Ok([1; 32]), "t1").unwrap();
        assert!(first.is_new);
        assert!(!own(home, || Ok([2; 32]), "t2").unwrap().is_new);
        assert_eq!(renew(home, &[2; 32], "t2").unwrap_err().code, Code::KeyInvalid);
        std::fs::remove_file(file::path(home)).unwrap();
        let problem = own(home, || Ok([2; 32]), "t2").unwrap_err();
        assert_eq!(problem.code, Code::KeyMissing);
        assert!(problem.message.contains(&first.sealer.public().fingerprint()));
        assert!(!file::path(home).exists());
        let new = renew(home, &[2; 32], "t3").unwrap();
        assert_eq!(own(home, || Ok([3; 32]), "t4").unwrap().sealer.public(), new);
        let keys = crate::keys::load_home(home);
        let origin = |key| keys.iter().find(|trusted| trusted.key == key).map(|trusted| trusted.origin);
        assert_eq!(origin(first.sealer.public()), Some(KeyOrigin::Retired));
        assert_eq!(origin(new), Some(KeyOrigin::Own));
    }
}
