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

use capsid_engine::workspace::Workspace;
use capsid_model::{Code, Problem, Result, SystemClock};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
