//! Where the change of a run is made: the best level that works for this repository, found out by trying.

use super::ViewLevel;
use crate::config::ViewPolicy;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::{GitDirLayer, SandboxIds, ViewUnavailable, probe_private_tree, remove_layer};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The level that works, and why it is not a better one.
#[derive(Debug, Clone)]
pub struct ChosenLevel {
    pub level: ViewLevel,
    /// Under which ids programs run in an overlay.
    pub ids: Option<SandboxIds>,
    /// Why there is no overlay.
    pub reason: Option<String>,
}

type Probed = std::result::Result<SandboxIds, ViewUnavailable>;

/// What was found out, by repository: an answer holds as long as the program runs.
static PROBED: Mutex<Option<HashMap<PathBuf, Probed>>> = Mutex::new(None);

/// Chooses the level for this repository as its owner wishes.
pub fn choose(workspace: &Workspace) -> Result<ChosenLevel> {
    let policy = workspace.config.cycle.view;
    if policy == ViewPolicy::Copy {
        let reason = Some("`[cycle] view` is \"copy\"".to_owned());
        return Ok(ChosenLevel { level: ViewLevel::Copy, ids: None, reason });
    }
    match probe(workspace)? {
        Ok(ids) => Ok(ChosenLevel { level: ViewLevel::Overlay, ids: Some(ids), reason: None }),
        Err(unavailable) if policy == ViewPolicy::Overlay => Err(Problem::new(
            Code::ViewUnavailable,
            format!("Cannot create a private view of this repository: {unavailable}."),
        )
        .fix("Set `[cycle] view = \"copy\"`, or remove the cause.")),
        Err(unavailable) => {
            Ok(ChosenLevel { level: ViewLevel::Copy, ids: None, reason: Some(unavailable.to_string()) })
        }
    }
}

fn probe(workspace: &Workspace) -> Result<Probed> {
    let root = &workspace.repository.root;
    let mut probed = PROBED.lock().unwrap_or_else(PoisonError::into_inner);
    let probed = probed.get_or_insert_default();
    if let Some(known) = probed.get(root) {
        return Ok(known.clone());
    }
    let scratch = workspace.create_state_dir()?.join("probe");
    files::create_private_folder(&scratch)?;
    let found = probe_private_tree(root, &scratch);
    remove_layer(&scratch);
    probed.insert(root.clone(), found.clone());
    Ok(found)
}

/// The layer for a git directory outside of the root, as a worktree or a submodule has one: without it a commit inside
/// a view would fail.
pub fn outer_git_dir(workspace: &Workspace, writes: &Path) -> Option<GitDirLayer> {
    let (root, common) = (&workspace.repository.root, &workspace.repository.common_dir);
    (!common.starts_with(root)).then(|| GitDirLayer { path: common.clone(), writes: writes.to_owned() })
}
