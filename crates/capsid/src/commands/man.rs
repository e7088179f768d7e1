//! `capsid man`: manual pages.

use crate::output::{self, NAME, paint};
use capsid_disk::files;
use capsid_model::text::inert_line;
use capsid_model::{Problem, Result, json};
use clap::{Args, Command};
use std::path::PathBuf;

/// Write a manual page for each command into a folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid man ~/.local/share/man/man1       then: man capsid-evolve")]
pub struct ManArgs {
    /// The folder; it is created if need be. Pages of the same names are replaced.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &ManArgs, program: Command) -> Result<u8> {
    let folder = &arguments.folder;
    files::create_folder(folder)?;
    let count = count_pages(&program);
    clap_mangen::generate_to(program, folder).map_err(|error| Problem::io("write", folder, &error))?;
    match output::is_json() {
        true => output::document(&json!({"ok": true, "folder": folder, "pages": count})),
        false => output::line(format_args!(
            "{count} pages are in {}",
            paint(NAME, inert_line(&folder.display().to_string()))
        )),
    }
    Ok(0)
}

/// A command and those below it, without the hidden ones.
fn count_pages(command: &Command) -> usize {
    1 + command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(count_pages).sum::<usize>()
}
