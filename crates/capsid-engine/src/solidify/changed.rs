//! What a run changed: the work tree before it, now, and what lies between.

use crate::cycle::run::Run;
use crate::snapshot::patch::{Patch, PatchForm};
use crate::snapshot::{self, Changes, Scope, Shadow, Snapshot};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::{Code, Problem, Result};
use std::path::PathBuf;

/// The owner's policy. The program that ran the agent knows it as it was before, so a change shows in the files only.
pub(super) const POLICY: &str = "capsid.toml";

/// The work tree before the run and now, and what lies between.
pub(crate) struct Changed {
    pub(crate) shadow: Shadow,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    pub(crate) changes: Changes,
}

impl Changed {
    pub(super) fn patch(&self, form: PatchForm) -> Result<Patch> {
        Patch::new(&self.shadow, &self.before, &self.after, form)
    }

    /// The change as text, at most so many bytes of it. What protected files hold is nobody's business.
    pub(crate) fn diff(&self, protected: &[String], max_bytes: usize) -> Result<String> {
        let text = self.patch(PatchForm::Readable)?.text(max_bytes);
        Ok(redact(&without_protected(&text, protected), RedactProfile::Secrets).into_owned())
    }
}

/// A patch in which the parts about protected files only say that there was one.
fn without_protected(patch: &str, protected: &[String]) -> String {
    const START: &str = "diff --git ";
    let mut out = String::with_capacity(patch.len());
    let mut hidden = false;
    for line in patch.split_inclusive('\n') {
        if line.starts_with(START) {
            hidden = protected.iter().any(|path| line.contains(&format!("/{path}")));
            out.push_str(line);
            if hidden {
                out.push_str("[content left out: protected]\n");
            }
        } else if !hidden {
            out.push_str(line);
        }
    }
    out
}

pub(crate) fn changes_of(workspace: &Workspace, run: &Run) -> Result<Changed> {
    let before = Snapshot::read(&run.snapshot).ok_or_else(|| {
        Problem::new(Code::StoreDamaged, format!("The snapshot of `{}` cannot be read.", run.run_id))
            .fix("Begin a new run with `capsid evolve --force`; your files are left as they are.")
    })?;
    let shadow = shadow(workspace, &run.read_logs)?;
    let after = shadow.take(workspace.now(), Some(&before))?;
    let changes = snapshot::changes(&shadow, &before, &after)?;
    Ok(Changed { shadow, before, after, changes })
}

/// The shadow of a workspace: the engine's own folders and the logs that a run read left out, protected files taken
/// even when git ignores them.
pub(crate) fn shadow(workspace: &Workspace, read_logs: &[String]) -> Result<Shadow> {
    let own = workspace.paths.own();
    let logs = read_logs.iter().map(PathBuf::from);
    let scope = Scope {
        excluded: own.into_iter().chain(logs).map(|path| snapshot::names::of_path(&path)).collect(),
        protected: protected(workspace).iter().map(|name| name.as_bytes().to_vec()).collect(),
    };
    Shadow::open(&workspace.repository, scope)
}

/// What no cycle may change: the owner's list, and the policy that holds it.
pub(super) fn protected(workspace: &Workspace) -> Vec<String> {
    let mut names = workspace.config.constraints.protected.clone();
    names.push(POLICY.to_owned());
    names
}

/// Keeps the whole change as a patch that git can apply; gives its hash and place.
pub(crate) fn keep_patch(workspace: &Workspace, changed: &Changed) -> Result<(String, Option<PathBuf>)> {
    if changed.changes.files.is_empty() {
        return Ok((String::new(), None));
    }
    let patch = changed.patch(PatchForm::Appliable)?;
    let hash = patch.hash();
    let path = workspace.paths.patch(&hash);
    files::replace_private(&path, &patch.bytes)?;
    Ok((hash, Some(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_protected_files_is_left_out() {
        let patch = "diff --git a/.env b/.env\n-SECRET=old\n+SECRET=new\ndiff --git a/x b/x\n+fine\n";
        let shown = without_protected(patch, &[".env".to_owned()]);
        assert!(!shown.contains("SECRET") && shown.contains("+fine"), "{shown}");
        assert!(shown.contains("left out"));
    }
}
