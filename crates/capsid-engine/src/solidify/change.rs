//! What a run changed: in its frozen layer, or in the tree that somebody edited.

use crate::run::folder::{RunFolder, RunStatus};
use crate::run::validation::ValidationTree;
use crate::run::{Run, ViewLevel, base};
use crate::tree::names::Name;
use crate::tree::private_tree::{
    ChangeDiff, ChangeLayer, ChangePair, TreeBase, TreeDrift, UpperListing, list_in_place,
};
use crate::tree::{Changes, Patch, PatchForm};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::{Code, Problem, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The change of a run, compared with the tree as it was when the run began.
pub struct CycleChange {
    pub folder: RunFolder,
    pub base: TreeBase,
    pub listing: UpperListing,
    /// The frozen files; none where the change was made in the tree itself.
    pub layer: Option<ChangeLayer>,
    /// The change with lines counted and renames found.
    pub changes: Changes,
    /// Protected files that it touches although git ignores them.
    pub protected: Vec<String>,
    /// Each file before and after.
    pub pairs: Vec<ChangePair>,
    diff: ChangeDiff,
}

impl CycleChange {
    /// Loads the change of a run that waits.
    pub fn load(workspace: &Workspace, run: &Run, folder: &RunFolder) -> Result<Self> {
        let root = &workspace.repository.root;
        let base = base::load(workspace, folder)?;
        let (listing, layer, protected) = match run.level {
            ViewLevel::InPlace => (list_in_place(&base)?, None, base::protected_changes(workspace, folder)?),
            ViewLevel::Overlay | ViewLevel::Copy => {
                let frozen = read_frozen(folder)?;
                let layer = ChangeLayer::read(folder.change())?;
                (frozen.listing, Some(layer), frozen.protected)
            }
        };
        let names: Vec<Name> = listing.changed.iter().map(|path| path.name.clone()).collect();
        let pairs = match &layer {
            Some(layer) => ChangePair::from_layer(layer, &base)?,
            None => ChangePair::from_view(root, &names, &base)?,
        };
        let diff = ChangeDiff::create(&folder.diff_git(), &pairs)?;
        let changes = diff.changes()?;
        let counted = |path: &String| changes.files.iter().any(|file| file.path == *path);
        let protected = protected.into_iter().filter(|path| !counted(path)).collect();
        Ok(Self { folder: folder.clone(), base, listing, layer, changes, protected, pairs, diff })
    }

    /// The names of the changed files.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.listing.changed.iter().map(|path| &path.name)
    }

    pub fn patch(&self, form: PatchForm) -> Result<Patch> {
        self.diff.patch(form)
    }

    /// What differs in the tree from when the run began; nothing to compare where the change is in the tree itself, or
    /// empty.
    pub fn drift(&self, workspace: &Workspace) -> Result<TreeDrift> {
        if self.layer.is_none() || self.changes.files.is_empty() {
            return Ok(TreeDrift::default());
        }
        self.base.manifest.compare(&workspace.repository.root)
    }

    /// The changed files before and after, as trees, by the ids that git gives them.
    pub fn trees(&self) -> Result<(String, String)> {
        self.diff.trees()
    }

    /// The change as text, at most so many bytes of it. The content of protected files is left out.
    pub fn diff(&self, protected: &[String], max_bytes: usize) -> Result<String> {
        let text = self.patch(PatchForm::Readable)?.text(max_bytes);
        Ok(redact(&without_protected(&text, protected), RedactProfile::Secrets).into_owned())
    }

    /// What validation commands are to see: the tree with this change, whether it is in the tree already or not.
    pub fn validation_tree(&self) -> ValidationTree {
        ValidationTree { change: self.layer.clone(), scratch: self.folder.validation() }
    }

    /// Stores the whole change as a patch that git can apply; gives its hash and path.
    pub fn save_patch(&self, workspace: &Workspace) -> Result<(String, Option<PathBuf>)> {
        if self.changes.files.is_empty() {
            return Ok((String::new(), None));
        }
        let patch = self.patch(PatchForm::Appliable)?;
        let hash = patch.hash();
        let path = workspace.paths.patch(&hash);
        files::replace_private(&path, &patch.bytes)?;
        Ok((hash, Some(path)))
    }
}

/// What was found when the agent had ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FrozenChange {
    pub listing: UpperListing,
    /// Protected files that the agent touched.
    pub protected: Vec<String>,
}

impl FrozenChange {
    /// Stores it; from then on the run can be finished.
    pub(crate) fn write(&self, folder: &RunFolder, run: &Run) -> Result<()> {
        let text = serde_json::to_string(self).unwrap_or_default();
        files::replace_private(&folder.listing(), text.as_bytes())?;
        folder.write(RunStatus::Changed, run)
    }
}

fn read_frozen(folder: &RunFolder) -> Result<FrozenChange> {
    let path = folder.listing();
    let text = files::read_optional(&path)?.ok_or_else(|| interrupted(folder))?;
    serde_json::from_str(&text).map_err(|error| {
        Problem::new(Code::StoreDamaged, format!("`{}` cannot be read: {error}.", path.display()))
            .fix("Begin a new run with `capsid evolve --force`; your files are left as they are.")
    })
}

/// The problem of a run whose agent never ended.
pub(crate) fn interrupted(folder: &RunFolder) -> Problem {
    let name = folder.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Problem::new(
        Code::NothingPending,
        format!("The agent of `{name}` was interrupted, and nothing of its work was applied."),
    )
    .fix("Begin a new cycle with `capsid evolve`.")
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

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
