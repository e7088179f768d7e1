//! `capsid mcp`: a server for coding agents.

use capsid_model::{Code, Problem, Result};
use clap::Args;
use std::path::Path;

/// Serve this repository to a coding agent over the Model Context Protocol, on stdio or HTTP.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid mcp                               on stdio, as agents start it")]
pub struct Arguments {}

/// Runs the command.
pub fn run(_arguments: &Arguments, _folder: &Path) -> Result<u8> {
    Err(Problem::new(Code::Internal, "to come"))
}
