//! How long the keys of a home count, by those who say it in a verification.

use capsid_seal::PublicKey;
use capsid_seal::evidence::{CollectedEvidence, read_meta};
use capsid_seal::keys::KeySet;
use capsid_seal::meta::MetaTraces;
use capsid_seal::verdict::evidence::{ChainEvidence, EvidenceNote};
use capsid_seal::verdict::verify::SignerRun;
use capsid_signer::head_witness::HeadWitness;
use std::collections::BTreeMap;

/// How long keys of the home count: rotations and the signing service say so.
pub(super) struct KeyLimits {
    /// The length by fingerprint, for each chain.
    pub by_chain: BTreeMap<String, BTreeMap<String, u64>>,
    /// What the service says beside that.
    pub notes: Vec<EvidenceNote>,
}

impl KeyLimits {
    /// Asks those who say it in `verify` about a record of each key in each chain.
    pub fn read(found: &CollectedEvidence, keys: &KeySet, witness: Option<&HeadWitness>) -> Self {
        let meta = found.chains.iter().find(|chain| chain.source.is_meta);
        let traces = meta.and_then(|meta| read_meta(&meta.source, keys).ok()).unwrap_or_default();
        let mut asked = found.evidence.clone();
        (asked.chains, asked.notes) = (Vec::new(), Vec::new());
        asked.chains.extend(found.chains.iter().map(|chain| ChainEvidence {
            name: chain.name.clone(),
            runs: runs_of(&chain.name, keys, &traces),
            ..ChainEvidence::default()
        }));
        if let Some(witness) = witness {
            witness.apply_to(&mut asked);
        }
        let by_chain = asked.chains.into_iter().map(|chain| {
            let limits = chain.runs.into_iter().filter_map(|run| Some((run.signer, run.until?)));
            (chain.name, limits.collect())
        });
        Self { by_chain: by_chain.collect(), notes: asked.notes }
    }
}

fn runs_of(chain: &str, keys: &KeySet, traces: &MetaTraces) -> Vec<SignerRun> {
    let run = |key: &PublicKey, origin| {
        let signer = key.fingerprint();
        let until = traces.limit(&signer, chain);
        SignerRun { first: 0, count: 1, signer, origin: Some(origin), epoch: None, until }
    };
    keys.iter().map(|one| run(&one.key, one.origin)).collect()
}
