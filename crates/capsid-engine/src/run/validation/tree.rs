//! The view in which validation commands run: the tree with a change on top, and a place for what they write.

use crate::config::SandboxPolicy;
use crate::run::{ViewLevel, base, level};
use crate::tree::private_tree::{BaseManifest, ChangeLayer, copy_view};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Problem, Result};
use capsid_sandbox::{ConfinedTree, PrivateTree, WriteLayer, remove_layer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What commands are to see: the user's tree, with a change on top where the change is not in it.
#[derive(Debug, Clone)]
pub struct ValidationTree {
    pub change: Option<ChangeLayer>,
    /// The folder in which views are made; it is outside of the repository.
    pub scratch: PathBuf,
}

/// A view that is open; dropping it removes what was written in it.
pub(super) struct OpenView {
    tree: ConfinedTree,
    folder: tempfile::TempDir,
}

impl ValidationTree {
    /// Opens a fresh view: an overlay where one can be mounted, else a copy of the repository.
    pub(super) fn open(&self, workspace: &Workspace) -> Result<OpenView> {
        files::create_private_folder(&self.scratch)?;
        let folder = tempfile::Builder::new()
            .prefix("view-")
            .tempdir_in(&self.scratch)
            .map_err(|error| Problem::io("make a folder in", &self.scratch, &error))?;
        let confined = workspace.config.validation.sandbox == SandboxPolicy::Require;
        let root = &workspace.repository.root;
        let tree = match confined && level::choose(workspace)?.level == ViewLevel::Overlay {
            true => ConfinedTree::Private(PrivateTree {
                root: root.clone(),
                layers: self.change.iter().map(|change| change.folder.clone()).collect(),
                writes: WriteLayer::Folder(folder.path().to_owned()),
                git_dir: level::outer_git_dir(workspace, &folder.path().join("git")),
            }),
            false => ConfinedTree::Folder(self.copy(workspace, folder.path())?),
        };
        Ok(OpenView { tree, folder })
    }

    /// A copy of the tree as it is now, with the change made in it.
    fn copy(&self, workspace: &Workspace, folder: &Path) -> Result<PathBuf> {
        let root = &workspace.repository.root;
        let copy = folder.join(root.file_name().unwrap_or_else(|| "repository".as_ref()));
        let scope = base::scope(workspace, &[])?;
        let manifest = BaseManifest::record(root, &scope, workspace.repository.head.clone())?;
        copy_view::create_copy_view(root, &copy, &manifest, &scope, workspace.config.cycle.copy_ignored)?;
        if let Some(change) = &self.change {
            copy_view::lay_over(change, &copy)?;
            capsid_sandbox::give_copy_to_sandbox(&copy)?;
        }
        Ok(copy)
    }
}

impl OpenView {
    pub(super) fn confined(&self) -> ConfinedTree {
        self.tree.clone()
    }

    /// What commands see as the repository, the uppermost layer first.
    pub(super) fn roots(&self) -> Vec<&Path> {
        match &self.tree {
            ConfinedTree::Private(tree) => {
                tree.layers.iter().chain([&tree.root]).map(PathBuf::as_path).collect()
            }
            ConfinedTree::Folder(folder) => vec![folder],
        }
    }

    /// The files that commands wrote, counted by their top folder; at most a few folders, the largest first.
    pub(super) fn side_effects(&self) -> Vec<(String, u64)> {
        let ConfinedTree::Private(_) = &self.tree else { return Vec::new() };
        let upper = self.folder.path().join("upper");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for entry in std::fs::read_dir(&upper).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != ".git" {
                *counts.entry(name).or_default() += count_files(&entry.path(), 0);
            }
        }
        let mut list: Vec<(String, u64)> = counts.into_iter().filter(|(_, files)| *files > 0).collect();
        list.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        list.truncate(5);
        list
    }
}

impl Drop for OpenView {
    fn drop(&mut self) {
        // Folders in it may have any mode, so the temporary folder's own removal could fail.
        remove_layer(self.folder.path());
    }
}

/// Deep enough for any build, and bounded.
const MAX_DEPTH: usize = 64;

fn count_files(path: &Path, depth: usize) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    if !meta.is_dir() {
        return 1;
    }
    if depth == MAX_DEPTH {
        return 0;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| count_files(&entry.path(), depth + 1)).sum()
}
