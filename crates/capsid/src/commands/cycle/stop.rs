//! `capsid cycle stop`: stops the agent of a run.

use crate::commands::workspace;
use crate::output::{self, GOOD, paint};
use capsid_engine::run::folder::RunFolder;
use capsid_model::{Code, Problem, Result};
use clap::{Args, Subcommand};
use std::path::Path;

/// Look after cycles that run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid cycle stop run_1789000000000      stop the agent of a run; what it changed waits")]
pub struct CycleArgs {
    #[command(subcommand)]
    action: CycleCommand,
}

#[derive(Debug, Subcommand)]
enum CycleCommand {
    /// Stop the agent of a run. What it changed so far waits and is not applied.
    #[command(after_help = "\
Examples:
  capsid cycle stop run_1789000000000")]
    Stop {
        /// The run.
        run: String,
    },
}

/// Runs `capsid cycle`.
pub fn run(arguments: &CycleArgs, folder: &Path) -> Result<u8> {
    let CycleCommand::Stop { run } = &arguments.action;
    let found = RunFolder::of_run(&workspace(folder)?, run)?;
    let Some(process) = found.worker()? else {
        return Err(Problem::new(Code::NothingPending, format!("No agent is working on `{run}`."))
            .fix("`capsid review` shows a run that waits."));
    };
    // The process holds the lock of the run, so its number is still its own.
    capsid_sandbox::stop_process(process)?;
    output::talk(format_args!("{} process {process} was asked to stop its agent", paint(GOOD, "stopping:")));
    Ok(0)
}
