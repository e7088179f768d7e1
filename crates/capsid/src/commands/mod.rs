//! One file a command.

pub mod archive;
pub mod asset;
pub mod capsules;
pub mod completions;
pub mod demo;
pub mod distill;
pub mod doctor;
mod documents;
pub mod events;
pub mod evolve;
pub mod explain;
pub mod genes;
pub mod init;
pub mod inputs;
mod listing;
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
    let named = || std::env::var("EVOLVER_REPO_ROOT").ok().filter(|value| !value.trim().is_empty());
    let folder = cli.repo.or_else(|| named().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."));
    match cli.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Init(arguments) => init::run(&arguments, &folder),
        Command::Evolve(arguments) => evolve::run(&arguments, &folder),
        Command::Solidify(arguments) => solidify::run(&arguments, &folder),
        Command::Review(arguments) => solidify::review(&arguments, &folder),
        Command::Distill(arguments) => distill::run(&arguments, &folder),
        Command::Signals(arguments) => signals::run(&arguments, &folder),
        Command::Select(arguments) => select::run(&arguments, &folder),
        Command::Explain(arguments) => explain::run(&arguments, &folder),
        Command::Genes(arguments) => genes::run(&arguments, &folder),
        Command::Capsules(arguments) => capsules::run(&arguments, &folder),
        Command::Events(arguments) => events::run(&arguments, &folder),
        Command::Asset(arguments) => asset::run(&arguments),
        Command::Archive(arguments) => archive::run(&arguments, &folder),
        Command::Doctor(arguments) => doctor::run(&arguments, &folder),
        Command::Completions(arguments) => completions::run(&arguments),
    }
}

/// Opens the repository that a command works in.
pub(crate) fn workspace(folder: &Path) -> Result<Workspace> {
    Workspace::open(folder, Arc::new(SystemClock), Arc::new(|name: &str| std::env::var(name).ok()))
}
