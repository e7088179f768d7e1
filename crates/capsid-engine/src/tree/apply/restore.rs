//! Level `in_place`: restores files that you name to what they were when the run started.

use super::journal::{JournalKind, execute, finish_kind, recover};
use super::operation::{
    Expected, Operation, OperationKind, SourcePath, existing_folder, replaced_name, temporary_name,
};
use super::outcome::{ApplyOutcome, LeftFile};
use crate::tree::names::{self, Name};
use crate::tree::private_tree::beneath::{self, split_leaf};
use crate::tree::private_tree::file_state::{FileState, InspectedFile, inspect_beneath};
use crate::tree::private_tree::{BaseContent, FileIdentity, TreeBase, name_text};
use capsid_disk::files as disk;
use capsid_model::{Problem, Result};
use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A file as a run left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterFile {
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// What the system said about it; none if the run deleted it.
    pub identity: Option<FileIdentity>,
}

/// What a rollback of chosen files did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreOutcome {
    /// Files that are as they were when the run started.
    #[serde(with = "name_text::list")]
    pub restored: Vec<Name>,
    /// Files that stay as they are, each with the reason.
    pub left: Vec<LeftFile>,
}

impl RestoreOutcome {
    /// The restored paths, fit to be shown.
    pub fn restored_paths(&self) -> Vec<String> {
        self.restored.iter().map(|name| names::show(name)).collect()
    }

    /// A sentence for each file that stays as it is.
    pub fn left_messages(&self) -> Vec<String> {
        self.left.iter().map(|file| file.message.clone()).collect()
    }
}

/// Records how a run left files of the tree.
pub fn list_after(root: &Path, changed: &[Name]) -> Result<Vec<AfterFile>> {
    let tree = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
    let identity = |name: &Name| {
        let stat = beneath::stat(&tree, name)
            .map_err(|error| Problem::io("read", &names::place(root, name), &error))?;
        let identity = stat.as_ref().map(FileIdentity::from_stat);
        Ok(AfterFile { name: name.clone(), identity: identity.filter(|file| !file.is_directory()) })
    };
    changed.iter().map(identity).collect()
}

/// Restores files. `chosen` names them; none means all that the run changed.
pub fn restore(
    run: &Path,
    base: &TreeBase,
    after: &[AfterFile],
    chosen: Option<&[Name]>,
) -> Result<RestoreOutcome> {
    let root = &base.root;
    recover(run, root)?;
    let tree = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
    let is_chosen = |name: &Name| chosen.is_none_or(|chosen| chosen.contains(name));
    let mut outcome = ApplyOutcome::default();
    for name in chosen.into_iter().flatten().filter(|name| after.iter().all(|file| file.name != **name)) {
        outcome.add_left(name, "was not changed by the run");
    }
    let selected: Vec<&AfterFile> = after.iter().filter(|file| is_chosen(&file.name)).collect();
    let list: Vec<Name> = selected.iter().map(|file| file.name.clone()).collect();
    let mut contents = base.copies.base_contents(root, &base.manifest, &list)?;
    let scratch = run.join("restore");
    disk::create_private_folder(&scratch)?;
    let mut operations = Vec::new();
    let mut already = Vec::new();
    for (number, file) in selected.into_iter().enumerate() {
        let now = inspect_beneath(&tree, &file.name)
            .map_err(|error| Problem::io("read", &names::place(root, &file.name), &error))?;
        let there = now.identity.filter(|identity| !identity.is_directory());
        let is_as_left = match (&there, &file.identity) {
            (Some(now), Some(after)) => now.is_same_file(after),
            (None, None) => true,
            _ => false,
        };
        let content = contents.remove(&file.name).unwrap_or(BaseContent::Absent);
        if content == BaseContent::Unknown {
            outcome
                .add_left(&file.name, "was too large to be copied when the run started, and stays as it is");
        } else if is_restored(&now, &content) {
            already.push(file.name.clone());
        } else if !is_as_left {
            outcome.add_left(&file.name, "was changed after the run and stays as it is");
        } else {
            operations.push(operation(&tree, &scratch, &file.name, now, content, number)?);
        }
    }
    operations.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    let done = execute(run, root, JournalKind::Restore, operations)?;
    finish_kind(run, JournalKind::Restore)?;
    std::fs::remove_dir_all(&scratch).map_err(|error| Problem::io("remove", &scratch, &error))?;
    outcome.left.extend(done.left);
    let mut restored: Vec<Name> = done.applied.into_iter().map(|file| file.name).chain(already).collect();
    restored.sort_unstable();
    Ok(RestoreOutcome { restored, left: outcome.left })
}

fn is_restored(now: &InspectedFile, content: &BaseContent) -> bool {
    match content {
        BaseContent::Absent => now.state == FileState::Absent,
        BaseContent::Known { mode, bytes } => now.state == FileState::from_bytes(bytes, *mode),
        BaseContent::Unknown => false,
    }
}

fn operation(
    tree: &OwnedFd,
    scratch: &Path,
    name: &[u8],
    now: InspectedFile,
    content: BaseContent,
    number: usize,
) -> Result<Operation> {
    let (folder, leaf) = split_leaf(name);
    let identity = now.identity.filter(|identity| !identity.is_directory());
    let expected = identity.map(|identity| Expected { identity, state: now.state });
    let kind = match (&content, &expected) {
        (BaseContent::Absent, _) => OperationKind::Delete,
        (_, Some(_)) => OperationKind::Change,
        (_, None) => OperationKind::Create,
    };
    let folder = match kind {
        OperationKind::Create => existing_folder(tree, name),
        _ => folder,
    };
    let mut operation = Operation {
        kind,
        name: name.to_vec(),
        temporary: temporary_name(folder, leaf),
        expected,
        result: FileState::Absent,
        mode: 0,
        source: None,
        attributes_from_source: false,
        replaced: replaced_name(),
        prepared: None,
    };
    if let BaseContent::Known { mode, bytes } = content {
        let path = scratch.join(number.to_string());
        disk::replace_private(&path, &bytes)?;
        operation.result = FileState::from_bytes(&bytes, mode);
        operation.mode = mode & 0o777;
        operation.source = Some(SourcePath::from(path.as_path()));
    }
    Ok(operation)
}
