//! The private view in which an agent works, and what it changed there.

use crate::run::base::ProtectedStates;
use crate::run::folder::RunFolder;
use crate::run::{Run, ViewLevel, base, level};
use crate::solidify::change::FrozenChange;
use crate::tree::private_tree::{
    BaseManifest, CopyView, FreezeMethod, create_copy_view, freeze, list_copy, list_upper,
};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::Result;
use capsid_sandbox::{ConfinedTree, PrivateTree, SandboxIds, WriteLayer};
use std::path::PathBuf;

/// What the agent sees as the repository.
pub(super) struct AgentView {
    pub(super) tree: ConfinedTree,
    /// Where it starts.
    pub(super) cwd: PathBuf,
    /// Where its writes are.
    pub(super) upper: PathBuf,
    /// The copy that it works in, where it does.
    pub(super) copy: Option<CopyView>,
    /// The protected files of the copy before it began. Ignored ones are links or not there.
    protected: ProtectedStates,
}

impl AgentView {
    pub(super) fn open(workspace: &Workspace, run: &Run, folder: &RunFolder) -> Result<Self> {
        let root = &workspace.repository.root;
        files::create_private_folder(&folder.layers())?;
        let layer = folder.tree_layer();
        if run.level == ViewLevel::Copy {
            let path = layer.join(root.file_name().unwrap_or_else(|| "repository".as_ref()));
            files::create_private_folder(&layer)?;
            let manifest = BaseManifest::read(&folder.manifest())?;
            let scope = base::scope(workspace, &run.read_logs)?;
            let copy = create_copy_view(root, &path, &manifest, &scope, workspace.config.cycle.copy_ignored)?;
            let tree = ConfinedTree::Folder(path.clone());
            let protected = base::protected_states(workspace, &path)?;
            return Ok(Self { tree, cwd: path.clone(), upper: path, copy: Some(copy), protected });
        }
        files::create_private_folder(&layer)?;
        let tree = PrivateTree {
            root: root.clone(),
            layers: Vec::new(),
            writes: WriteLayer::Folder(layer.clone()),
            git_dir: level::outer_git_dir(workspace, &folder.layers().join("git")),
        };
        Ok(Self {
            tree: ConfinedTree::Private(tree),
            cwd: root.clone(),
            upper: layer.join("upper"),
            copy: None,
            protected: ProtectedStates::default(),
        })
    }
}

/// Freezes what the agent changed: from here on nothing can alter what is validated.
pub(super) fn freeze_change(
    workspace: &Workspace,
    run: &Run,
    folder: &RunFolder,
    view: &AgentView,
    ids: SandboxIds,
) -> Result<()> {
    let root = &workspace.repository.root;
    // An agent that could not be started has no layer.
    files::create_private_folder(&view.upper)?;
    let (listing, protected, method) = match &view.copy {
        Some(copy) => {
            let protected = base::protected_changes_since(workspace, &view.protected, &view.upper)?;
            (list_copy(copy, root)?, protected, FreezeMethod::Copy)
        }
        None => {
            let manifest = BaseManifest::read(&folder.manifest())?;
            let listing = list_upper(&view.upper, root, &manifest.rules, ids.opaque_attribute())?;
            // A protected file that is in the layer was written, if only with the same bytes.
            let mut protected = base::protected(workspace);
            protected
                .retain(|path| view.upper.join(path).symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
            (listing, protected, FreezeMethod::Link)
        }
    };
    freeze(&listing, &view.upper, root, &folder.change(), method)?;
    // Files of a copy belong to whom the agent ran as; the change belongs to whoever runs the cycle.
    capsid_sandbox::take_from_sandbox(&folder.change());
    FrozenChange { listing, protected }.write(folder, run)
}
