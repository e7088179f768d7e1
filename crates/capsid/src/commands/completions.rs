//! `capsid completions`: shell completions.

use crate::output;
use capsid_model::Result;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print the completion script of a shell.
///
/// `COMPLETE=bash capsid` prints a short script instead that asks the program itself, so it also completes ids and does not
/// have to be made again after an update. It does so for bash, zsh, fish, elvish and powershell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'source <(COMPLETE=bash capsid)' >> ~/.bashrc       completes ids too, and stays up to date
  capsid completions bash > /etc/bash_completion.d/capsid
  capsid completions zsh > ~/.zfunc/_capsid
  capsid completions fish > ~/.config/fish/completions/capsid.fish")]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Runs the command.
pub fn run(arguments: &CompletionsArgs, program: &mut Command) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, program, "capsid", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    Ok(0)
}
