//! One file a command.

pub mod completions;
pub mod cycle;
pub mod demo;
pub mod doctor;
pub mod hub;
pub mod init;
pub mod key;
pub mod man;
pub mod mcp;
pub mod merge_file;
pub mod node;
pub mod recall;
pub mod self_command;
pub mod status;
pub mod store;
pub mod trail;
pub mod up;
mod viewer;

use crate::output;
use capsid_engine::workspace::{Workspace, merge_driver};
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

/// The same for a command that writes. git's configuration is not cloned, so the driver that merges the store is set up in
/// each clone when it is first written to.
pub(crate) fn writable_workspace(folder: &Path) -> Result<Workspace> {
    let workspace = workspace(folder)?;
    set_up_merge_driver(&workspace);
    Ok(workspace)
}

/// Sets the driver up where the store asks for it. Without it git merges line by line, so a problem is only reported.
pub(crate) fn set_up_merge_driver(workspace: &Workspace) {
    let program = match init::is_on_path() {
        true => Ok("capsid".to_owned()),
        false => trail::own_path(),
    };
    match program.and_then(|program| merge_driver::set_up(workspace, &program)) {
        Ok(true) => output::talk(format_args!(
            "{} git merges the store of this clone with `capsid merge-file` (merge.capsid.driver)",
            output::paint(output::DIM, "set up:")
        )),
        Ok(false) => {}
        Err(problem) => output::caution("merge driver", &problem),
    }
}
