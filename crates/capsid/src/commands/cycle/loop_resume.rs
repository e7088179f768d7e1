//! `capsid loop`: looks after the loop of `capsid evolve --loop`.

use crate::commands::workspace;
use crate::output::{self, GOOD, NAME, paint};
use capsid_engine::evolve_loop::record::resume_problem;
use capsid_model::text::inert_line;
use capsid_model::{Result, json};
use clap::{Args, Subcommand};
use std::path::Path;

/// Look after the loop of `capsid evolve --loop`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid status                            what the loop does, and which problems are suspended
  capsid loop resume 3fa1c0de9b7d2e44      let the loop try a suspended problem again")]
pub struct LoopArgs {
    #[command(subcommand)]
    action: LoopCommand,
}

#[derive(Debug, Subcommand)]
enum LoopCommand {
    /// Let the loop try a problem again that it suspended after repeated failures.
    #[command(after_help = "\
Examples:
  capsid loop resume 3fa1c0de9b7d2e44
  capsid loop resume 3fa1                  the beginning of an id is enough")]
    Resume {
        /// The id of the problem, as `capsid status` shows it.
        id: String,
    },
}

/// Runs `capsid loop`.
pub fn run(arguments: &LoopArgs, folder: &Path) -> Result<u8> {
    let LoopCommand::Resume { id } = &arguments.action;
    let (id, text) = resume_problem(&workspace(folder)?, id)?;
    if output::is_json() {
        output::document(&json!({"ok": true, "id": id, "problem": text}));
        return Ok(0);
    }
    let (id, text) = (paint(NAME, inert_line(&id)), inert_line(&text));
    output::talk(format_args!("{} {id} {text}; the loop may try it again", paint(GOOD, "resumed:")));
    Ok(0)
}
