//! `capsid undo`: takes the change of a run out of the tree again.

use crate::commands::workspace;
use crate::output::{self, GOOD, WARN, paint};
use capsid_engine::solidify::apply_change;
use capsid_model::text::inert_line;
use capsid_model::{Result, json};
use clap::Args;
use std::path::Path;

/// Undo the change that a run applied to your tree.
///
/// Files that you changed since stay as they are.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid undo run_1789000000000")]
pub struct UndoArgs {
    /// The run; the newest 20 can be undone.
    run: String,
}

/// Runs `capsid undo`.
pub fn run(arguments: &UndoArgs, folder: &Path) -> Result<u8> {
    let undone = apply_change::undo_run(&workspace(folder)?, &arguments.run)?;
    if output::is_json() {
        output::document(
            &json!({"ok": undone.left.is_empty(), "run_id": arguments.run, "restored": undone.applied_paths(), "left": undone.left_messages()}),
        );
    } else {
        for path in &undone.applied_paths() {
            output::line(format_args!("{}  {}", paint(GOOD, "restored"), inert_line(path)));
        }
        for left in &undone.left_messages() {
            output::line(format_args!("{}      {}", paint(WARN, "left"), inert_line(left)));
        }
    }
    Ok(u8::from(!undone.left.is_empty()))
}
