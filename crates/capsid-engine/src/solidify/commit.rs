//! Commits exactly the files of a cycle, and nothing the user had under way.

use crate::snapshot::Changes;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use std::ffi::OsString;

/// Refuses when a file of the cycle already differed from the last commit when the run began: a commit would take the
/// user's own edits along.
pub fn check(workspace: &Workspace, changes: &Changes, dirty_before: &[String]) -> Result<()> {
    let mixed: Vec<&str> =
        changes.files.iter().map(|file| file.path.as_str()).filter(|path| dirty_before.iter().any(|d| d == path)).collect();
    if mixed.is_empty() {
        return Ok(());
    }
    let _ = workspace;
    Err(Problem::new(
        Code::CommitRefused,
        format!("`{}` held edits of yours before the cycle, so it was not committed.", mixed.join("`, `")),
    )
    .fix("The change is in the work tree and recorded; commit it by hand with `git commit -p`."))
}

/// Commits the files; gives the new commit's id.
pub fn commit(workspace: &Workspace, changes: &Changes, message: &str) -> Result<String> {
    let git = Git::at(&workspace.repository.root);
    let paths: Vec<OsString> = changes.paths();
    let mut add: Vec<OsString> = ["add", "-A", "--"].map(OsString::from).to_vec();
    add.extend(paths.iter().cloned());
    git.run(&add)?;
    let mut args: Vec<OsString> = ["commit", "--only", "-m", message, "--"].map(OsString::from).to_vec();
    args.extend(paths);
    let output = git.run_with_hooks(&args)?;
    if output.status != 0 {
        return Err(Problem::new(
            Code::CommitRefused,
            format!("`git commit` refused: {}", output.stderr.trim()),
        )
        .fix("The change is in the work tree and recorded; commit it by hand."));
    }
    let head = git.run(&["rev-parse", "HEAD"])?;
    Ok(String::from_utf8_lossy(&head).trim().to_owned())
}
