//! One file a command.

pub mod archive;
pub mod asset;
pub mod capsules;
pub mod completions;
pub mod demo;
mod desk;
pub mod distill;
pub mod doctor;
mod documents;
pub mod events;
mod events_proof;
mod events_web;
pub mod evolve;
pub mod explain;
pub mod genes;
pub mod hub;
pub mod init;
pub mod inputs;
pub mod key;
mod listing;
pub mod mcp;
pub mod node;
pub mod recall;
mod reuse;
pub mod select;
pub mod signals;
pub mod solidify;
pub mod trail;
pub mod up;

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
        Command::Evolve(arguments) => evolve::run(&arguments, &folder),
        Command::Solidify(arguments) => solidify::run(&arguments, &folder),
        Command::Review(arguments) => solidify::review(&arguments, &folder),
        Command::Distill(arguments) => distill::run(&arguments, &folder),
        Command::Signals(arguments) => signals::run(&arguments, &folder),
        Command::Select(arguments) => select::run(&arguments, &folder),
        Command::Explain(arguments) => explain::run(&arguments, &folder),
        Command::Recall(arguments) => recall::run(&arguments, &folder),
        Command::Genes(arguments) => genes::run(&arguments, &folder),
        Command::Capsules(arguments) => capsules::run(&arguments, &folder),
        Command::Events(arguments) => events::run(&arguments, &folder),
        Command::Asset(arguments) => asset::run(&arguments),
        Command::Archive(arguments) => archive::run(&arguments, &folder),
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
