//! The change layer: exactly the files of a change, so that what is validated is what is applied.

use super::beneath::{self, split_leaf};
use super::copy_file::copy_content;
use super::file_state::{FileContent, FileState, file_type, inspect_beneath, permissions, reopen};
use super::listing::UpperListing;
use super::name_text;
use crate::tree::ChangeKind;
use crate::tree::names::{self, Name};
use capsid_disk::files as disk;
use capsid_model::{Code, Problem, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RawMode, Stat, Uid};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How files get into a change layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreezeMethod {
    /// By hard links: nothing writes to the source any more.
    Link,
    /// By copies: validation still writes to the source.
    Copy,
}

/// One file of a change layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerFile {
    /// Its path in the tree.
    #[serde(with = "name_text")]
    pub name: Name,
    /// How it changed.
    pub kind: ChangeKind,
    /// What is at its path once the change is applied.
    pub state: FileState,
    /// Its permissions in the layer.
    pub mode: u32,
    /// What it was, while a merge replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before_merge: Option<FileState>,
}

/// A frozen change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLayer {
    /// Where it is. It can be a lower layer above the tree.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Its files, in the order of their names.
    pub files: Vec<LayerFile>,
}

impl ChangeLayer {
    /// Builds a layer of files with given contents in an empty directory. A file that is absent hides that of the tree.
    pub fn create(folder: &Path, root: &Path, list: &[(Name, FileContent)]) -> Result<Self> {
        disk::create_private_folder(folder)?;
        let open = |path: &Path| beneath::open_root(path).map_err(|error| Problem::io("open", path, &error));
        let mut freezer = Freezer {
            source: open(root)?,
            tree: open(root)?,
            change: open(folder)?,
            method: FreezeMethod::Copy,
            directories: BTreeSet::new(),
        };
        let fail = |name: &[u8], error: io::Error| Problem::io("write", &names::place(folder, name), &error);
        freezer.copy_owner(b"").map_err(|error| fail(b"", error))?;
        let mut files = Vec::with_capacity(list.len());
        // What is there comes first: it may hide what is absent.
        let (present, absent): (Vec<_>, Vec<_>) = list.iter().partition(|(_, content)| content.is_some());
        for (name, content) in present.into_iter().chain(absent) {
            let (state, mode) = match content {
                Some((mode, bytes)) => freezer.write_file(name, *mode, bytes),
                None => freezer.freeze_deletion(name).map(|()| (FileState::Absent, 0)),
            }
            .map_err(|error| fail(name, error))?;
            let kind = if content.is_some() { ChangeKind::Modified } else { ChangeKind::Deleted };
            files.push(LayerFile { name: name.clone(), kind, state, mode, before_merge: None });
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { folder: folder.to_owned(), files })
    }

    /// Stores the list of the files beside the layer, for its owner alone.
    pub fn write_list(&self) -> Result<()> {
        let text = serde_json::to_vec(self)
            .map_err(|error| Problem::new(Code::Internal, format!("A change cannot be written: {error}.")))?;
        disk::replace_private(&list_path(&self.folder), &text)
    }

    /// Reads the list of a layer, and checks that the layer still has these files.
    pub fn read(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        let damaged = || {
            let message = format!("The change in `{}` is damaged.", folder.display());
            Problem::new(Code::StoreDamaged, message).fix("Discard the run and start a new one.")
        };
        let bytes = disk::read_bytes(&list_path(&folder))?.ok_or_else(damaged)?;
        let mut layer: Self = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        let handle = beneath::open_root(&folder).map_err(|error| Problem::io("open", &folder, &error))?;
        for file in &mut layer.files {
            let found = inspect_beneath(&handle, &file.name).map_err(|_| damaged())?.state;
            let before_merge = file.before_merge.take();
            let is_known = match &file.state {
                FileState::Absent => !matches!(found, FileState::File { .. } | FileState::Link { .. }),
                state => *state == found,
            };
            if names::is_inside(&file.name) && is_known {
                continue;
            }
            // A kill between the list and the file of a merge: the merge was not done.
            let state = before_merge.filter(|state| *state == found && names::is_inside(&file.name));
            file.state = state.ok_or_else(damaged)?;
        }
        layer.folder = folder;
        Ok(layer)
    }

    /// Replaces the content of a file of the layer. Its mode and owner stay.
    pub fn replace_content(&mut self, name: &[u8], bytes: &[u8], executable: bool) -> Result<()> {
        let path = names::place(&self.folder, name);
        let fail = |error: io::Error| Problem::io("write", &path, &error);
        let Some(file) = self.files.iter_mut().find(|file| file.name == name) else { return Ok(()) };
        let mode = with_executable(file.mode, executable);
        file.before_merge = Some(file.state.clone());
        file.state = FileState::from_bytes(bytes, mode);
        file.mode = mode;
        self.write_list()?;
        let handle = beneath::open_root(&self.folder).map_err(fail)?;
        let (folder, leaf) = split_leaf(name);
        let directory = beneath::open_directory(&handle, folder).map_err(|error| fail(error.into()))?;
        replace_entry(&directory, leaf, bytes, mode).map_err(fail)?;
        if let Some(file) = self.files.iter_mut().find(|file| file.name == name) {
            file.before_merge = None;
        }
        self.write_list()
    }

    /// The file with a name.
    pub fn file(&self, name: &[u8]) -> Option<&LayerFile> {
        self.files.iter().find(|file| file.name == name)
    }
}

/// Builds the change layer in an empty directory from the files of `source`.
pub fn freeze(
    listing: &UpperListing,
    source: &Path,
    root: &Path,
    change: &Path,
    method: FreezeMethod,
) -> Result<ChangeLayer> {
    disk::create_private_folder(change)?;
    let open = |path: &Path| beneath::open_root(path).map_err(|error| Problem::io("open", path, &error));
    let mut freezer = Freezer {
        source: open(source)?,
        tree: open(root)?,
        change: open(change)?,
        method,
        directories: BTreeSet::new(),
    };
    let fail = |name: &[u8], error: io::Error| Problem::io("write", &names::place(change, name), &error);
    freezer.copy_owner(b"").map_err(|error| fail(b"", error))?;
    let (deleted, present): (Vec<_>, Vec<_>) =
        listing.changed.iter().partition(|path| path.kind == ChangeKind::Deleted);
    let mut files = Vec::with_capacity(listing.changed.len());
    for path in present {
        let (state, mode) = freezer.freeze_file(&path.name).map_err(|error| fail(&path.name, error))?;
        files.push(LayerFile { name: path.name.clone(), kind: path.kind, state, mode, before_merge: None });
    }
    for path in deleted {
        freezer.freeze_deletion(&path.name).map_err(|error| fail(&path.name, error))?;
        files.push(LayerFile {
            name: path.name.clone(),
            kind: path.kind,
            state: FileState::Absent,
            mode: 0,
            before_merge: None,
        });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let layer = ChangeLayer { folder: change.to_owned(), files };
    layer.write_list()?;
    Ok(layer)
}

/// The list is beside the layer: inside, it would be a file of the change.
fn list_path(folder: &Path) -> PathBuf {
    folder.with_extension("json")
}

/// Permissions with the executable bit set for all who may read, or for nobody.
pub fn with_executable(mode: u32, executable: bool) -> u32 {
    match executable {
        _ if (mode & 0o100 != 0) == executable => mode,
        true => mode | ((mode & 0o444) >> 2),
        false => mode & !0o111,
    }
}

/// Puts a new inode in the place of a file, which may be linked elsewhere.
fn replace_entry(directory: &OwnedFd, leaf: &[u8], bytes: &[u8], mode: u32) -> io::Result<()> {
    const TEMPORARY: &str = ".capsid-merge";
    let old = rustix::fs::statat(directory, leaf, AtFlags::SYMLINK_NOFOLLOW)?;
    let _ = rustix::fs::unlinkat(directory, TEMPORARY, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, TEMPORARY, flags, Mode::from_raw_mode(0o600))?;
    copy_owner(&file, &old);
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as RawMode))?;
    let mut file = File::from(file);
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()?;
    Ok(rustix::fs::renameat(directory, TEMPORARY, directory, leaf)?)
}

struct Freezer {
    source: OwnedFd,
    tree: OwnedFd,
    change: OwnedFd,
    method: FreezeMethod,
    /// Those that the layer has already.
    directories: BTreeSet<Name>,
}

impl Freezer {
    /// Writes a file or a link that no view has.
    fn write_file(&mut self, name: &[u8], mode: u32, bytes: &[u8]) -> io::Result<(FileState, u32)> {
        let (folder, leaf) = split_leaf(name);
        let target = self.directory(folder)?;
        if file_type(mode) == FileType::Symlink {
            rustix::fs::symlinkat(bytes, &target, leaf)?;
        } else {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = rustix::fs::openat(&target, leaf, flags, Mode::from_raw_mode(0o600))?;
            if let Some(like) =
                beneath::stat(&self.tree, folder).ok().flatten().filter(|_| !folder.is_empty())
            {
                copy_owner(&file, &like);
            } else {
                copy_owner(&file, &rustix::fs::fstat(&self.tree)?);
            }
            rustix::fs::fchmod(&file, permissions(mode))?;
            io::Write::write_all(&mut File::from(file), bytes)?;
        }
        let frozen = inspect_beneath(&self.change, name)?;
        Ok((frozen.state, mode & 0o777))
    }

    fn freeze_file(&mut self, name: &[u8]) -> io::Result<(FileState, u32)> {
        let (folder, leaf) = split_leaf(name);
        let target = self.directory(folder)?;
        let linked = self.method == FreezeMethod::Link && {
            let from = beneath::open_directory(&self.source, folder)?;
            match rustix::fs::linkat(&from, leaf, &target, leaf, AtFlags::empty()) {
                Ok(()) => true,
                Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::ACCESS) => false,
                Err(error) => return Err(error.into()),
            }
        };
        if !linked {
            copy_entry(&self.source, name, &target, leaf)?;
        }
        let frozen = inspect_beneath(&self.change, name)?;
        let mode = frozen.identity.map_or(0, |identity| identity.mode & 0o777);
        Ok((frozen.state, mode))
    }

    /// A whiteout, unless the layer already hides the name by what it has there or above.
    fn freeze_deletion(&mut self, name: &[u8]) -> io::Result<()> {
        if beneath::stat(&self.change, name)?.is_some() {
            return Ok(());
        }
        for folder in names::folders(name) {
            let there = beneath::stat(&self.change, folder)?;
            if there.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory) {
                return Ok(());
            }
        }
        let (folder, leaf) = split_leaf(name);
        let target = self.directory(folder)?;
        make_whiteout(&target, leaf)
    }

    /// Opens a directory of the layer, and makes it and those above it.
    fn directory(&mut self, name: &[u8]) -> io::Result<OwnedFd> {
        let mut all: Vec<&[u8]> = names::folders(name).collect();
        all.reverse();
        for folder in all.into_iter().chain((!name.is_empty()).then_some(name)) {
            if self.directories.contains(folder) {
                continue;
            }
            let (above, leaf) = split_leaf(folder);
            let above = beneath::open_directory(&self.change, above)?;
            match rustix::fs::mkdirat(above, leaf, Mode::from_raw_mode(0o700)) {
                Ok(()) => self.copy_owner(folder)?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            self.directories.insert(folder.to_vec());
        }
        Ok(beneath::open_directory(&self.change, name)?)
    }

    /// Gives a directory of the layer the owner and the mode that it has in the source, or else in the tree.
    fn copy_owner(&self, name: &[u8]) -> io::Result<()> {
        let stat = |root: &OwnedFd| match name.is_empty() {
            true => rustix::fs::fstat(root).map(Some).map_err(io::Error::from),
            false => beneath::stat(root, name),
        };
        let is_directory = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let like = match stat(&self.source)?.filter(is_directory) {
            Some(like) => Some(like),
            None => stat(&self.tree)?.filter(is_directory),
        };
        let Some(like) = like else { return Ok(()) };
        let directory = beneath::open_directory(&self.change, name)?;
        copy_owner(&directory, &like);
        // The engine itself must be able to work in it.
        rustix::fs::fchmod(directory, Mode::from_raw_mode(like.st_mode & 0o777 | 0o700))?;
        Ok(())
    }
}

/// Gives a file the owner of another, as far as this user may.
pub(crate) fn copy_owner(file: &OwnedFd, like: &Stat) {
    let (owner, group) = (Uid::from_raw(like.st_uid), Gid::from_raw(like.st_gid));
    // Only root may give files away. The group is worth an attempt of its own.
    if rustix::fs::fchown(file, Some(owner), Some(group)).is_err() {
        let _ = rustix::fs::fchown(file, None, Some(group));
    }
}

/// Copies a file or a link with its mode and, as far as possible, its owner.
pub(super) fn copy_entry(source: &OwnedFd, name: &[u8], target: &OwnedFd, leaf: &[u8]) -> io::Result<()> {
    let held = beneath::hold(source, name)?;
    let stat = rustix::fs::fstat(&held)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        let link = rustix::fs::readlinkat(&held, "", Vec::new())?;
        rustix::fs::symlinkat(link.as_c_str(), target, leaf)?;
        let (owner, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        let _ = rustix::fs::chownat(target, leaf, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW);
        return Ok(());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let copy = rustix::fs::openat(target, leaf, flags, Mode::from_raw_mode(0o600))?;
    copy_owner(&copy, &stat);
    rustix::fs::fchmod(&copy, Mode::from_raw_mode(stat.st_mode & 0o777))?;
    copy_content(&mut reopen(&held)?, &mut File::from(copy))
}

/// What a write layer of Linux has in place of a file that was deleted.
#[cfg(target_os = "linux")]
fn make_whiteout(directory: &OwnedFd, leaf: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::mknodat(directory, leaf, FileType::CharacterDevice, Mode::empty(), 0)?)
}

#[cfg(not(target_os = "linux"))]
fn make_whiteout(_directory: &OwnedFd, _leaf: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
