//! `capsid completions`: shell completions.

use crate::output;
use capsid_model::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print the completion script of a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid completions bash > /etc/bash_completion.d/capsid
  capsid completions zsh > ~/.zfunc/_capsid
  capsid completions fish > ~/.config/fish/completions/capsid.fish")]
pub struct CompletionsArgs {
    shell: Shell,
}

/// Runs the command.
pub fn run(arguments: &CompletionsArgs) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::cli::Cli::command(), "capsid", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Ok(0)
}
