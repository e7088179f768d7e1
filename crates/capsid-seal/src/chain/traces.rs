//! What a chain's own surroundings say about its length: keys of sealed items, marks, the checkpoint file.

use super::{ChainReader, checkpoint_keys};
use capsid_model::Result;
use capsid_verdict::evidence::{Expectation, ExpectationSource};
use std::path::Path;

/// The name of the meta-chain in evidence.
const META: &str = "meta";

impl ChainReader {
    /// What the keys, the marks and the checkpoint file next to a chain say about it, and the marks about the
    /// meta-chain. `name` is `tool/session`.
    pub fn expectations(
        &self,
        tenant: Option<&str>,
        name: &str,
        checkpoint: Option<&Path>,
    ) -> Result<Vec<Expectation>> {
        let expect =
            |source, chain: &str, count, head| Expectation { source, chain: chain.to_owned(), count, head };
        let mut all = Vec::new();
        let sealed = self.sealed_count(tenant)?;
        if sealed > 0 {
            all.push(expect(ExpectationSource::SealedKeys, name, sealed, None));
        }
        for mark in self.finalised(tenant)? {
            let source = ExpectationSource::FinalisedMark;
            all.push(expect(source.clone(), name, mark.count, Some(mark.head)));
            all.push(expect(source, META, mark.meta_sequence.saturating_add(1), Some(mark.meta_hash)));
        }
        all.extend(checkpoint.and_then(|file| expected_by_checkpoint(file, name)));
        Ok(all)
    }
}

/// What a checkpoint file says about its chain, which may be gone. The file alone proves nothing, and its absence is no
/// fault.
pub fn expected_by_checkpoint(checkpoint: &Path, name: &str) -> Option<Expectation> {
    let count = checkpoint_keys(checkpoint).len() as u64;
    (count > 0).then(|| Expectation {
        source: ExpectationSource::CheckpointFile,
        chain: name.to_owned(),
        count,
        head: None,
    })
}
