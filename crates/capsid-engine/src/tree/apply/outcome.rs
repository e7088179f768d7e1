//! What an apply did, as lists that a person can be shown.

use super::operation::OperationKind;
use crate::tree::names::{self, Name};
use crate::tree::private_tree::name_text;
use serde::{Deserialize, Serialize};

/// A file that has the change now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// What was done.
    pub kind: OperationKind,
}

/// A file that somebody changed in the meantime. It is as they left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftFile {
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// Why it was left, in a sentence.
    pub message: String,
}

/// An edit that a program made through an open descriptor, after its file was replaced. Nothing of it is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateEdit {
    /// The path that the file had in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// The file that has the edit.
    #[serde(with = "name_text")]
    pub saved: Name,
}

/// What became of each file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyOutcome {
    /// Files that have the change.
    pub applied: Vec<AppliedFile>,
    /// Files that stayed as somebody made them.
    pub left: Vec<LeftFile>,
    /// Edits that came too late to be seen; they are in the folder of replaced files.
    pub late_edits: Vec<LateEdit>,
}

impl ApplyOutcome {
    /// Whether every file has the change.
    pub fn is_complete(&self) -> bool {
        self.left.is_empty()
    }

    /// The paths that have the change, fit to be shown.
    pub fn applied_paths(&self) -> Vec<String> {
        self.applied.iter().map(|file| names::show(&file.name)).collect()
    }

    /// The paths that stayed as they were, fit to be shown.
    pub fn left_paths(&self) -> Vec<String> {
        self.left.iter().map(|file| names::show(&file.name)).collect()
    }

    /// A sentence for each file that stayed as somebody made it.
    pub fn left_messages(&self) -> Vec<String> {
        self.left.iter().map(|file| file.message.clone()).collect()
    }

    pub(super) fn add_left(&mut self, name: &[u8], why: &str) {
        let message = format!("`{}` {why}.", names::show(name));
        self.left.push(LeftFile { name: name.to_vec(), message });
    }
}
