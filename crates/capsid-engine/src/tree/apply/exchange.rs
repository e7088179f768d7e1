//! The operations on single files. Each looks at both names first, so that it can be repeated after a kill, and none
//! destroys anything that it did not write itself.

use super::operation::{Operation, OperationKind};
use crate::tree::names::{self, Name};
use crate::tree::private_tree::FileIdentity;
use crate::tree::private_tree::beneath::{self, split_leaf};
use crate::tree::private_tree::copy_file::copy_content;
use crate::tree::private_tree::file_state::{FileState, InspectedFile, inspect, reopen};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;

/// What became of one operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileResult {
    /// The path has the change.
    Applied,
    /// Somebody else's file is there, and stays.
    Left(&'static str),
}

const EDITED: &str = "was changed in the meantime and stays as it is";
const DELETED: &str = "was deleted in the meantime and stays deleted";
const BLOCKED: &str = "cannot be created, because something else is at its path";

/// Somebody who saves faster than this for ever is not waited for.
const MAX_EXCHANGES: usize = 10_000;

/// Executes operations in one tree.
pub(super) struct Exchange {
    pub(super) root: OwnedFd,
    /// Where replaced files go.
    pub(super) replaced: OwnedFd,
    /// Directories of the tree that have to be synced.
    pub(super) touched: BTreeSet<Name>,
}

impl Exchange {
    /// Does an operation, or finishes one that was begun.
    pub(super) fn execute(&mut self, operation: &Operation) -> io::Result<FileResult> {
        for name in [&operation.name, &operation.temporary] {
            self.touched.insert(split_leaf(name).0.to_vec());
        }
        match operation.kind {
            OperationKind::Change => self.change(operation),
            OperationKind::Create => self.create(operation),
            OperationKind::Delete => self.delete(operation),
        }
    }

    fn change(&self, operation: &Operation) -> io::Result<FileResult> {
        let (folder, leaf) = split_leaf(&operation.name);
        let (_, temporary) = split_leaf(&operation.temporary);
        let directory = beneath::open_directory(&self.root, folder)?;
        let (Some(expected), Some(new)) = (&operation.expected, &operation.prepared) else {
            return Ok(FileResult::Left(EDITED));
        };
        let mut out = inspect(&directory, temporary)?;
        if out.identity.is_none() {
            let now = inspect(&directory, leaf)?;
            let done = self.is_replaced(operation)? || is_prepared(&now, new);
            return Ok(if done { FileResult::Applied } else { FileResult::Left(EDITED) });
        }
        if is_prepared(&out, new) {
            let now = inspect(&directory, leaf)?;
            if !expected.is_met_by(&now) {
                unlink(&directory, temporary)?;
                return Ok(FileResult::Left(if now.identity.is_none() { DELETED } else { EDITED }));
            }
            match rustix::fs::renameat_with(&directory, temporary, &directory, leaf, RenameFlags::EXCHANGE) {
                Ok(()) => {}
                Err(Errno::NOENT) => {
                    unlink(&directory, temporary)?;
                    return Ok(FileResult::Left(DELETED));
                }
                Err(error) => return Err(error.into()),
            }
            // `now` holds the inode until here, so that its number cannot mean another file.
            out = inspect(&directory, temporary)?;
            drop(now);
        }
        if expected.is_met_by(&out) {
            self.move_to_replaced(&directory, temporary, &operation.replaced)?;
            return Ok(FileResult::Applied);
        }
        self.put_back(operation, &directory, out)
    }

    /// Somebody saved the file in the instant before the exchange. Exchanges back until what comes out is older than
    /// what went in. Every inode seen stays held: a freed number is given to the next file at once.
    fn put_back(
        &self,
        operation: &Operation,
        directory: &OwnedFd,
        mut out: InspectedFile,
    ) -> io::Result<FileResult> {
        let (_, leaf) = split_leaf(&operation.name);
        let (_, temporary) = split_leaf(&operation.temporary);
        let ours = inspect(directory, leaf)?;
        let is_ours = |file: &InspectedFile| operation.prepared.is_some_and(|new| is_prepared(file, &new));
        let mut older: Vec<InspectedFile> = Vec::new();
        for _ in 0..MAX_EXCHANGES {
            match rustix::fs::renameat_with(directory, temporary, directory, leaf, RenameFlags::EXCHANGE) {
                Ok(()) => {}
                Err(Errno::NOENT) => {
                    // Somebody deleted the path meanwhile. The edit that was saved before is worth more.
                    let flags = RenameFlags::NOREPLACE;
                    match rustix::fs::renameat_with(directory, temporary, directory, leaf, flags) {
                        Ok(()) => return Ok(FileResult::Left(EDITED)),
                        Err(Errno::EXIST) => continue,
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error.into()),
            }
            let next = inspect(directory, temporary)?;
            if is_ours(&next) {
                // It was at its path for a moment, so that somebody may have it open.
                self.move_to_replaced(directory, temporary, &format!("{}.unused", operation.replaced))?;
                return Ok(FileResult::Left(EDITED));
            }
            let is_known = older.iter().any(|known| match (known.identity, next.identity) {
                (Some(known), Some(next)) => known.is_same_file(&next),
                _ => false,
            });
            if is_known {
                // An edit that its own author replaced by a newer one.
                self.move_to_replaced(directory, temporary, &older_name(operation))?;
                return Ok(FileResult::Left(EDITED));
            }
            older.push(std::mem::replace(&mut out, next));
        }
        drop(ours);
        self.move_to_replaced(directory, temporary, &older_name(operation))?;
        Ok(FileResult::Left(EDITED))
    }

    fn create(&mut self, operation: &Operation) -> io::Result<FileResult> {
        let (folder, leaf) = split_leaf(&operation.name);
        let (above, temporary) = split_leaf(&operation.temporary);
        let start = beneath::open_directory(&self.root, above)?;
        let Some(new) = &operation.prepared else { return Ok(FileResult::Left(EDITED)) };
        if inspect(&start, temporary)?.identity.is_none() {
            let now = match beneath::open_directory(&self.root, folder) {
                Ok(directory) => inspect(directory, leaf)?,
                Err(_) => return Ok(FileResult::Left(DELETED)),
            };
            return Ok(match is_prepared(&now, new) || now.state == operation.result {
                true => FileResult::Applied,
                false => FileResult::Left(EDITED),
            });
        }
        let Some(directory) = self.create_directories(folder)? else {
            unlink(&start, temporary)?;
            return Ok(FileResult::Left(BLOCKED));
        };
        for attempt in 0..2 {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&start, temporary, &directory, leaf, flags) {
                Ok(()) => return Ok(FileResult::Applied),
                Err(Errno::EXIST) if attempt == 0 => remove_empty_directories(&directory, leaf),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let now = inspect(&directory, leaf)?;
        unlink(&start, temporary)?;
        Ok(match now.state {
            state if state == operation.result => FileResult::Applied,
            FileState::Other => FileResult::Left(BLOCKED),
            _ => FileResult::Left(EDITED),
        })
    }

    fn delete(&mut self, operation: &Operation) -> io::Result<FileResult> {
        let (folder, leaf) = split_leaf(&operation.name);
        let (_, temporary) = split_leaf(&operation.temporary);
        let Some(expected) = &operation.expected else { return Ok(FileResult::Left(EDITED)) };
        let directory = match beneath::open_directory(&self.root, folder) {
            Ok(directory) => directory,
            Err(error) if beneath::is_missing(error) => {
                return Ok(FileResult::Applied);
            }
            Err(error) => return Err(error.into()),
        };
        let mut held = Vec::new();
        if inspect(&directory, temporary)?.identity.is_none() {
            let now = inspect(&directory, leaf)?;
            if now.identity.is_none() {
                self.remove_emptied(folder)?;
                return Ok(FileResult::Applied);
            }
            if !expected.is_met_by(&now) {
                return Ok(FileResult::Left(EDITED));
            }
            match rustix::fs::renameat_with(&directory, leaf, &directory, temporary, RenameFlags::NOREPLACE) {
                Ok(()) => held.push(now),
                Err(Errno::NOENT) => return Ok(FileResult::Applied),
                Err(error) => return Err(error.into()),
            }
        }
        let out = inspect(&directory, temporary)?;
        if expected.is_met_by(&out) {
            self.move_to_replaced(&directory, temporary, &operation.replaced)?;
            // On another file system it is still here, and would be in the way of its directory's removal.
            self.copy_remaining(operation)?;
            self.remove_emptied(folder)?;
            return Ok(FileResult::Applied);
        }
        match rustix::fs::renameat_with(&directory, temporary, &directory, leaf, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            // Saved once more: what was moved away is the older edit.
            Err(Errno::EXIST) => self.move_to_replaced(&directory, temporary, &older_name(operation))?,
            Err(error) => return Err(error.into()),
        }
        Ok(FileResult::Left(EDITED))
    }

    /// Makes the directories of a new file; nothing if something else is in the way.
    fn create_directories(&mut self, folder: &[u8]) -> io::Result<Option<OwnedFd>> {
        let mut all: Vec<&[u8]> = names::folders(folder).collect();
        all.reverse();
        for name in all.into_iter().chain((!folder.is_empty()).then_some(folder)) {
            let (above, leaf) = split_leaf(name);
            let Ok(above_directory) = beneath::open_directory(&self.root, above) else { return Ok(None) };
            match rustix::fs::mkdirat(&above_directory, leaf, Mode::from_raw_mode(0o777)) {
                Ok(()) => {
                    self.touched.insert(above.to_vec());
                    self.touched.insert(name.to_vec());
                    let made = beneath::open_directory(&above_directory, leaf)?;
                    if rustix::process::geteuid().is_root() {
                        let like = rustix::fs::fstat(&above_directory)?;
                        crate::tree::private_tree::freeze::copy_owner(&made, &like);
                    }
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(beneath::open_directory(&self.root, folder).ok())
    }

    /// Removes directories that have nothing left in them, from the nearest upwards.
    fn remove_emptied(&mut self, folder: &[u8]) -> io::Result<()> {
        for name in std::iter::once(folder).chain(names::folders(folder)).filter(|name| !name.is_empty()) {
            let (above, leaf) = split_leaf(name);
            let Ok(above_directory) = beneath::open_directory(&self.root, above) else { continue };
            match rustix::fs::unlinkat(above_directory, leaf, AtFlags::REMOVEDIR) {
                Ok(()) => drop(self.touched.insert(above.to_vec())),
                Err(Errno::NOENT) => {}
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn is_replaced(&self, operation: &Operation) -> io::Result<bool> {
        Ok(inspect(&self.replaced, operation.replaced.as_bytes())?.identity.is_some())
    }

    /// Moves a file out of the tree. On another file system it waits at its temporary name for
    /// [`Exchange::copy_remaining`].
    fn move_to_replaced(&self, directory: &OwnedFd, temporary: &[u8], name: &str) -> io::Result<()> {
        for attempt in 0_u32.. {
            let name = numbered(name, attempt);
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(directory, temporary, &self.replaced, &name, flags) {
                Ok(()) | Err(Errno::XDEV) => return Ok(()),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Copies what could not be moved, compares it once more, and removes it from the tree.
    pub(super) fn copy_remaining(&self, operation: &Operation) -> io::Result<()> {
        let (folder, temporary) = split_leaf(&operation.temporary);
        let Ok(directory) = beneath::open_directory(&self.root, folder) else { return Ok(()) };
        let file = inspect(&directory, temporary)?;
        let (Some(held), Some(identity)) = (&file.held, &file.identity) else { return Ok(()) };
        let is_base = operation.expected.as_ref().is_some_and(|old| old.identity.inode == identity.inode);
        let saved = if is_base { operation.replaced.clone() } else { older_name(operation) };
        for attempt in 0_u32.. {
            let name = numbered(&saved, attempt);
            if self.copy_to_replaced(held, &file, &name)? {
                break;
            }
        }
        let now = inspect(&directory, temporary)?;
        // Written to in between: it is copied again when the journal is rolled forward.
        if now.state == file.state {
            unlink(&directory, temporary)?;
        }
        Ok(())
    }

    /// Returns false if the name is in use by other content.
    fn copy_to_replaced(&self, held: &OwnedFd, file: &InspectedFile, name: &str) -> io::Result<bool> {
        let old = inspect(&self.replaced, name.as_bytes())?;
        if old.identity.is_some() {
            return Ok(old.state == file.state);
        }
        if let FileState::Link { target } = &file.state {
            rustix::fs::symlinkat(names::to_path(target), &self.replaced, name)?;
            return Ok(true);
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let partial = format!("{name}.part");
        let copy = rustix::fs::openat(&self.replaced, &partial, flags, Mode::from_raw_mode(0o600))?;
        let mut copy = File::from(copy);
        copy_content(&mut reopen(held)?, &mut copy)?;
        let stat = rustix::fs::fstat(held)?;
        let copy = OwnedFd::from(copy);
        crate::tree::private_tree::freeze::copy_owner(&copy, &stat);
        rustix::fs::fchmod(&copy, Mode::from_raw_mode(stat.st_mode & 0o777))?;
        rustix::fs::fsync(&copy)?;
        rustix::fs::renameat(&self.replaced, &partial, &self.replaced, name)?;
        Ok(true)
    }

    /// Makes the operations durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        for name in &self.touched {
            if let Ok(directory) = beneath::open_directory(&self.root, name) {
                rustix::fs::fsync(directory)?;
            }
        }
        Ok(rustix::fs::fsync(&self.replaced)?)
    }
}

/// Where an edit goes that its own author replaced by a newer one.
fn older_name(operation: &Operation) -> String {
    format!("{}.older", operation.replaced)
}

fn numbered(name: &str, attempt: u32) -> String {
    if attempt == 0 { name.to_owned() } else { format!("{name}.{attempt}") }
}

/// Whether a file is the one that was prepared, and nobody wrote to it.
fn is_prepared(file: &InspectedFile, new: &FileIdentity) -> bool {
    file.identity.is_some_and(|identity| identity.is_same_file(new))
}

fn unlink(directory: &OwnedFd, leaf: &[u8]) -> io::Result<()> {
    match rustix::fs::unlinkat(directory, leaf, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes a directory that holds nothing but directories. Anything else stays, and so do those above it.
fn remove_empty_directories(directory: &OwnedFd, leaf: &[u8]) {
    if let Ok(inner) = beneath::open_directory(directory, leaf)
        && let Ok(entries) = rustix::fs::Dir::read_from(&inner)
    {
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                remove_empty_directories(&inner, name);
            }
        }
    }
    // It fails where something is left, which is what keeps that something.
    let _ = rustix::fs::unlinkat(directory, leaf, AtFlags::REMOVEDIR);
}
