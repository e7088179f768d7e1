//! What the validation commands themselves did to the work tree. It is no part of the change, so it is taken back.

use super::changed::Changed;
use crate::snapshot::{self, Changes};
use crate::workspace::Workspace;
use capsid_model::Result;

/// Takes back what commands changed while they validated, whatever they ended in; gives what it was.
pub(super) fn take_back(workspace: &Workspace, changed: &Changed) -> Result<Changes> {
    let ended = changed.shadow.take(workspace.now(), Some(&changed.before))?;
    let strayed = snapshot::changes(&changed.shadow, &changed.after, &ended)?;
    if !strayed.files.is_empty() {
        snapshot::rollback(&changed.shadow, &changed.after, &ended)?;
    }
    Ok(strayed)
}

/// A warning that names the first of the files, if there are any.
pub(super) fn warning(strayed: &Changes) -> Option<String> {
    let names: Vec<&str> = strayed.files.iter().take(5).map(|file| file.path.as_str()).collect();
    let count = strayed.files.len();
    (count > 0).then(|| format!("validation changed {count} file(s), taken back: {}", names.join(", ")))
}

/// Protected files among them: a command that reaches for those is an attack, not a test.
pub(super) fn violations(strayed: &Changes, protected: &[String]) -> Vec<String> {
    let is_protected =
        |path: &str| protected.iter().any(|name| path == name || path.starts_with(&format!("{name}/")));
    let files = strayed.files.iter().filter(|file| is_protected(&file.path));
    files.map(|file| format!("critical_path_modified: {} (by validation)", file.path)).collect()
}
