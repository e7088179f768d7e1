//! One step of an apply, as its journal has it.

use crate::tree::names::{self, Name};
use crate::tree::private_tree::beneath;
use crate::tree::private_tree::file_state::{FileState, InspectedFile};
use crate::tree::private_tree::{FileIdentity, name_text};
use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What must be at a path for an operation to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The inode, with size, time and mode.
    pub identity: FileIdentity,
    /// Its content.
    pub state: FileState,
}

impl Expected {
    pub(super) fn is_met_by(&self, file: &InspectedFile) -> bool {
        file.identity.is_some_and(|identity| identity.is_same_file(&self.identity))
            && file.state == self.state
    }
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// The file is moved away.
    Delete,
    /// The file is exchanged.
    Change,
    /// A file is put where none is.
    Create,
}

/// One step of an apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// What is done.
    pub kind: OperationKind,
    /// The path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// The path in the tree at which the other file is meanwhile.
    #[serde(with = "name_text")]
    pub temporary: Name,
    /// What must be at the path; none for a new file.
    pub expected: Option<Expected>,
    /// What is at the path afterwards.
    pub result: FileState,
    /// Its permissions.
    pub mode: u32,
    /// The file that has the new content, as an absolute path.
    pub source: Option<SourcePath>,
    /// Whether attributes come from that file, not from the one that is replaced.
    pub attributes_from_source: bool,
    /// The name that the old file has in the folder of replaced files.
    pub replaced: String,
    /// The temporary file, once it is complete.
    pub prepared: Option<FileIdentity>,
}

/// An absolute path that need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourcePath(#[serde(with = "name_text")] Name);

impl std::ops::Deref for SourcePath {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&Path> for SourcePath {
    fn from(path: &Path) -> Self {
        Self(names::of_path(path))
    }
}

/// An operation's temporary name: hidden, recognisable, and of a length that every file system takes.
pub(super) fn temporary_name(folder: &[u8], leaf: &[u8]) -> Name {
    let random = format!(".capsid-{:016x}", fastrand::u64(..));
    let part = &leaf[..leaf.len().min(200)];
    names::below(folder, &[b".", part, random.as_bytes()].concat())
}

/// A name in the folder of replaced files that no earlier attempt has used.
pub(super) fn replaced_name() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// The nearest directory above a name that exists.
pub(super) fn existing_folder<'a>(root: &OwnedFd, name: &'a [u8]) -> &'a [u8] {
    names::folders(name).find(|folder| beneath::open_directory(root, folder).is_ok()).unwrap_or(b"")
}
