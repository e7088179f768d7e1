//! Takes back commits that a failed agent made. They stay in the reflog; only the branch goes back to where it was.

use crate::cycle::run::Run;
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_sandbox::git::Git;

/// What HEAD points at, as its file says.
pub(crate) fn head_file(workspace: &Workspace) -> String {
    let path = workspace.repository.git_dir.join("HEAD");
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Moves the branch back if the agent only added commits to it; gives the newest of them.
///
/// A branch that was switched, rewritten or moved by somebody else meanwhile is left alone.
pub(super) fn commits(workspace: &Workspace, run: &Run, after: &Snapshot) -> Result<Option<String>> {
    let (Some(old), Some(new)) = (&run.head, &after.head) else { return Ok(None) };
    if old == new || run.head_file.is_empty() || run.head_file != head_file(workspace) {
        return Ok(None);
    }
    let git = Git::at(&workspace.repository.root);
    if git.try_run(&["merge-base", "--is-ancestor", old, new], b"")?.status != 0 {
        return Ok(None);
    }
    let message = "capsid: take back a failed cycle";
    let moved = git.try_run(&["update-ref", "-m", message, "HEAD", old, new], b"")?;
    Ok((moved.status == 0).then(|| new.clone()))
}
