//! Statements about heads for an export, signed by the service: it has the key.

use crate::client::SignerClient;
use crate::rules::signer_chain::SignerChain;
use crate::trust_root::SignerTrust;
use capsid_model::Result;
use capsid_seal::bundle::{ExportedHead, HeadSigner};
use capsid_seal::heads::SignedStatement;

/// Has the service state what it signed of each chain.
#[derive(Debug, Clone)]
pub struct ServiceHeads {
    /// Whose service it is.
    pub trust: SignerTrust,
}

impl HeadSigner for ServiceHeads {
    /// It states the head that it knows, not the one that is exported: a chain that was cut or rewritten shows. Of what
    /// others sealed it knows nothing.
    fn sign(&self, head: &ExportedHead<'_>) -> Result<Option<SignedStatement>> {
        let chain = SignerChain::new(head.tool, head.session).filter(|_| !head.is_imported);
        let Some(chain) = chain else { return Ok(None) };
        SignerClient::connect(&self.trust.socket)?.state_head(&self.trust, &chain)
    }
}
