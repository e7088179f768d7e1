//! One file a command.

pub mod completions;
pub mod cycle;
pub mod demo;
pub mod doctor;
pub mod hub;
pub mod init;
pub mod key;
pub mod mcp;
pub mod node;
pub mod recall;
pub mod store;
pub mod trail;
pub mod up;
mod viewer;

use crate::cli::{Cli, Command};
use capsid_engine::workspace::Workspace;
use capsid_model::{Code, Problem, Result, SystemClock};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs a command and gives the exit status.
pub fn run(cli: Cli) -> Result<u8> {
    let named = || std::env::var("EVOLVER_REPO_ROOT").ok().filter(|value| !value.trim().is_empty());
    let folder = cli.repo.or_else(|| named().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."));
    match cli.command {
        Command::Up(arguments) => up::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Init(arguments) => init::run(&arguments, &folder),
        Command::Evolve(arguments) => crate::commands::cycle::evolve::run(&arguments, &folder),
        Command::Solidify(arguments) => crate::commands::cycle::solidify::run(&arguments, &folder),
        Command::Review(arguments) => crate::commands::cycle::solidify::review(&arguments, &folder),
        Command::Distill(arguments) => crate::commands::cycle::distill::run(&arguments, &folder),
        Command::Signals(arguments) => crate::commands::cycle::signals::run(&arguments, &folder),
        Command::Select(arguments) => crate::commands::cycle::select::run(&arguments, &folder),
        Command::Explain(arguments) => crate::commands::cycle::explain::run(&arguments, &folder),
        Command::Recall(arguments) => recall::run(&arguments, &folder),
        Command::Genes(arguments) => crate::commands::store::genes::run(&arguments, &folder),
        Command::Capsules(arguments) => crate::commands::store::capsules::run(&arguments, &folder),
        Command::Events(arguments) => crate::commands::store::events::run(&arguments, &folder),
        Command::Asset(arguments) => crate::commands::store::asset::run(&arguments),
        Command::Archive(arguments) => crate::commands::store::archive::run(&arguments, &folder),
        Command::Trail(arguments) => trail::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::Node(arguments) => node::run(&arguments, &folder),
        Command::Hub(arguments) => hub::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments, &folder),
        Command::Doctor(arguments) => doctor::run(&arguments, &folder),
        Command::Completions(arguments) => completions::run(&arguments),
    }
}

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The user's home, where the tools keep their sessions and settings.
pub(crate) fn home_folder() -> Result<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HOME")
        .or_else(|| set("USERPROFILE"))
        .ok_or_else(|| Problem::new(Code::ConfigInvalid, "This user has no home folder.").fix("Set HOME."))
}

/// Opens the repository that a command works in.
pub(crate) fn workspace(folder: &Path) -> Result<Workspace> {
    Workspace::open(folder, Arc::new(SystemClock), Arc::new(variable))
}
