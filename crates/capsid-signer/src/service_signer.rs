//! The signer of a home whose key the service keeps.

use crate::client::{SignerClient, load_heads};
use crate::trust_root::SignerTrust;
use capsid_model::Result;
use capsid_seal::PublicKey;
use capsid_seal::record_signer::{ChainSignatures, RecordSigner};
use capsid_verdict::KeyOrigin;
use capsid_verdict::evidence::{Expectation, ExpectationSource, StatementSigner};

/// Has records signed over the socket.
#[derive(Debug, Clone)]
pub struct ServiceSigner {
    trust: SignerTrust,
    current: PublicKey,
}

impl ServiceSigner {
    /// The signer that the trust root names.
    pub fn new(trust: SignerTrust) -> Result<Self> {
        let current = trust.current_key()?;
        Ok(Self { trust, current })
    }
}

impl RecordSigner for ServiceSigner {
    fn public(&self) -> PublicKey {
        self.current
    }

    fn sign_chain(&self, texts: &[&str]) -> Result<ChainSignatures> {
        let signed = SignerClient::connect(&self.trust.socket)?.sign(texts, &self.trust.keys()?)?;
        Ok(ChainSignatures { key: signed.key, signatures: signed.signatures })
    }
}

/// What the service says must be there: one expectation for each chain, signed by a key of the trust root.
pub fn expected_by_service(trust: &SignerTrust) -> Result<Vec<Expectation>> {
    let statement = load_heads(trust)?;
    let fingerprint = statement.origin.key.fingerprint();
    let source = ExpectationSource::HeadStatement(StatementSigner { fingerprint, origin: KeyOrigin::Own });
    let expectations = statement.chains.into_iter().map(|stated| {
        let (domain, session) = (stated.chain.domain, stated.chain.session);
        let chain = match (domain.as_str(), session.as_str()) {
            ("meta", "meta") => "meta".to_owned(),
            _ => format!("{domain}/{session}"),
        };
        let head = Some(capsid_seal::hash::hex(&stated.head.hash));
        Expectation { source: source.clone(), chain, count: stated.head.count, head }
    });
    Ok(expectations.collect())
}
