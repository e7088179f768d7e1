//! What a change consists of: the files that are applied, those that are left out, and what is never applied.

use super::beneath;
use super::copies::TreeBase;
use super::file_state::{self, FileIdentity, file_type};
use super::name_text;
use super::rules::BaseRules;
use super::unsafe_paths::{is_git_spelling, leads_out};
use crate::tree::ChangeKind;
use crate::tree::names::{self, Name};
use capsid_model::{Problem, Result};
use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// At most so many examples are listed for a directory.
const MAX_EXAMPLES: usize = 5;

/// One file of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPath {
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// How it changed.
    pub kind: ChangeKind,
}

/// Files that changed and are not applied, because the base ignores them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedFiles {
    /// How many they are.
    pub files: u64,
    /// Where they are.
    pub directories: Vec<DroppedDirectory>,
}

/// Dropped files of one ignored directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedDirectory {
    /// The topmost ignored directory; for a file that is ignored itself, the directory that it is in.
    pub path: String,
    /// How many files.
    pub files: u64,
    /// Some of their paths.
    pub examples: Vec<String>,
}

impl DroppedFiles {
    /// Counts a file.
    pub fn add(&mut self, directory: &[u8], name: &[u8]) {
        self.files += 1;
        let path = if directory.is_empty() { ".".to_owned() } else { names::show(directory) };
        let at = self.directories.iter().position(|dropped| dropped.path == path);
        let at = at.unwrap_or_else(|| {
            self.directories.push(DroppedDirectory { path, ..DroppedDirectory::default() });
            self.directories.len() - 1
        });
        let dropped = &mut self.directories[at];
        dropped.files += 1;
        if dropped.examples.len() < MAX_EXAMPLES {
            dropped.examples.push(names::show(name));
        }
    }
}

/// What a change contains and must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// A name that some file system takes for `.git`.
    GitSpelling,
    /// A file of the engine.
    EngineFile,
    /// A FIFO, a socket or a device.
    SpecialFile,
    /// A setuid or setgid file.
    Privileged,
    /// A file that its owner may not read.
    Unreadable,
    /// A link that is absolute or leads out of the tree.
    LinkOutside,
    /// A repository inside the tree that was not there.
    NestedRepository,
}

/// Something that is never applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeViolation {
    /// What it is.
    pub kind: ViolationKind,
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// A sentence about it.
    pub message: String,
}

/// A change as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpperListing {
    /// The files of the change, in the order of their names.
    pub changed: Vec<ChangedPath>,
    /// Changed files that are not applied.
    pub ignored: DroppedFiles,
    /// What must not be there. A change with any of them fails.
    pub violations: Vec<ChangeViolation>,
    /// Whether anything inside a `.git` was written. It is never part of a change.
    pub git_touched: bool,
}

/// Collects a listing while a layer or a tree is walked.
pub(super) struct Collector<'a> {
    pub(super) rules: &'a BaseRules,
    /// Where the changed files are.
    pub(super) view: OwnedFd,
    /// The tree that they are compared with.
    pub(super) tree: OwnedFd,
    changed: BTreeMap<Name, ChangeKind>,
    pub(super) listing: UpperListing,
}

impl<'a> Collector<'a> {
    pub(super) fn new(view: &Path, tree: &Path, rules: &'a BaseRules) -> Result<Self> {
        let open = |path: &Path| beneath::open_root(path).map_err(|error| Problem::io("open", path, &error));
        Ok(Self {
            rules,
            view: open(view)?,
            tree: open(tree)?,
            changed: BTreeMap::new(),
            listing: UpperListing::default(),
        })
    }

    pub(super) fn into_listing(mut self) -> UpperListing {
        let changed = self.changed.into_iter().map(|(name, kind)| ChangedPath { name, kind });
        self.listing.changed = changed.collect();
        self.listing.ignored.directories.sort_by(|a, b| b.files.cmp(&a.files).then(a.path.cmp(&b.path)));
        self.listing.violations.sort_by(|a, b| a.name.cmp(&b.name));
        self.listing
    }

    pub(super) fn in_tree(&self, name: &[u8]) -> Result<Option<FileIdentity>> {
        identity(&self.tree, name)
    }

    pub(super) fn in_view(&self, name: &[u8]) -> Result<Option<FileIdentity>> {
        identity(&self.view, name)
    }

    /// Whether a file is the same in the view and in the tree.
    pub(super) fn is_same_in_both(
        &self,
        name: &[u8],
        here: &FileIdentity,
        there: Option<&FileIdentity>,
    ) -> bool {
        let Some(there) = there else { return false };
        let same_type = here.file_type() == there.file_type();
        if !same_type || !here.is_file() {
            return same_type && read_link(&self.view, name) == read_link(&self.tree, name);
        }
        here.size == there.size && has_same_bytes(&self.view, &self.tree, name).unwrap_or(false)
    }

    pub(super) fn refuse(&mut self, kind: ViolationKind, name: &[u8], what: &str) {
        let message = format!("`{}` {what}.", names::show(name));
        self.listing.violations.push(ChangeViolation { kind, name: name.to_vec(), message });
    }

    /// Judges a `.git` below the top: one that was there is left out, a new one is a violation.
    pub(super) fn git_directory(&mut self, name: &[u8], is_there: bool) -> Result<()> {
        let (folder, _) = beneath::split_leaf(name);
        if is_there && !self.rules.is_repository(folder) && self.in_tree(name)?.is_none() {
            self.refuse(ViolationKind::NestedRepository, folder, "is a new repository inside the tree");
        } else {
            self.listing.git_touched = true;
        }
        Ok(())
    }

    /// Whether a name is another spelling of `.git`; it is a violation then.
    pub(super) fn is_refused_name(&mut self, name: &[u8]) -> bool {
        let (_, leaf) = beneath::split_leaf(name);
        let refused = is_git_spelling(leaf);
        if refused {
            let what = "is a name that some file systems take for `.git`";
            self.refuse(ViolationKind::GitSpelling, name, what);
        }
        refused
    }

    /// Records that a file of the tree is gone.
    pub(super) fn deleted(&mut self, name: Name) {
        if self.rules.is_own(&name) {
            self.refuse(ViolationKind::EngineFile, &name, "belongs to Capsid, and the change deletes it");
        } else if self.rules.is_read_log(&name) {
            let (folder, _) = beneath::split_leaf(&name);
            self.listing.ignored.add(folder, &name);
        } else {
            self.changed.insert(name, ChangeKind::Deleted);
        }
    }

    /// Judges a file, a link or something else that is not a directory, against what was at its name before.
    pub(super) fn leaf(&mut self, name: Name, new: &FileIdentity, old: Option<&OldFile<'_>>) -> Result<()> {
        if old.is_some_and(|old| old.is_same(&self.view, &name, new)) {
            return Ok(());
        }
        if self.rules.is_own(&name) {
            self.refuse(ViolationKind::EngineFile, &name, "belongs to Capsid, and the change touches it");
            return Ok(());
        }
        if self.rules.is_read_log(&name) {
            let (folder, _) = beneath::split_leaf(&name);
            self.listing.ignored.add(folder, &name);
            return Ok(());
        }
        let old_mode = old.map(|old| old.mode());
        match new.file_type() {
            FileType::RegularFile
                if new.mode & 0o6000 != 0 && old_mode.is_none_or(|old| old & 0o6000 == 0) =>
            {
                self.refuse(ViolationKind::Privileged, &name, "is a setuid or setgid file");
                return Ok(());
            }
            FileType::RegularFile if new.mode & 0o400 == 0 => {
                self.refuse(ViolationKind::Unreadable, &name, "cannot be read by its owner");
                return Ok(());
            }
            FileType::RegularFile => {}
            FileType::Symlink => {
                let target = read_link(&self.view, &name).unwrap_or_default();
                let lookup = |name: &[u8]| match identity(&self.view, name) {
                    Ok(Some(_)) => read_link(&self.view, name),
                    _ => read_link(&self.tree, name),
                };
                if leads_out(&name, &target, &lookup) {
                    let what = format!("is a link to `{}`, which is outside the tree", names::show(&target));
                    self.refuse(ViolationKind::LinkOutside, &name, &what);
                    return Ok(());
                }
            }
            kind => {
                let what = format!("is {}, not a file", special_name(kind));
                self.refuse(ViolationKind::SpecialFile, &name, &what);
                return Ok(());
            }
        }
        let kind = match old_mode {
            None => ChangeKind::Added,
            Some(mode) if file_type(mode) != new.file_type() => ChangeKind::TypeChanged,
            Some(_) => ChangeKind::Modified,
        };
        self.changed.insert(name, kind);
        Ok(())
    }
}

/// The file that was at a name before.
pub(super) enum OldFile<'a> {
    /// The one that is in the tree now.
    InTree(&'a OwnedFd, FileIdentity),
    /// One whose content is known.
    Content(u32, &'a [u8]),
    /// One whose content is not known; it counts as different.
    Unknown(u32),
}

impl OldFile<'_> {
    fn mode(&self) -> u32 {
        match self {
            Self::InTree(_, identity) => identity.mode,
            Self::Content(mode, _) | Self::Unknown(mode) => *mode,
        }
    }

    /// Whether a file has the same type, content and executable bit. An unreadable one counts as different.
    fn is_same(&self, view: &OwnedFd, name: &[u8], new: &FileIdentity) -> bool {
        let mode = self.mode();
        if file_type(mode) != new.file_type() {
            return false;
        }
        if new.is_link() {
            let new = read_link(view, name);
            return match self {
                Self::InTree(tree, _) => new.is_some() && new == read_link(tree, name),
                Self::Content(_, target) => new.as_deref() == Some(target),
                Self::Unknown(_) => false,
            };
        }
        if !new.is_file() || new.is_executable() != (mode & 0o100 != 0) {
            // Something that is no file was there before as well.
            return !new.is_file() && matches!(self, Self::InTree(_, old) if old.is_same_file(new));
        }
        if new.mode & 0o6000 & !mode != 0 {
            return false;
        }
        let same = match self {
            Self::InTree(_, old) if old.size != new.size => Ok(false),
            Self::InTree(tree, _) => has_same_bytes(view, tree, name),
            Self::Content(_, bytes) if bytes.len() as u64 != new.size => Ok(false),
            Self::Content(_, bytes) => file_bytes(view, name).map(|new| new == *bytes),
            Self::Unknown(_) => Ok(false),
        };
        same.unwrap_or(false)
    }
}

fn identity(root: &OwnedFd, name: &[u8]) -> Result<Option<FileIdentity>> {
    let stat = beneath::stat(root, name);
    let stat = stat.map_err(|error| Problem::io("read", names::to_path(name), &error))?;
    Ok(stat.as_ref().map(FileIdentity::from_stat))
}

pub(super) fn read_link(root: &OwnedFd, name: &[u8]) -> Option<Name> {
    let held = beneath::hold(root, name).ok()?;
    let target = rustix::fs::readlinkat(held, "", Vec::new()).ok()?;
    Some(target.into_bytes())
}

fn file_bytes(root: &OwnedFd, name: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file_state::reopen(&beneath::hold(root, name)?)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn has_same_bytes(view: &OwnedFd, tree: &OwnedFd, name: &[u8]) -> std::io::Result<bool> {
    let mut new = file_state::reopen(&beneath::hold(view, name)?)?;
    let mut old = file_state::reopen(&beneath::hold(tree, name)?)?;
    let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let length = new.read(&mut a)?;
        if length == 0 {
            return Ok(old.read(&mut b)? == 0);
        }
        match old.read_exact(&mut b[..length]) {
            Ok(()) if a[..length] == b[..length] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

fn special_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::Directory => "a directory",
        _ => "a device",
    }
}

impl UpperListing {
    /// Leaves out files that are as they were when the run started: an agent wrote the same bytes again, and the user
    /// changed the file meanwhile.
    pub fn remove_unchanged(&mut self, view: &Path, base: &TreeBase) -> Result<()> {
        let suspects: Vec<Name> = self.changed.iter().map(|path| path.name.clone()).collect();
        let contents = base.contents(&suspects)?;
        let handle = beneath::open_root(view).map_err(|error| Problem::io("open", view, &error))?;
        let mut same = Vec::new();
        for path in &self.changed {
            let (Some(super::BaseContent::Known { mode, bytes }), false) =
                (contents.get(&path.name), path.kind == ChangeKind::Deleted)
            else {
                continue;
            };
            if let Some(new) = identity(&handle, &path.name)?
                && OldFile::Content(*mode, bytes).is_same(&handle, &path.name, &new)
            {
                same.push(path.name.clone());
            }
        }
        self.changed.retain(|path| !same.contains(&path.name));
        Ok(())
    }
}
