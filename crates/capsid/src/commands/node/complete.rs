//! `capsid node complete`.

use super::place::HubArguments;
use crate::cli::Json;
use capsid_model::{Code, Problem, Result};
use clap::Args;
use std::path::Path;

/// Hand a task's solution in.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid node complete")]
pub struct Arguments {
    #[command(flatten)]
    hub: HubArguments,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    let _node = arguments.hub.node(folder)?;
    Err(Problem::new(Code::Internal, "to come"))
}
