//! Copies of the files whose content no blob has, so that the base's bytes are known whatever happens to the tree.

use super::base::BaseManifest;
use super::beneath;
use super::copy_file::copy_content;
use super::file_state::{FileIdentity, read_content, reopen};
use crate::tree::names::{self, Name};
use capsid_disk::files as disk;
use capsid_model::hash::sha256_hex;
use capsid_model::{Problem, Result};
use capsid_sandbox::git::Git;
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Larger files have no copy.
pub const MAX_COPY_BYTES: u64 = 4 << 20;
/// All copies of a run together.
pub const MAX_COPIES_BYTES: u64 = 256 << 20;

/// The copies of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseCopies {
    folder: PathBuf,
}

/// What is known of a file's content at the start of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseContent {
    /// There was no such file.
    Absent,
    /// Its mode, and its bytes or the target of the link.
    Known {
        /// Its type and permissions.
        mode: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// There was a file. It had no copy because of its size, and no blob has its bytes.
    Unknown,
}

impl BaseCopies {
    /// Uses the copies that a run made.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Copies every file that has no blob. A file that changes meanwhile is recorded as it was copied.
    pub fn create(folder: impl Into<PathBuf>, root: &Path, manifest: &mut BaseManifest) -> Result<Self> {
        let copies = Self { folder: folder.into() };
        disk::create_private_folder(&copies.folder)?;
        let handle = beneath::open_root(root).map_err(|error| Problem::io("open", root, &error))?;
        let mut room = MAX_COPIES_BYTES;
        let dirty = manifest.files().iter().filter(|file| file.blob.is_none());
        let names: Vec<Name> = dirty.map(|file| file.name.clone()).collect();
        for name in names {
            let fail = |error: std::io::Error| Problem::io("copy", &names::place(root, &name), &error);
            copies.copy(&handle, &name, manifest, &mut room).map_err(fail)?;
        }
        Ok(copies)
    }

    fn copy(
        &self,
        root: &OwnedFd,
        name: &[u8],
        manifest: &mut BaseManifest,
        room: &mut u64,
    ) -> std::io::Result<()> {
        let path = self.path(name);
        // A file that is being written is copied again, a few times.
        for _ in 0..5 {
            let held = match beneath::hold(root, name) {
                Ok(held) => held,
                Err(error) if beneath::is_missing(error) => {
                    manifest.update(name, None);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            let before = FileIdentity::from_stat(&rustix::fs::fstat(&held)?);
            if manifest.file(name).is_some_and(|file| file.identity != before) {
                manifest.update(name, Some(before));
            }
            if before.size > MAX_COPY_BYTES.min(*room) {
                return Ok(());
            }
            if !copy_held(&held, &before, &path)? {
                return Ok(());
            }
            if FileIdentity::from_stat(&rustix::fs::fstat(&held)?) == before {
                *room -= before.size;
                return Ok(());
            }
        }
        // It never stood still: better no copy than a mixed one.
        std::fs::remove_file(path)
    }

    /// The copy of a file has a name of its own, so that names of any form and length fit.
    fn path(&self, name: &[u8]) -> PathBuf {
        self.folder.join(&sha256_hex(name)[..32])
    }

    /// The path of a file's copy, if there is one.
    pub fn copy_of(&self, name: &[u8]) -> Option<PathBuf> {
        Some(self.path(name)).filter(|path| path.is_file())
    }

    /// The content of a file at the start of the run, from its copy or its blob.
    pub fn base_bytes(&self, root: &Path, manifest: &BaseManifest, name: &[u8]) -> Result<BaseContent> {
        let mut contents = self.base_contents(root, manifest, &[name.to_vec()])?;
        Ok(contents.remove(name).unwrap_or(BaseContent::Absent))
    }

    /// The same for many files, with one git process.
    pub fn base_contents(
        &self,
        root: &Path,
        manifest: &BaseManifest,
        list: &[Name],
    ) -> Result<BTreeMap<Name, BaseContent>> {
        let mut contents = BTreeMap::new();
        let mut blobs = Vec::new();
        for name in list {
            let Some(file) = manifest.file(name) else {
                contents.insert(name.clone(), BaseContent::Absent);
                continue;
            };
            let mode = file.identity.mode;
            let content = match (&file.blob, self.copy_of(name)) {
                (_, Some(path)) => {
                    let bytes = disk::read_bytes(&path)?.unwrap_or_default();
                    BaseContent::Known { mode, bytes }
                }
                (Some(blob), None) => {
                    blobs.push((name, file, blob.to_string()));
                    BaseContent::Unknown
                }
                (None, None) => BaseContent::Unknown,
            };
            contents.insert(name.clone(), content);
        }
        if blobs.is_empty() {
            return Ok(contents);
        }
        let ids: String = blobs.iter().map(|(_, _, id)| format!("{id}\n")).collect();
        let git = Git::at(root).env("GIT_NO_LAZY_FETCH", "1");
        let output = git.run_with_input(&["cat-file", "--batch"], ids.as_bytes())?;
        let mut rest = &output[..];
        for (name, file, _) in blobs {
            let Some((bytes, after)) = next_blob(rest) else { break };
            rest = after;
            // A filter or a conversion of line ends makes the blob differ from what was in the tree.
            if let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 == file.identity.size) {
                let content = BaseContent::Known { mode: file.identity.mode, bytes: bytes.to_vec() };
                contents.insert(name.clone(), content);
            }
        }
        Ok(contents)
    }
}

/// Writes the copy of a held file; returns whether this user may read it.
fn copy_held(held: &OwnedFd, identity: &FileIdentity, path: &Path) -> std::io::Result<bool> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    // The mode of the source, and nothing for others: a copy of a secret is no easier to read than the secret.
    options.write(true).create_new(true).mode(identity.mode & 0o600);
    if identity.is_link() {
        let target = rustix::fs::readlinkat(held, "", Vec::new())?;
        let mut copy = options.open(path)?;
        std::io::Write::write_all(&mut copy, target.as_bytes())?;
        return Ok(true);
    }
    let mut source = match reopen(held) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut copy = options.open(path)?;
    copy_content(&mut source, &mut copy)?;
    Ok(true)
}

/// One answer of `cat-file --batch`, and what follows it.
fn next_blob(output: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = memchr::memchr(b'\n', output)?;
    let (line, rest) = (std::str::from_utf8(&output[..end]).ok()?, &output[end + 1..]);
    let mut words = line.split(' ').skip(1);
    if words.next() != Some("blob") {
        return Some((None, rest));
    }
    let length: usize = words.next()?.parse().ok()?;
    let (bytes, rest) = rest.split_at_checked(length)?;
    Some((Some(bytes), rest.strip_prefix(b"\n")?))
}

/// A base with everything that is known about it.
#[derive(Debug, Clone)]
pub struct TreeBase {
    /// The top of the tree.
    pub root: PathBuf,
    /// Every file.
    pub manifest: BaseManifest,
    /// The content of those that no blob has.
    pub copies: BaseCopies,
}

impl TreeBase {
    /// The content of files at the start of the run: from the tree where it is unchanged, else from copies and blobs.
    pub fn contents(&self, list: &[Name]) -> Result<BTreeMap<Name, BaseContent>> {
        let mut contents = BTreeMap::new();
        let mut changed = Vec::new();
        for name in list {
            match self.content_in_tree(name)? {
                Some(content) => drop(contents.insert(name.clone(), content)),
                None => changed.push(name.clone()),
            }
        }
        contents.extend(self.copies.base_contents(&self.root, &self.manifest, &changed)?);
        Ok(contents)
    }

    fn content_in_tree(&self, name: &[u8]) -> Result<Option<BaseContent>> {
        let Some(file) = self.manifest.file(name) else { return Ok(Some(BaseContent::Absent)) };
        let content = read_content(&self.root, name)
            .map_err(|error| Problem::io("read", &names::place(&self.root, name), &error))?;
        let same = content.filter(|(identity, _)| *identity == file.identity);
        Ok(same.map(|(identity, bytes)| BaseContent::Known { mode: identity.mode, bytes }))
    }
}
