//! Decides what an apply does, before anything is touched.

use super::merge::{MergeResult, merge_texts};
use super::operation::{
    Expected, Operation, OperationKind, SourcePath, existing_folder, replaced_name, temporary_name,
};
use crate::tree::names::{self, Name};
use crate::tree::private_tree::beneath::{self, split_leaf};
use crate::tree::private_tree::file_state::{FileState, InspectedFile, inspect_beneath, read_content};
use crate::tree::private_tree::freeze::with_executable;
use crate::tree::private_tree::{BaseContent, ChangeLayer, LayerFile, TreeBase, name_text};
use capsid_model::{Problem, Result};
use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Why a file keeps a change from being applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// Both sides changed the same lines.
    SameLines,
    /// Both sides changed it, and it is no text.
    NotText,
    /// You deleted it, and the change edits it.
    DeletedHere,
    /// The change deletes it, and you edited it.
    DeletedByChange,
    /// Both sides created it.
    BothCreated,
    /// Its content at the start of the run is not known.
    NoBase,
    /// Something that is not part of the change is in its way.
    Blocked,
}

impl ConflictKind {
    fn describe(self) -> &'static str {
        match self {
            Self::SameLines => "You and the change edited the same lines of",
            Self::NotText => "You and the change both edited the binary file",
            Self::DeletedHere => "The change edits a file that you deleted:",
            Self::DeletedByChange => "The change deletes a file that you edited:",
            Self::BothCreated => "You and the change both created",
            Self::NoBase => "You edited a file that is too large to be merged:",
            Self::Blocked => "Something that is not part of the change is in the way of",
        }
    }
}

/// A file on which the change and the tree do not agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyConflict {
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// Why.
    pub kind: ConflictKind,
    /// The same as a sentence.
    pub message: String,
}

/// What an apply would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyPlan {
    /// The steps, in their order.
    pub operations: Vec<Operation>,
    /// Files that are as the change wants them already.
    #[serde(with = "name_text::list")]
    pub already_done: Vec<Name>,
    /// Files that the change does not alter after all.
    #[serde(with = "name_text::list")]
    pub unchanged: Vec<Name>,
    /// Files of the change layer that now have your edits too. The change has to be validated again.
    #[serde(with = "name_text::list")]
    pub merged: Vec<Name>,
    /// Files on which both sides disagree. If there is one, nothing is applied.
    pub conflicts: Vec<ApplyConflict>,
}

impl ApplyPlan {
    /// Whether it can be applied as it is.
    pub fn is_ready(&self) -> bool {
        self.conflicts.is_empty() && self.merged.is_empty()
    }
}

/// Compares base, tree and change for each file. Clean merges go into the change layer; the tree is not touched.
pub fn plan(layer: &mut ChangeLayer, base: &TreeBase) -> Result<ApplyPlan> {
    let root = &base.root;
    let planner = Planner {
        tree: beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?,
        layer,
        base,
        contents: base_contents(layer, base)?,
    };
    let mut plan = ApplyPlan::default();
    let mut merges = Vec::new();
    for file in &planner.layer.files {
        let now = inspect_beneath(&planner.tree, &file.name)
            .map_err(|error| Problem::io("read", &names::place(root, &file.name), &error))?;
        match planner.decide(file, &now)? {
            Decision::Take => plan.operations.push(planner.operation(file, now)),
            Decision::AlreadyDone => plan.already_done.push(file.name.clone()),
            Decision::Unchanged => plan.unchanged.push(file.name.clone()),
            Decision::Merge(bytes, executable) => merges.push((file.name.clone(), bytes, executable)),
            Decision::Conflict(kind) => plan.conflicts.push(conflict(&file.name, kind)),
        }
    }
    planner.find_obstacles(&mut plan)?;
    plan.operations.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    if plan.conflicts.is_empty() {
        for (name, bytes, executable) in merges {
            layer.replace_content(&name, &bytes, executable)?;
            plan.merged.push(name);
        }
    }
    Ok(plan)
}

/// The base's content where the tree is no longer the base, by the identity of its files.
fn base_contents(layer: &ChangeLayer, base: &TreeBase) -> Result<BTreeMap<Name, BaseContent>> {
    let list: Vec<Name> = layer.files.iter().map(|file| file.name.clone()).collect();
    base.contents(&list)
}

fn conflict(name: &[u8], kind: ConflictKind) -> ApplyConflict {
    let message = format!("{} `{}`.", kind.describe(), names::show(name));
    ApplyConflict { name: name.to_vec(), kind, message }
}

enum Decision {
    Take,
    AlreadyDone,
    Unchanged,
    Merge(Vec<u8>, bool),
    Conflict(ConflictKind),
}

struct Planner<'a> {
    tree: OwnedFd,
    layer: &'a ChangeLayer,
    base: &'a TreeBase,
    contents: BTreeMap<Name, BaseContent>,
}

impl Planner<'_> {
    fn decide(&self, file: &LayerFile, now: &InspectedFile) -> Result<Decision> {
        let content = self.contents.get(&file.name).unwrap_or(&BaseContent::Absent);
        let base = match content {
            BaseContent::Absent => Some(FileState::Absent),
            BaseContent::Known { mode, bytes } => Some(FileState::from_bytes(bytes, *mode)),
            BaseContent::Unknown => None,
        };
        // A directory is nothing that a change knows; whether it is in the way is decided later.
        let tree = match (&now.state, now.identity) {
            (FileState::Other, Some(identity)) if identity.is_directory() => &FileState::Absent,
            (state, _) => state,
        };
        if *tree == file.state {
            return Ok(Decision::AlreadyDone);
        }
        if base.as_ref() == Some(&file.state) {
            return Ok(Decision::Unchanged);
        }
        if base.as_ref() == Some(tree) {
            return Ok(Decision::Take);
        }
        match (tree, &file.state, content) {
            (FileState::Absent, ..) => Ok(Decision::Conflict(ConflictKind::DeletedHere)),
            // The agent deleted a directory; this file of yours came after the run had started.
            (_, FileState::Absent, BaseContent::Absent) => Ok(Decision::Unchanged),
            (_, FileState::Absent, _) => Ok(Decision::Conflict(ConflictKind::DeletedByChange)),
            (_, _, BaseContent::Absent) => Ok(Decision::Conflict(ConflictKind::BothCreated)),
            (_, _, BaseContent::Unknown) => Ok(Decision::Conflict(ConflictKind::NoBase)),
            (
                FileState::File { executable, .. },
                FileState::File { .. },
                BaseContent::Known { mode, bytes },
            ) if base.as_ref().is_some_and(|base| matches!(base, FileState::File { .. })) => {
                self.merge(file, *executable, *mode, bytes)
            }
            _ => Ok(Decision::Conflict(ConflictKind::NotText)),
        }
    }

    fn merge(&self, file: &LayerFile, executable: bool, mode: u32, base: &[u8]) -> Result<Decision> {
        let read = |root: &Path| {
            let content = read_content(root, &file.name);
            content.map_err(|error| Problem::io("read", &names::place(root, &file.name), &error))
        };
        let (Some((_, ours)), Some((_, theirs))) = (read(&self.base.root)?, read(&self.layer.folder)?) else {
            return Ok(Decision::Conflict(ConflictKind::SameLines));
        };
        let was_executable = mode & 0o100 != 0;
        let wanted = matches!(file.state, FileState::File { executable: true, .. });
        let executable = if executable == was_executable { wanted } else { executable };
        // Where only one side changed the bytes, nothing has to be merged, whatever they are.
        let merged = match (ours == base, theirs == base) {
            (true, _) => MergeResult::Clean(theirs.clone()),
            (_, true) => MergeResult::Clean(ours),
            _ => merge_texts(&ours, base, &theirs)?,
        };
        Ok(match merged {
            MergeResult::Clean(bytes) if bytes == theirs && executable == wanted => Decision::Take,
            MergeResult::Clean(bytes) => Decision::Merge(bytes, executable),
            MergeResult::Conflict => Decision::Conflict(ConflictKind::SameLines),
            MergeResult::Binary => Decision::Conflict(ConflictKind::NotText),
        })
    }

    fn operation(&self, file: &LayerFile, now: InspectedFile) -> Operation {
        let is_file = matches!(now.state, FileState::File { .. } | FileState::Link { .. });
        let expected = now.identity.filter(|_| is_file);
        let expected = expected.map(|identity| Expected { identity, state: now.state });
        let kind = match (&file.state, &expected) {
            (FileState::Absent, _) => OperationKind::Delete,
            (_, Some(_)) => OperationKind::Change,
            (_, None) => OperationKind::Create,
        };
        let mode = match (&expected, &file.state) {
            (Some(old), FileState::File { executable, .. }) if old.identity.is_file() => {
                with_executable(old.identity.mode & 0o777, *executable)
            }
            _ => file.mode,
        };
        let (folder, leaf) = split_leaf(&file.name);
        let folder = match kind {
            OperationKind::Create => existing_folder(&self.tree, &file.name),
            _ => folder,
        };
        let path = names::place(&self.layer.folder, &file.name);
        let has_bytes = matches!(file.state, FileState::File { .. });
        Operation {
            kind,
            name: file.name.clone(),
            temporary: temporary_name(folder, leaf),
            expected,
            result: file.state.clone(),
            mode,
            source: has_bytes.then(|| SourcePath::from(path.as_path())),
            attributes_from_source: false,
            replaced: replaced_name(),
            prepared: None,
        }
    }

    /// Finds what is in the way of new files: a file above them, or a directory that does not become empty.
    fn find_obstacles(&self, plan: &mut ApplyPlan) -> Result<()> {
        let is_deleted = |name: &[u8]| {
            let gone =
                |operation: &Operation| operation.kind == OperationKind::Delete && operation.name == name;
            plan.operations.iter().any(gone)
        };
        let mut blocked = Vec::new();
        let creations = plan.operations.iter().filter(|step| step.kind == OperationKind::Create);
        for operation in creations {
            let path = names::place(&self.base.root, &operation.name);
            let fail = |error: std::io::Error| Problem::io("read", &path, &error);
            for folder in names::folders(&operation.name) {
                let there = beneath::stat(&self.tree, folder).map_err(fail)?;
                let is_directory = |mode| rustix::fs::FileType::from_raw_mode(mode).is_dir();
                if there.is_some_and(|stat| !is_directory(stat.st_mode)) && !is_deleted(folder) {
                    blocked.push(operation.name.clone());
                }
            }
            if path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
                && !self.becomes_empty(&operation.name, &is_deleted).map_err(fail)?
            {
                blocked.push(operation.name.clone());
            }
        }
        plan.conflicts.extend(blocked.iter().map(|name| conflict(name, ConflictKind::Blocked)));
        Ok(())
    }

    /// Whether the change deletes every file of a directory.
    fn becomes_empty(&self, directory: &[u8], is_deleted: &dyn Fn(&[u8]) -> bool) -> std::io::Result<bool> {
        for entry in std::fs::read_dir(names::place(&self.base.root, directory))? {
            let entry = entry?;
            let name = names::below(directory, &names::of_path(Path::new(&entry.file_name())));
            let empty = match entry.file_type()?.is_dir() {
                true => self.becomes_empty(&name, is_deleted)?,
                false => is_deleted(&name),
            };
            if !empty {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
