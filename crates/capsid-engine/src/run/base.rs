//! The state of the tree when a run begins: what the change is compared with, and what a merge starts from.

use super::Run;
use super::folder::RunFolder;
use crate::tree::names;
use crate::tree::private_tree::{
    BaseCopies, BaseManifest, BaseScope, FileState, TreeBase, beneath, file_state,
};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Problem, Result};
use capsid_sandbox::git::Git;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The owner's policy. No run may change it.
pub const POLICY: &str = "capsid.toml";

/// What no cycle may change: the owner's list, and the policy that holds it.
pub fn protected(workspace: &Workspace) -> Vec<String> {
    let mut names = workspace.config.constraints.protected.clone();
    names.push(POLICY.to_owned());
    names
}

/// What belongs to a change and what does not.
pub fn scope(workspace: &Workspace, read_logs: &[String]) -> Result<BaseScope> {
    let repository = &workspace.repository;
    Ok(BaseScope {
        own: workspace.paths.own().into_iter().map(|path| names::of_path(&path)).collect(),
        read_logs: read_logs.iter().map(|log| log.as_bytes().to_vec()).collect(),
        git_dir: repository.git_dir.clone(),
        common_dir: repository.common_dir.clone(),
        excludes_file: excludes_file(workspace)?,
    })
}

/// The user's own ignore rules: where `core.excludesFile` says, else in git's folder of settings.
fn excludes_file(workspace: &Workspace) -> Result<Option<PathBuf>> {
    let git = Git::at(&workspace.repository.root);
    let set = git.try_run(&["config", "--type=path", "--get", "core.excludesFile"], b"")?;
    if set.status == 0 {
        return Ok(Some(names::to_path(set.stdout.trim_ascii_end()).to_owned()));
    }
    let settings = workspace.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let settings = settings.or_else(|| workspace.home.as_ref().map(|home| home.join(".config")));
    Ok(settings.map(|settings| settings.join("git/ignore")))
}

/// Records the tree as it is, and copies what no commit holds.
pub fn capture(workspace: &Workspace, run: &mut Run, folder: &RunFolder) -> Result<()> {
    let root = &workspace.repository.root;
    let scope = scope(workspace, &run.read_logs)?;
    let mut manifest = BaseManifest::record(root, &scope, workspace.repository.head.clone())?;
    BaseCopies::create(folder.base_copies(), root, &mut manifest)?;
    run.manifest_sha256 = manifest.write(&folder.manifest())?;
    let protected = protected_states(workspace, root)?;
    let text = serde_json::to_string(&protected).unwrap_or_default();
    files::replace_private(&folder.path.join("protected.json"), text.as_bytes())
}

/// The base of a run, as it was captured.
pub fn load(workspace: &Workspace, folder: &RunFolder) -> Result<TreeBase> {
    Ok(TreeBase {
        root: workspace.repository.root.clone(),
        manifest: BaseManifest::read(&folder.manifest())?,
        copies: BaseCopies::open(folder.base_copies()),
    })
}

/// Protected files and what they are in a tree. They count although git may ignore them.
pub type ProtectedStates = BTreeMap<String, FileState>;

/// The protected files as they are in a tree.
pub fn protected_states(workspace: &Workspace, root: &Path) -> Result<ProtectedStates> {
    let tree = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
    let inspect = |path: String| {
        let found = file_state::inspect_beneath(&tree, path.as_bytes())
            .map_err(|error| Problem::io("read", &root.join(&path), &error))?;
        Ok((path, found.state))
    };
    protected(workspace).into_iter().map(inspect).collect()
}

/// Protected files of the tree that are not as they were when the run began.
pub fn protected_changes(workspace: &Workspace, folder: &RunFolder) -> Result<Vec<String>> {
    let text = files::read_optional(&folder.path.join("protected.json"))?.unwrap_or_default();
    let before: ProtectedStates = serde_json::from_str(&text).unwrap_or_default();
    protected_changes_since(workspace, &before, &workspace.repository.root)
}

/// Protected files that are not as they were before in this tree or copy.
pub fn protected_changes_since(
    workspace: &Workspace,
    before: &ProtectedStates,
    root: &Path,
) -> Result<Vec<String>> {
    let mut now = protected_states(workspace, root)?;
    now.retain(|path, state| before.get(path) != Some(state));
    Ok(now.into_keys().collect())
}
