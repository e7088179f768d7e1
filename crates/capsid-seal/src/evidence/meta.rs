//! What the good part of a meta-chain says.

use crate::keys::KeySet;
use crate::meta::MetaTraces;
use crate::sources::ChainSource;
use crate::verify::{SignerRun, VerifyOptions, verify};
use capsid_model::Result;

/// Verifies a meta-chain and reads what it says up to its first bad record: nothing behind a break is believed.
pub fn read_meta(source: &ChainSource, keys: &KeySet) -> Result<MetaTraces> {
    let options =
        VerifyOptions { signatures: true, passes_unknown_signers: true, ..VerifyOptions::default() };
    let verdict = verify(source.records()?, &options, keys)?;
    let mut traces = MetaTraces::default();
    let good = usize::try_from(verdict.length).unwrap_or(usize::MAX);
    for stored in source.records()?.take(good) {
        traces.push(&stored?, keys);
    }
    Ok(traces)
}

/// Says of each run up to where its key may sign, if a rotation retired the key.
pub(super) fn limit_runs(traces: &MetaTraces, chain: &str, runs: &mut [SignerRun]) {
    for run in runs.iter_mut().filter(|run| run.origin.is_some()) {
        run.until = traces.limit(&run.signer, chain);
    }
}
