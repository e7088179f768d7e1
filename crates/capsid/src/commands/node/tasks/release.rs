//! `capsid node release`.

use super::claim::task_of;
use crate::commands::node::connection::HubConnectionArgs;
use crate::commands::node::print;
use crate::output;
use capsid_model::Result;
use clap::Args;
use std::path::Path;

/// Release a task, so that others may claim it.
///
/// Parts of a swarm cannot be released once they were claimed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node release task_1a2b      release it
  capsid node tasks --mine           what this node still works on")]
pub struct NodeReleaseArgs {
    /// The task.
    #[arg(value_name = "TASK")]
    task: String,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeReleaseArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let answer = node.task_release(&arguments.task)?;
    if output::is_json() {
        output::document(&answer);
    } else {
        print::done(format_args!("Released: {}", task_of(&answer)));
    }
    Ok(0)
}
