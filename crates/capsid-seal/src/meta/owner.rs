//! Whose chain it is: nothing is added behind a record of somebody else.

use super::traces::{MetaTraces, ROTATION};
use crate::chain::{ChainReader, OwnershipCheck};
use crate::keys::{KeyOrigin, KeySet, load_home};
use crate::{PublicKey, Sealer};
use capsid_model::{Code, Problem, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The owner of a home's chain.
#[derive(Debug, Clone)]
pub struct ChainOwner {
    home: PathBuf,
    chain: String,
    keys: KeySet,
    sealing: PublicKey,
}

impl ChainOwner {
    /// The owner of a chain: `tool/session`, or `meta`. The keys are those of the home, and the one that seals now.
    pub fn new(home: &Path, chain: impl Into<String>, sealer: &Sealer) -> Self {
        let sealing = sealer.public();
        Self { home: home.to_owned(), chain: chain.into(), keys: own_keys(home, &sealer.own_keys()), sealing }
    }
}

/// The keys of a home, with those that seal now and before among its own, unless they were retired meanwhile. A service
/// may have had several.
pub fn own_keys(home: &Path, sealing: &[PublicKey]) -> KeySet {
    let mut keys = load_home(home);
    for key in sealing {
        if !is_retired(&keys, *key) {
            keys.add(*key, KeyOrigin::Own);
        }
    }
    keys
}

/// Every name by which a record can give one of the home's own keys as its signer.
pub(super) fn own_names(home: &Path, sealing: &[PublicKey]) -> BTreeSet<String> {
    let keys = own_keys(home, sealing);
    let own = keys.iter().filter(|one| keys.is_own(&one.key)).map(|one| one.key);
    own.flat_map(|key| [key.fingerprint(), key.short_fingerprint(), key.hex()]).collect()
}

fn is_retired(keys: &KeySet, key: PublicKey) -> bool {
    keys.iter().any(|trusted| trusted.key == key && trusted.origin == KeyOrigin::Retired)
}

impl OwnershipCheck for ChainOwner {
    fn keys(&self) -> &KeySet {
        &self.keys
    }

    fn check_signer(&self) -> Result<()> {
        if !is_retired(&self.keys, self.sealing) {
            return Ok(());
        }
        let fingerprint = self.sealing.fingerprint();
        let message = format!("The key {fingerprint} was retired, so it seals nothing any more.");
        Err(Problem::new(Code::ChangeRefused, message).fix("Run the command again: it uses the new key."))
    }

    fn limit(&self, fingerprint: &str) -> Result<Option<u64>> {
        Ok(traces_of(&self.home, &self.chain, &self.keys)?.limit(fingerprint, &self.chain))
    }
}

/// What the meta-chain of a home says about one chain. Of its records only rotations are verified.
pub fn traces_of(home: &Path, chain: &str, keys: &KeySet) -> Result<MetaTraces> {
    let mut traces = MetaTraces::default();
    let path = home.join(super::FILE);
    if !path.exists() {
        return Ok(traces);
    }
    let session = chain.rsplit_once('/').map_or(chain, |(_, session)| session);
    for stored in ChainReader::open(&path)?.into_records(None) {
        let stored = stored?;
        // Parsing takes the time; most entries speak of other chains.
        match chain == "meta" || stored.canonical.contains(session) || stored.canonical.contains(ROTATION) {
            true => traces.push(&stored, keys),
            false => traces.skip(&stored, keys),
        }
    }
    Ok(traces)
}
