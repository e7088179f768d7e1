//! Whether the event log is what was sealed.

use super::compare::LogComparison;
use super::entry::{AcceptedChange, SealedEntry};
use super::loss::ChainLoss;
use super::{DOMAIN, LogChain, SealedLines, catch_up, session_file};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_seal::StoredRecord;
use capsid_seal::chain::ChainReader;
use capsid_seal::verdict::evidence::{ChainEvidence, ChainPlace, VerdictEvidence};
use capsid_seal::verdict::{Dimension, Finding, FindingCode, Require, SignerPolicy, VerdictLevel, evaluate};
use capsid_seal::verify::{ChainVerdict, VerifyFailure, VerifyFailureClass, VerifyOptions, verify};
use capsid_signer::home_evidence::{ask_witness, load_signed_home, own_key_limits};
use capsid_signer::layout::SignerLayout;
use std::path::Path;

/// What there is to say about the event log.
#[derive(Debug)]
pub struct LogProof {
    /// The session under which the chain is stored.
    pub session: String,
    /// Whether the chain itself holds; none when nothing was ever sealed.
    pub chain: Option<ChainVerdict>,
    /// How the log compares with it; none when the chain is broken or absent.
    pub log: Option<LogComparison>,
    /// What the chain lost since it was recorded last.
    pub loss: Option<ChainLoss>,
    /// Each time its owner took a changed log as it was.
    pub accepted: Vec<LogAcceptance>,
    /// Whether the repository was ever sealed, here or elsewhere.
    pub is_started: bool,
    /// The ids of the log's heads, newest first: several after git merged the logs of several clones.
    pub heads: Vec<String>,
    /// Whether all lines that were never sealed came with a merge: records that verify, in a commit of this repository.
    pub is_merge: bool,
}

/// A changed log that its owner took as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogAcceptance {
    /// When, by the signer's clock.
    pub at: Option<String>,
    /// How many lines the log had.
    pub lines: u64,
    /// What had been done to it; none where the record does not say.
    pub what: Option<AcceptedChange>,
}

impl LogProof {
    /// Whether the chain holds and the log matches it, to the last line. Lines that git merged in are no damage: the next
    /// cycle seals them.
    pub fn holds(&self) -> bool {
        let is_complete = |log: &LogComparison| log.unsealed == 0 || self.is_merge;
        self.loss.is_none()
            && self.chain.as_ref().is_some_and(|chain| chain.valid)
            && self.log.as_ref().is_some_and(|log| log.difference.is_none() && is_complete(log))
    }
}

/// Verifies the repository's chain, and the log against it. Nothing is written.
pub fn prove(workspace: &Workspace) -> Result<LogProof> {
    let chain = LogChain::open(workspace)?;
    let (path, tenant) = chain.database();
    let mut proof = LogProof {
        session: chain.session.clone(),
        chain: None,
        log: None,
        loss: chain.loss()?,
        accepted: Vec::new(),
        is_started: session_file(workspace)?.exists(),
        heads: workspace.store.events.heads()?.into_iter().map(|event| event.id).collect(),
        is_merge: false,
    };
    if !path.exists() {
        return Ok(proof);
    }
    let reader = ChainReader::open(&path)?;
    let verdict = verify_own(&chain, reader.records(tenant.as_deref()), &SignerLayout::system().trust)?;
    if verdict.valid {
        let (entries, times) = chain.entries()?;
        let log = chain.compare(&entries)?;
        proof.is_merge = is_merge(&chain, &log, proof.heads.len())?;
        proof.log = Some(log);
        proof.accepted = entries.iter().zip(times).enumerate().filter_map(acceptance).collect();
    }
    Ok(LogProof { chain: Some(verdict), ..proof })
}

/// Verifies the records of a home's chain. Each must be signed by the key that was the home's own then: neither by a key
/// that the home only knows, nor by a retired one behind its last record.
fn verify_own(
    chain: &LogChain,
    records: impl Iterator<Item = Result<StoredRecord>>,
    trust: &Path,
) -> Result<ChainVerdict> {
    let home = &chain.home;
    let keys = load_signed_home(trust, home.root());
    let witness = ask_witness(trust, home.root())?;
    let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
    let mut verdict = verify(records, &options, &keys)?;
    let name = format!("{DOMAIN}/{}", chain.session);
    own_key_limits(witness.as_ref(), home, &keys)?.limit_runs(&name, &mut verdict.runs);
    let mut evidence = VerdictEvidence::default();
    evidence.chains.push(ChainEvidence::from_records(name, ChainPlace::Home, false, &verdict, true));
    if let Some(witness) = &witness {
        witness.note_elsewhere(&mut evidence);
    }
    let judged = evaluate(&evidence, &SignerPolicy::implied(Require::Own));
    let is_about_signers = |one: &&Finding| {
        matches!(one.code, FindingCode::SignerUnreachable | FindingCode::StatementInvalid)
            || (one.dimension == Dimension::Signer && one.level == VerdictLevel::Invalid)
    };
    if let Some(finding) = judged.findings.iter().find(is_about_signers).filter(|_| verdict.valid) {
        verdict.valid = false;
        verdict.broken_at = finding.position;
        verdict.failure =
            Some(VerifyFailure { class: VerifyFailureClass::Signature, message: finding.message.clone() });
    }
    Ok(verdict)
}

/// Whether the lines that were never sealed here are those of another clone. A line that is in no commit may have come
/// from anywhere.
fn is_merge(chain: &LogChain, log: &LogComparison, heads: usize) -> Result<bool> {
    let is_branched = log.merge.is_some() || heads > 1;
    if log.unsealed == 0 || !is_branched || !log.unsealed_verify {
        return Ok(log.merge.is_some());
    }
    let committed = chain.committed_lines()?;
    Ok(log.unsealed_sha256.iter().all(|hash| committed.contains(hash)))
}

/// A baseline at the start of the chain accepts nothing, unless it records an acceptance.
fn acceptance((index, (entry, at)): (usize, (&SealedEntry, Option<String>))) -> Option<LogAcceptance> {
    match entry {
        SealedEntry::Baseline(baseline) if index > 0 || baseline.accepted.is_some() => {
            Some(LogAcceptance { at, lines: baseline.lines, what: baseline.accepted.clone() })
        }
        _ => None,
    }
}

/// Seals what is not sealed yet; with `accept`, also where the log was changed.
pub fn seal(workspace: &Workspace, accept: bool) -> Result<SealedLines> {
    let _lock = workspace.lock()?;
    catch_up(workspace, accept)
}
