//! The options that say where signals come from, shared by `evolve`, `signals`, `select` and `recall`.

use capsid_engine::cycle::evolve::Sources;
use capsid_engine::files::log_reading::{LOG_BYTES, read_bounded};
use capsid_model::{Code, Problem, Result};
use clap::Args;
use std::path::{Path, PathBuf};

/// Where signals come from.
#[derive(Debug, Args, Clone)]
pub struct InputArgs {
    /// Read this log; may be given more than once, `-` reads stdin.
    #[arg(long = "log", value_name = "FILE")]
    pub logs: Vec<PathBuf>,

    /// Add this signal; may be given more than once.
    #[arg(long = "signal", value_name = "SIGNAL")]
    pub signals: Vec<String>,

    /// The command that reproduces the problem.
    #[arg(long, value_name = "COMMAND")]
    pub repro: Option<String>,

    /// Read this instead of USER.md.
    #[arg(long, value_name = "FILE")]
    pub user: Option<PathBuf>,

    /// Read this instead of MEMORY.md.
    #[arg(long, value_name = "FILE")]
    pub memory: Option<PathBuf>,

    /// Leave the sessions of coding agents on this machine alone.
    #[arg(long)]
    pub no_sessions: bool,
}

impl InputArgs {
    /// Whether the user named an input.
    pub fn names_any(&self) -> bool {
        !self.logs.is_empty() || !self.signals.is_empty() || self.user.is_some() || self.memory.is_some()
    }

    /// Whether signals are named, and no input to look for more.
    pub fn is_signals_only(&self) -> bool {
        let names_input = !self.logs.is_empty() || self.user.is_some() || self.memory.is_some();
        !self.signals.is_empty() && !names_input
    }

    /// Reads stdin where `-` names it.
    pub fn sources(&self) -> Result<Sources> {
        let wants_stdin = self.logs.iter().any(|path| path.as_os_str() == "-");
        Ok(Sources {
            logs: self.logs.iter().filter(|path| path.as_os_str() != "-").cloned().collect(),
            user: self.user.clone(),
            memory: self.memory.clone(),
            stdin: wants_stdin.then(read_stdin).transpose()?,
            sessions: !self.no_sessions,
            repro: self.repro.clone(),
            signals: self.signals.clone(),
            ..Sources::default()
        })
    }
}

/// The end of a log that was named; `-` is stdin.
pub(crate) fn log(path: &Path) -> Result<String> {
    match path.as_os_str() == "-" {
        true => read_stdin(),
        false => capsid_transcript::plain_tail(path, LOG_BYTES),
    }
}

fn read_stdin() -> Result<String> {
    read_bounded(std::io::stdin().lock())
        .map_err(|error| Problem::new(Code::IoError, format!("Standard input could not be read: {error}.")))
}
