//! A chain of a home before it is recorded: every record verified, every signer the home's own, nothing missing.

use super::owner::{own_keys, traces_of};
use crate::PublicKey;
use crate::chain::ChainReader;
use crate::verify::{ChainVerdict, VerifyOptions, verify};
use capsid_model::{Code, Problem, Result};
use capsid_verdict::evidence::{ChainEvidence, ChainPlace, VerdictEvidence};
use capsid_verdict::{Dimension, Finding, FindingCode, Require, SignerPolicy, VerdictLevel, evaluate};
use std::path::Path;

/// A chain of a home that is to be recorded in the meta-chain.
#[derive(Debug, Clone, Copy)]
pub struct OwnChain<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The session.
    pub session: &'a str,
    /// The database; it may not exist yet.
    pub database: &'a Path,
    /// The tenant in a database of many.
    pub tenant: Option<&'a str>,
    /// The checkpoint file.
    pub checkpoint: Option<&'a Path>,
}

/// What came of verifying a chain of a home as its own.
#[derive(Debug, Clone)]
pub struct OwnChainVerdict {
    /// What its records come to.
    pub records: ChainVerdict,
    /// Why it cannot be recorded although its records hold: somebody else signed, or something is missing.
    pub refusal: Option<Problem>,
    /// Records that wait for a signature.
    pub pending: u64,
}

impl OwnChain<'_> {
    /// Verifies every record, and compares the chain with all that says something about it. Every signer must be the
    /// home's own.
    pub fn verify(&self, home: &Path, sealing: &[PublicKey]) -> Result<OwnChainVerdict> {
        let name = format!("{}/{}", self.tool, self.session);
        let reader = self.database.exists().then(|| ChainReader::open(self.database)).transpose()?;
        let keys = own_keys(home, sealing);
        let traces = traces_of(home, &name, &keys)?;
        let mut expectations = match &reader {
            Some(reader) => reader.expectations(self.tenant, &name, self.checkpoint)?,
            None => Vec::new(),
        };
        expectations.retain(|one| one.chain == name);
        expectations.extend(traces.expectations.iter().filter(|one| one.chain == name).cloned());
        let options = VerifyOptions {
            signatures: true,
            passes_unknown_signers: true,
            watch: expectations.iter().map(|one| one.count).collect(),
            ..VerifyOptions::default()
        };
        let records = reader.iter().flat_map(|reader| reader.records(self.tenant));
        let mut records = verify(records, &options, &keys)?;
        traces.limit_runs(&name, &mut records.runs);
        let pending = reader.as_ref().map_or(Ok(0), |reader| reader.pending(self.tenant))?;
        let chain = ChainEvidence::from_records(name.clone(), ChainPlace::Home, false, &records, true);
        let is_empty = records.total == 0 && expectations.is_empty();
        let evidence = VerdictEvidence { chains: vec![chain], expectations, ..VerdictEvidence::default() };
        let verdict = evaluate(&evidence, &SignerPolicy::implied(Require::Own));
        let bad = verdict.findings_about(&name).find(|one| one.level > VerdictLevel::Valid);
        let refusal = bad.filter(|_| records.valid && !is_empty).map(refusal);
        Ok(OwnChainVerdict { records, refusal, pending })
    }
}

fn refusal(finding: &Finding) -> Problem {
    let is_foreign = finding.dimension == Dimension::Signer || finding.code == FindingCode::UnknownSigner;
    let code = if is_foreign { Code::ChainNotOwn } else { Code::ChainBroken };
    let problem = Problem::new(code, finding.message.clone());
    match &finding.fix {
        Some(fix) => problem.fix(fix.clone()),
        None if finding.level == VerdictLevel::Unverified => problem.fix(
            "Bring back what proves it, such as the post-quantum public key `key.ml.pub`, and run the command again.",
        ),
        None => problem.fix("See `capsid trail verify`, and restore the chain from a copy or move it aside."),
    }
}
