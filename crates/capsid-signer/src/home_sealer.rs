//! Who seals in a home: the service where root set it up for this user, else the home's own key.

use crate::service_signer::ServiceSigner;
use crate::trust_root::SignerTrust;
use capsid_model::Result;
use capsid_seal::Sealer;
use capsid_seal::keys::file;
use capsid_seal::keys::own::{self, OwnKeys, random_seed};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The key that makes the salts of redacted values where the service has the signing key.
pub fn redaction_key_path(home: &Path) -> PathBuf {
    home.join("redaction.key")
}

/// The key that signs a node's reports where the service has the signing key.
pub fn node_key_path(home: &Path) -> PathBuf {
    home.join("node.key")
}

/// The user of this process.
#[cfg(unix)]
pub fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// There is no service on this system.
#[cfg(not(unix))]
pub fn this_user() -> u32 {
    u32::MAX
}

/// The service that signs what this user seals in a home. `trust` is the folder of the trust root.
pub fn service_of_home(trust: &Path, home: &Path) -> Result<Option<SignerTrust>> {
    SignerTrust::find_active(trust, this_user(), home)
}

/// Who seals in a home. A trust root that cannot be used is an error: with another key the records would be a
/// stranger's.
pub fn open_sealer(trust: &Path, home: &Path, now: &str) -> Result<OwnKeys> {
    match service_of_home(trust, home)? {
        Some(trust) => Ok(OwnKeys { sealer: service_sealer(trust, home)?, is_new: false }),
        None => {
            let own = own::own(home, random_seed, now)?;
            let former = SignerTrust::load(trust, this_user())?.filter(|trust| trust.is_home(home));
            let former = former.map(|trust| trust.keys()).transpose()?.unwrap_or_default();
            Ok(OwnKeys { sealer: own.sealer.after_service(former), ..own })
        }
    }
}

/// A sealer whose records the service signs.
pub fn service_sealer(trust: SignerTrust, home: &Path) -> Result<Sealer> {
    capsid_disk::files::create_private_folder(home)?;
    let redaction = file::load_or_create(&redaction_key_path(home), &random_seed()?)?;
    Ok(Sealer::with_service(Arc::new(ServiceSigner::new(trust)?), redaction))
}
