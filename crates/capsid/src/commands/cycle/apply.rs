//! `capsid apply`: a proven change that waits gets into the tree or onto a branch.

use crate::commands::writable_workspace;
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_engine::solidify::apply_change;
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Result, json};
use clap::Args;
use std::path::Path;

/// Apply a proven change that could not be applied when its run ended.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid apply run_1789000000000                      into your tree, merged with your edits where that is clean
  capsid apply run_1789000000000 --branch fix-upload  onto a new branch; your tree and index are not touched")]
pub struct ApplyArgs {
    /// The run, as `capsid evolve` prints it.
    run: String,

    /// Put the change on a new branch that starts at the commit of the run.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

/// Runs `capsid apply`.
pub fn run(arguments: &ApplyArgs, folder: &Path) -> Result<u8> {
    let workspace = writable_workspace(folder)?;
    let Some(branch) = &arguments.branch else {
        return apply(&workspace, &arguments.run, false);
    };
    let commit = apply_change::apply_to_branch(&workspace, &arguments.run, branch)?;
    match output::is_json() {
        true => output::document(
            &json!({"ok": true, "run_id": arguments.run, "branch": branch, "commit": commit}),
        ),
        false => output::line(format_args!(
            "{}  {} is {commit}",
            paint(GOOD, "created"),
            paint(NAME, inert_line(branch))
        )),
    }
    Ok(0)
}

/// Applies a change into the tree and prints what it did.
pub(super) fn apply(workspace: &Workspace, run_id: &str, approved: bool) -> Result<u8> {
    let applied = apply_change::apply_run(workspace, run_id, approved)?.unwrap_or_default();
    if output::is_json() {
        output::document(
            &json!({"ok": applied.left.is_empty(), "run_id": run_id, "applied": applied.applied_paths(), "left": applied.left_messages()}),
        );
    } else {
        output::line(format_args!(
            "{}  {} file(s) of {}",
            paint(GOOD, "applied"),
            applied.applied.len(),
            inert_line(run_id)
        ));
        for path in &applied.left_messages() {
            output::line(format_args!("{}     {}", paint(WARN, "left"), inert_line(path)));
        }
    }
    Ok(u8::from(!applied.left.is_empty()))
}
