//! The keys of a home whose records the service signs.

use crate::trust_root::SignerTrust;
use capsid_model::Result;
use capsid_seal::keys::KeyOrigin;
use capsid_verdict::KeySet;

/// The place of the service's first key among the own ones: behind all of the home.
const FIRST_EPOCH: u64 = 1 << 48;

/// Adds the keys of the service. While it is in use, keys that are in the home are own no more: the account can read
/// them and put others in their place, so they count for adopted records only.
pub fn add_service_keys(set: &mut KeySet, trust: &SignerTrust) -> Result<()> {
    let keys = trust.keys()?;
    if !trust.is_active {
        // Records of the home's own key come before those of the service and after them.
        keys.into_iter().for_each(|key| set.add(key, KeyOrigin::Own));
        return Ok(());
    }
    set.retire_own(FIRST_EPOCH - 1);
    for (epoch, key) in (FIRST_EPOCH..).zip(&keys) {
        let is_last = keys.last() == Some(key);
        set.add(*key, if is_last { KeyOrigin::Own } else { KeyOrigin::Retired });
        set.set_epoch(key, epoch);
    }
    Ok(())
}
