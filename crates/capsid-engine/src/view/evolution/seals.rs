//! Which lines of the log are what was sealed of them.

use crate::sealed_log::proof::{LogProof, prove};
use crate::workspace::Workspace;
use serde::Serialize;

/// Whether one line is the one that was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineSeal {
    Sealed,
    /// It came after all that was sealed.
    Unsealed,
    /// It is at or after the first change, so nothing is known about it.
    Unproven,
}

/// The verdict on the complete log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogSeal {
    pub state: LogState,
    /// Lines that are as they were sealed.
    pub intact: u64,
    /// Lines after the last sealed one.
    pub unsealed: u64,
    /// The line of the first change.
    pub line: Option<u64>,
    pub change: Option<String>,
}

/// The verdict on the complete log, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogState {
    /// Every line is what was sealed.
    Sealed,
    /// Some lines, or all, were never sealed.
    Unsealed,
    /// The log or its chain was changed.
    Broken,
    /// The chain could not be read.
    Unknown,
}

/// The chain's verdict on the log.
pub(super) struct LogSeals(Option<LogProof>);

impl LogSeals {
    /// A chain that cannot be read is no reason to show nothing.
    pub(super) fn load(workspace: &Workspace) -> Self {
        Self(prove(workspace).ok())
    }

    /// The verdict on one line.
    pub(super) fn seal_of_line(&self, number: u64) -> LineSeal {
        let log = self.0.as_ref().and_then(|proof| proof.log.as_ref());
        match (log, self.seal_of_log().state) {
            (Some(log), _) if number <= log.intact => LineSeal::Sealed,
            (_, LogState::Broken | LogState::Unknown) => LineSeal::Unproven,
            _ => LineSeal::Unsealed,
        }
    }

    /// The verdict on the log.
    pub(super) fn seal_of_log(&self) -> LogSeal {
        let mut seal = LogSeal { state: LogState::Unknown, intact: 0, unsealed: 0, line: None, change: None };
        let Some(proof) = &self.0 else { return seal };
        let is_chain_broken = proof.chain.as_ref().is_some_and(|chain| !chain.valid);
        let difference = proof.log.as_ref().and_then(|log| log.difference.as_ref());
        if let Some(log) = &proof.log {
            (seal.intact, seal.unsealed) = (log.intact, log.unsealed);
        }
        seal.line = difference.map(|difference| difference.line);
        seal.change = match &proof.loss {
            Some(loss) => Some(loss.kind.name().to_owned()),
            None if is_chain_broken => Some("chain_broken".to_owned()),
            None => difference.map(|difference| difference.kind.name().to_owned()),
        };
        seal.state = match () {
            () if seal.change.is_some() => LogState::Broken,
            () if proof.holds() => LogState::Sealed,
            () => LogState::Unsealed,
        };
        seal
    }
}
