//! `capsid recall`: what this repository has proven before about what is seen now, and what its past tells of some words.

mod hook;
mod print;
mod query;
mod trail;

pub(crate) use hook::is_hook_call;

use super::workspace;
use crate::output;
use capsid_engine::recall::BUDGET;
use capsid_model::Result;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Show the proven solutions of this repository that answer what is seen now, or what its past tells of some words.
///
/// Proven is what succeeded under a validation that ran and has not failed since. What came from others counts once it
/// was promoted. Words, in English or Chinese, are looked for by their meaning in the events, the memory graph and the
/// sealed records of what agents did here. Nothing is written and nobody is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid recall                                      for what is in the logs and sessions now
  capsid recall log_error perf_bottleneck            for these signals
  capsid recall cart total wrong for an empty list   what the past tells of these words
  capsid recall 购物车 总价 --where events,trail     the same, in the events and the sealed records alone
  capsid recall --query 'TypeError: x is undefined'  for an error message
  npm test 2>&1 | capsid recall --log -              for what a log or a stack trace says
  capsid recall --hook claude-code                   what Claude Code is told when a session starts

With --hook it never fails and prints at most 3 solutions in at most 2000 characters; `capsid init --agent` sets it up.")]
pub struct RecallArgs {
    /// Recall for these words; those that are signals count as such. Without any, and without a query or a log, the inputs
    /// are read.
    #[arg(value_name = "WORD")]
    words: Vec<String>,

    /// Recall for this text, such as an error message: by its signals, and by its words.
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// Recall for what is in this log; may be given more than once, `-` reads stdin.
    #[arg(long = "log", value_name = "FILE")]
    logs: Vec<PathBuf>,

    /// The most solutions, and the most other answers, to show (default: 3 and 10).
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Look only in these places.
    #[arg(long = "where", alias = "in", value_name = "PLACE", value_enum, value_delimiter = ',')]
    scopes: Vec<RecallScope>,

    /// Answer as the start hook of claude-code, codex, cursor or cline. Another name does nothing.
    #[arg(long, value_name = "TOOL")]
    hook: Option<String>,

    /// The most characters that a hook tells.
    #[arg(long, value_name = "CHARS", default_value_t = BUDGET)]
    budget: usize,
}

/// Where it is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RecallScope {
    /// Solutions that were proven here.
    Proven,
    /// The event log and the narrative.
    Events,
    /// The memory graph.
    Memory,
    /// Sealed records of what agents did here.
    Trail,
}

/// Runs the command.
pub fn run(arguments: &RecallArgs, folder: &Path) -> Result<u8> {
    if let Some(tool) = &arguments.hook {
        hook::answer(tool, arguments, folder);
        return Ok(0);
    }
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let recalled = arguments.recall(&workspace)?;
    if output::is_json() {
        output::document(&recalled.to_json());
        return Ok(0);
    }
    print::print(&recalled);
    Ok(0)
}
