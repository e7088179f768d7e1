//! One file a command.

pub mod asset;

use crate::cli::{Cli, Command};
use capsid_model::Result;

/// Runs a command and gives the exit status.
pub fn run(cli: Cli) -> Result<u8> {
    match cli.command {
        Command::Asset(arguments) => asset::run(&arguments),
    }
}
