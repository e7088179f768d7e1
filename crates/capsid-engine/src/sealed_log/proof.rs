//! Whether the event log is what was sealed.

use super::compare::{LogComparison, compare};
use super::entry::{AcceptedChange, SealedEntry};
use super::loss::ChainLoss;
use super::{LogChain, SealedLines, catch_up, session_file};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_seal::chain::ChainReader;
use capsid_seal::keys::KeySet;
use capsid_seal::verify::{ChainVerdict, VerifyOptions, verify};

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
    /// Whether the chain holds and the log matches it, to the last line.
    pub fn holds(&self) -> bool {
        self.loss.is_none()
            && self.chain.as_ref().is_some_and(|chain| chain.valid)
            && self.log.as_ref().is_some_and(|log| log.difference.is_none() && log.unsealed == 0)
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
    };
    if !path.exists() {
        return Ok(proof);
    }
    let keys = KeySet::load_home(chain.home.root());
    let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
    let reader = ChainReader::open(&path)?;
    let verdict = verify(reader.records(tenant.as_deref()), &options, &keys)?;
    if verdict.valid {
        let (entries, times) = chain.entries()?;
        proof.log = Some(compare(workspace.store.events.path(), &entries)?);
        proof.accepted = entries.iter().zip(times).enumerate().filter_map(acceptance).collect();
    }
    Ok(LogProof { chain: Some(verdict), ..proof })
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
