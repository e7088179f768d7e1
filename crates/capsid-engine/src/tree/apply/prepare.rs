//! Writes the new content of a file to a temporary name in its directory, complete and synced.

use super::operation::{Operation, OperationKind};
use crate::tree::names;
use crate::tree::private_tree::FileIdentity;
use crate::tree::private_tree::beneath::{self, split_leaf};
use crate::tree::private_tree::copy_file::copy_content;
use crate::tree::private_tree::file_state::{FileState, hash_reader, inspect, permissions};
use crate::tree::private_tree::freeze::copy_owner;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Access, AtFlags, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use std::fs::File;
use std::io::{self, Seek};

/// Attributes are small; a longer one is not copied.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// Writes the temporary file of an operation; returns its identity. A deletion only checks that it will be allowed.
pub(super) fn prepare(root: &OwnedFd, operation: &Operation) -> io::Result<Option<FileIdentity>> {
    if operation.kind == OperationKind::Delete {
        let (folder, _) = split_leaf(&operation.name);
        let directory = beneath::open_directory(root, folder)?;
        rustix::fs::accessat(directory, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
        return Ok(None);
    }
    let (folder, temporary) = split_leaf(&operation.temporary);
    let directory = beneath::open_directory(root, folder)?;
    let source = operation.source.as_deref().map(names::to_path);
    let like = like_stat(root, &directory, operation)?;
    match &operation.result {
        FileState::Link { target } => {
            rustix::fs::symlinkat(names::to_path(target), &directory, temporary)?;
            let (owner, group) = (Uid::from_raw(like.st_uid), Gid::from_raw(like.st_gid));
            let no_follow = AtFlags::SYMLINK_NOFOLLOW;
            // Only root may give files away.
            let _ = rustix::fs::chownat(&directory, temporary, Some(owner), Some(group), no_follow);
        }
        FileState::File { sha256, .. } => {
            let source = source.ok_or_else(|| io::Error::other("the new content has no source"))?;
            let mut source = open_source(source)?;
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = rustix::fs::openat(&directory, temporary, flags, Mode::from_raw_mode(0o600))?;
            let mut file = File::from(file);
            copy_content(&mut source, &mut file)?;
            file.rewind()?;
            if hash_reader(&mut file)? != *sha256 {
                return Err(io::Error::other("the change layer is damaged"));
            }
            let file = OwnedFd::from(file);
            copy_owner(&file, &like);
            copy_attributes(root, operation, &source, &file);
            rustix::fs::fchmod(&file, permissions(operation.mode))?;
            rustix::fs::fsync(&file)?;
        }
        FileState::Absent | FileState::Other => {
            return Err(io::Error::other("there is nothing to write"));
        }
    }
    Ok(inspect(&directory, temporary)?.identity)
}

/// Removes the temporary file of an operation that was not begun.
pub(super) fn remove_temporary(root: &OwnedFd, operation: &Operation) -> io::Result<()> {
    let (folder, temporary) = split_leaf(&operation.temporary);
    let Ok(directory) = beneath::open_directory(root, folder) else { return Ok(()) };
    match rustix::fs::unlinkat(directory, temporary, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn open_source(path: &std::path::Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("the new content is not a file")),
    }
}

/// Whose owner the new file gets: that of the file which it replaces, else that of its directory.
fn like_stat(root: &OwnedFd, directory: &OwnedFd, operation: &Operation) -> io::Result<Stat> {
    if operation.kind == OperationKind::Change
        && let Some(stat) = beneath::stat(root, &operation.name)?
    {
        return Ok(stat);
    }
    let mut stat = rustix::fs::fstat(directory)?;
    // The group of a new file is what the system makes it: a directory says so with its setgid bit.
    if stat.st_mode & 0o2000 == 0 && !rustix::process::geteuid().is_root() {
        stat.st_gid = rustix::process::getegid().as_raw();
    }
    Ok(stat)
}

/// Copies the access list and the user's attributes of the replaced file. A file system without them is no failure.
fn copy_attributes(root: &OwnedFd, operation: &Operation, source: &File, target: &OwnedFd) {
    if operation.attributes_from_source {
        return copy_attributes_from(source.as_fd(), target);
    }
    if operation.kind != OperationKind::Change {
        return;
    }
    let Ok(held) = beneath::hold(root, &operation.name) else { return };
    // Attributes cannot be read from a descriptor that only refers to a file.
    if let Ok(old) = crate::tree::private_tree::file_state::reopen(&held) {
        copy_attributes_from(old.as_fd(), target);
    }
}

fn copy_attributes_from(source: rustix::fd::BorrowedFd<'_>, target: &OwnedFd) {
    let mut list = vec![0; MAX_ATTRIBUTE];
    let Ok(length) = rustix::fs::flistxattr(source, &mut list[..]) else { return };
    let mut value = vec![0; MAX_ATTRIBUTE];
    for name in names::split(&list[..length]) {
        if !name.starts_with(b"user.") && name != b"system.posix_acl_access" {
            continue;
        }
        if let Ok(length) = rustix::fs::fgetxattr(source, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(target, name, &value[..length], XattrFlags::empty());
        }
    }
}
