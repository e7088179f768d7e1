//! The signer of a home whose key the service keeps.

use crate::adoption::has_records;
use crate::client::SignerClient;
use crate::trust_root::SignerTrust;
use capsid_model::{Code, Problem, Result};
use capsid_seal::record_signer::{ChainSignatures, RecordSigner};
use capsid_seal::{PublicKey, TrailHome};
use std::sync::atomic::{AtomicBool, Ordering};

/// Has records signed over the socket.
#[derive(Debug)]
pub struct ServiceSigner {
    trust: SignerTrust,
    current: PublicKey,
    /// Whether it is clear that no chain of the home has to be handed over first.
    is_adopted: AtomicBool,
}

impl ServiceSigner {
    /// The signer that the trust root names.
    pub fn new(trust: SignerTrust) -> Result<Self> {
        let current = trust.current_key()?;
        Ok(Self { trust, current, is_adopted: AtomicBool::new(false) })
    }

    /// The first signature closes adoption for good. A home that was used before waits until its chains are handed
    /// over, because the service would refuse to go on with them for ever.
    fn require_adoption(&self, client: &mut SignerClient) -> Result<()> {
        if self.is_adopted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let status = client.status()?;
        if status.is_adopt_open && status.chains == 0 && has_records(&TrailHome::at(&self.trust.home))? {
            let message = "The chains of this home were not handed over to the signing service yet.";
            return Err(
                Problem::new(Code::SignerUnreachable, message).fix("Run `capsid trail signer adopt`.")
            );
        }
        self.is_adopted.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl RecordSigner for ServiceSigner {
    fn public(&self) -> PublicKey {
        self.current
    }

    fn keys(&self) -> Vec<PublicKey> {
        self.trust.keys().unwrap_or_else(|_| vec![self.current])
    }

    fn sign_chain(&self, texts: &[&str]) -> Result<ChainSignatures> {
        let mut client = SignerClient::connect(&self.trust.socket)?;
        self.require_adoption(&mut client)?;
        let signed = client.sign(texts, &self.trust.keys()?)?;
        Ok(ChainSignatures { key: signed.key, signatures: signed.signatures })
    }
}
