//! `capsid init`: set up this repository.

use super::workspace;
use crate::cli::Json;
use crate::output::{self, DIM, GOOD, HEAD, WARN, paint};
use capsid_engine::init::{self, InitReport};
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Result, json};
use clap::Args;
use std::path::{Path, PathBuf};

/// Set up this repository: the asset store, the built-in genes and capsid.toml. Overwrites nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid init                              set up the repository around the current folder
  capsid -C ~/project init                 set up another one
  capsid init --print-config               read about every setting first")]
pub struct Arguments {
    /// Print the commented capsid.toml with every default, and do nothing else.
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    if arguments.print_config {
        output::print(&capsid_engine::config::template(&[], &[]));
        return Ok(0);
    }
    let workspace = workspace(folder)?;
    let report = set_up(&workspace)?;
    let show =
        |path: &PathBuf| path.strip_prefix(&workspace.repository.root).unwrap_or(path).display().to_string();
    if arguments.json.json {
        output::document(&json!({
            "ok": true,
            "created": report.created.iter().map(show).collect::<Vec<_>>(),
            "kept": report.kept.iter().map(show).collect::<Vec<_>>(),
            "genes": report.genes,
            "validation": report.validation,
            "hints": report.hints,
        }));
        return Ok(0);
    }
    for path in &report.created {
        output::line(format_args!("{}  {}", paint(GOOD, "created"), show(path)));
    }
    for path in &report.kept {
        output::line(format_args!("{}     {}", paint(DIM, "kept"), show(path)));
    }
    match report.validation.as_slice() {
        [] => output::line(format_args!(
            "{} no test command was found; name one under [validation] commands in capsid.toml.",
            paint(WARN, "note:")
        )),
        commands => output::line(format_args!("A change must pass: {}", inert_line(&commands.join(", ")))),
    }
    for hint in &report.hints {
        output::line(format_args!("{} {hint}", paint(WARN, "note:")));
    }
    output::talk(format_args!("\nNext: {}", paint(HEAD, "capsid evolve --log FILE")));
    Ok(0)
}

/// Sets a repository up.
pub(crate) fn set_up(workspace: &Workspace) -> Result<InitReport> {
    let paths = &workspace.paths;
    init::init(
        &workspace.repository.root,
        &workspace.store,
        &paths.config(),
        &paths.evolution,
        &*workspace.env,
    )
}
