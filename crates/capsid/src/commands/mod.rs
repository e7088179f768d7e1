//! One file a command.

pub mod asset;
pub mod completions;
pub mod evolve;
pub mod explain;
pub mod inputs;
pub mod select;
pub mod signals;
pub mod solidify;

use crate::cli::{Cli, Command};
use capsid_engine::workspace::Workspace;
use capsid_model::{Result, SystemClock};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs a command and gives the exit status.
pub fn run(cli: Cli) -> Result<u8> {
    let folder = cli.repo.unwrap_or_else(|| PathBuf::from("."));
    match cli.command {
        Command::Signals(arguments) => signals::run(&arguments, &folder),
        Command::Select(arguments) => select::run(&arguments, &folder),
        Command::Explain(arguments) => explain::run(&arguments, &folder),
        Command::Asset(arguments) => asset::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Evolve(arguments) => evolve::run(&arguments, &folder),
        Command::Solidify(arguments) => solidify::run(&arguments, &folder),
        Command::Review(arguments) => solidify::review(&arguments, &folder),
    }
}

/// Opens the repository that a command works in.
pub(crate) fn workspace(folder: &Path) -> Result<Workspace> {
    Workspace::open(
        folder,
        Arc::new(SystemClock),
        Arc::new(|name: &str| std::env::var(name).ok()),
    )
}
