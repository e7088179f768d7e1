//! Takes an applied change out of the tree again, where the tree is still as the apply left it.

use super::journal::{Journal, JournalKind, execute, finish_kind, recover};
use super::operation::{
    Expected, Operation, OperationKind, SourcePath, existing_folder, replaced_name, temporary_name,
};
use super::outcome::ApplyOutcome;
use crate::tree::names;
use crate::tree::private_tree::beneath::{self, split_leaf};
use crate::tree::private_tree::file_state::{FileState, InspectedFile, inspect_beneath};
use capsid_model::{Code, Problem, Result};
use rustix::fd::OwnedFd;
use std::path::Path;

/// Puts replaced files back. Files that somebody changed since are named and left.
pub fn undo(run: &Path, root: &Path) -> Result<ApplyOutcome> {
    recover(run, root)?;
    let journal = Journal::read(&JournalKind::Apply.finished_path(run))?.ok_or_else(|| {
        Problem::new(Code::NotFound, "This run applied nothing that could be undone.")
            .fix("List the runs whose change was applied with `capsid log`.")
    })?;
    let tree = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
    let mut outcome = ApplyOutcome::default();
    let mut operations = Vec::new();
    let done = journal
        .operations
        .iter()
        .filter(|operation| journal.outcome.applied.iter().any(|applied| applied.name == operation.name));
    for operation in done {
        let now = inspect_beneath(&tree, &operation.name)
            .map_err(|error| Problem::io("read", &names::place(root, &operation.name), &error))?;
        // A deleted file may have become a directory of the change.
        let is_directory = now.identity.is_some_and(|identity| identity.is_directory());
        let is_as_left = match operation.result {
            FileState::Absent => now.state == FileState::Absent || is_directory,
            _ => now.state == operation.result,
        };
        if !is_as_left {
            outcome.add_left(&operation.name, "was changed after the apply and stays as it is");
            continue;
        }
        match inverse(run, &tree, operation, now)? {
            Some(inverse) => operations.push(inverse),
            None => outcome.add_left(&operation.name, "has no replaced file that could be put back"),
        }
    }
    operations.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    let done = execute(run, root, JournalKind::Undo, operations)?;
    finish_kind(run, JournalKind::Undo)?;
    outcome.applied = done.applied;
    outcome.left.extend(done.left);
    outcome.late_edits = done.late_edits;
    Ok(outcome)
}

/// The step that reverses another; nothing if the replaced file is gone.
fn inverse(
    run: &Path,
    tree: &OwnedFd,
    operation: &Operation,
    now: InspectedFile,
) -> Result<Option<Operation>> {
    let (folder, leaf) = split_leaf(&operation.name);
    let kind = match operation.kind {
        OperationKind::Change => OperationKind::Change,
        OperationKind::Create => OperationKind::Delete,
        OperationKind::Delete => OperationKind::Create,
    };
    let expected = now.identity.filter(|_| kind != OperationKind::Create);
    let mut inverse = Operation {
        kind,
        name: operation.name.clone(),
        temporary: temporary_name(folder, leaf),
        expected: expected.map(|identity| Expected { identity, state: now.state }),
        result: FileState::Absent,
        mode: 0,
        source: None,
        attributes_from_source: true,
        replaced: replaced_name(),
        prepared: None,
    };
    if kind == OperationKind::Delete {
        return Ok(Some(inverse));
    }
    if kind == OperationKind::Create {
        inverse.temporary = temporary_name(existing_folder(tree, &operation.name), leaf);
    }
    let folder = JournalKind::Apply.replaced(run);
    let path = folder.join(&operation.replaced);
    let fail = |error: std::io::Error| Problem::io("read", &path, &error);
    let handle = beneath::open_root(&folder).map_err(fail)?;
    let old = inspect_beneath(&handle, operation.replaced.as_bytes()).map_err(fail)?;
    let Some(identity) = old.identity else { return Ok(None) };
    inverse.mode = identity.mode & 0o777;
    inverse.result = old.state;
    inverse.source = Some(SourcePath::from(path.as_path()));
    Ok(Some(inverse))
}
