//! Level `copy`: a copy of the tree with a git directory of its own.

use super::FileIdentity;
use super::base::BaseManifest;
use super::beneath::{self, split_leaf};
use super::copy_git::create_git_directory;
use super::freeze::{ChangeLayer, copy_entry};
use super::name_text;
use super::rules::BaseScope;
use super::walk::{RuleSource, WalkEntry, walk};
use crate::tree::ChangeKind;
use crate::tree::names::{self, Name};
use capsid_disk::files as disk;
use capsid_model::{Problem, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, Timespec, Timestamps};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// What becomes of ignored files in a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyIgnored {
    /// Links lead to them.
    #[default]
    Link,
    /// They are copied.
    Copy,
    /// They are missing.
    None,
}

/// A copy of the tree.
#[derive(Debug, Clone)]
pub struct CopyView {
    /// Where it is.
    pub path: PathBuf,
    /// The files of the copy, as they were made.
    pub manifest: BaseManifest,
    /// Ignored files and directories that are links into the tree. They are never part of a change.
    pub linked: Vec<Name>,
}

/// The part of a copy that is stored beside its manifest.
#[derive(Serialize, Deserialize)]
struct StoredView {
    path: PathBuf,
    #[serde(with = "name_text::list")]
    linked: Vec<Name>,
}

impl CopyView {
    /// Stores what [`super::list_copy`] needs, for another process.
    pub fn write(&self, manifest: &Path, view: &Path) -> Result<()> {
        self.manifest.write(manifest)?;
        let stored = StoredView { path: self.path.clone(), linked: self.linked.clone() };
        disk::replace_private(view, &serde_json::to_vec(&stored).map_err(|error| unusable(view, &error))?)
    }

    /// Reads what [`CopyView::write`] stored.
    pub fn read(manifest: &Path, view: &Path) -> Result<Self> {
        let bytes = disk::read_bytes(view)?.unwrap_or_default();
        let stored: StoredView = serde_json::from_slice(&bytes).map_err(|error| unusable(view, &error))?;
        Ok(Self { path: stored.path, manifest: BaseManifest::read(manifest)?, linked: stored.linked })
    }
}

fn unusable(path: &Path, error: &serde_json::Error) -> Problem {
    Problem::io("use", path, &io::Error::other(error.to_string()))
}

/// Copies the files of the base to a new directory.
pub fn create_copy_view(
    root: &Path,
    destination: &Path,
    base: &BaseManifest,
    scope: &BaseScope,
    ignored: CopyIgnored,
) -> Result<CopyView> {
    disk::create_private_folder(destination)?;
    let open = |path: &Path| beneath::open_root(path).map_err(|error| Problem::io("open", path, &error));
    let copier = Copier { source: open(root)?, target: open(destination)? };
    let fail = |name: &[u8], error: io::Error| Problem::io("copy", &names::place(root, name), &error);
    let mut folders = BTreeSet::new();
    for file in base.files() {
        copier.copy(&file.name, &mut folders).map_err(|error| fail(&file.name, error))?;
    }
    let mut hidden = Vec::new();
    let mut nested = Vec::new();
    walk(root, b"", &mut base.rules.clone(), RuleSource::Base, &mut |name, entry| {
        match entry {
            WalkEntry::Ignored => hidden.push(name),
            WalkEntry::GitDirectory => nested.push(name),
            WalkEntry::File(_) | WalkEntry::Special(_) => {}
        }
        Ok(())
    })?;
    let mut linked = Vec::new();
    for name in hidden {
        match ignored {
            CopyIgnored::None => {}
            CopyIgnored::Copy => copier.copy_all(&name, &mut folders).map_err(|error| fail(&name, error))?,
            // A directory with tracked files is there already.
            CopyIgnored::Link if base.rules.has_tracked_below(&name) || base.file(&name).is_some() => {}
            CopyIgnored::Link => {
                copier.link(root, &name, &mut folders).map_err(|error| fail(&name, error))?;
                linked.push(name);
            }
        }
    }
    // A repository inside the tree brings its git directory; a submodule's is elsewhere and stays there.
    for name in nested.iter().filter(|name| names::place(root, name).is_dir()) {
        copier.copy_all(name, &mut folders).map_err(|error| fail(name, error))?;
    }
    for own in &scope.own {
        copier.copy_all(own, &mut folders).map_err(|error| fail(own, error))?;
    }
    create_git_directory(root, destination, scope)?;
    capsid_sandbox::give_copy_to_sandbox(destination)?;
    let manifest = BaseManifest::record_copy(destination, base)?;
    Ok(CopyView { path: destination.to_owned(), manifest, linked })
}

/// Makes a change in a copy.
pub fn lay_over(change: &ChangeLayer, copy: &Path) -> Result<()> {
    let open = |path: &Path| beneath::open_root(path).map_err(|error| Problem::io("open", path, &error));
    let copier = Copier { source: open(&change.folder)?, target: open(copy)? };
    let mut folders = BTreeSet::new();
    for file in &change.files {
        let path = names::place(copy, &file.name);
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Problem::io("remove", &path, &error)),
        }
        if file.kind != ChangeKind::Deleted {
            copier.copy(&file.name, &mut folders).map_err(|error| Problem::io("copy", &path, &error))?;
        }
    }
    Ok(())
}

struct Copier {
    source: OwnedFd,
    target: OwnedFd,
}

impl Copier {
    fn copy(&self, name: &[u8], folders: &mut BTreeSet<Name>) -> io::Result<()> {
        let (folder, leaf) = split_leaf(name);
        let target = self.directory(folder, folders)?;
        let Some(stat) = beneath::stat(&self.source, name)? else { return Ok(()) };
        copy_entry(&self.source, name, &target, leaf)?;
        // With its time, a file is clean for the copied index.
        let time = Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec as _ };
        let times = Timestamps { last_access: time, last_modification: time };
        rustix::fs::utimensat(&target, leaf, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(())
    }

    /// Copies a file, or a directory with everything below it. What is neither a file nor a link is left out.
    fn copy_all(&self, name: &[u8], folders: &mut BTreeSet<Name>) -> io::Result<()> {
        let Some(stat) = beneath::stat(&self.source, name)? else { return Ok(()) };
        let identity = FileIdentity::from_stat(&stat);
        if identity.is_file() || identity.is_link() {
            return match beneath::stat(&self.target, name)? {
                Some(_) => Ok(()),
                None => self.copy(name, folders),
            };
        }
        if !identity.is_directory() {
            return Ok(());
        }
        self.directory(name, folders)?;
        let directory = beneath::open_directory(&self.source, name)?;
        for entry in rustix::fs::Dir::read_from(directory)? {
            let leaf = entry?.file_name().to_bytes().to_vec();
            if !matches!(leaf.as_slice(), b"." | b"..") {
                self.copy_all(&names::below(name, &leaf), folders)?;
            }
        }
        Ok(())
    }

    fn link(&self, root: &Path, name: &[u8], folders: &mut BTreeSet<Name>) -> io::Result<()> {
        let (folder, leaf) = split_leaf(name);
        let target = self.directory(folder, folders)?;
        Ok(rustix::fs::symlinkat(names::place(root, name), target, leaf)?)
    }

    fn directory(&self, name: &[u8], folders: &mut BTreeSet<Name>) -> io::Result<OwnedFd> {
        if !name.is_empty() && !folders.contains(name) {
            let (above, leaf) = split_leaf(name);
            let above = self.directory(above, folders)?;
            let mode = beneath::stat(&self.source, name)?.map_or(0o755, |stat| stat.st_mode & 0o777);
            match rustix::fs::mkdirat(above, leaf, Mode::from_raw_mode(mode | 0o700)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folders.insert(name.to_vec());
        }
        Ok(beneath::open_directory(&self.target, name)?)
    }
}
