//! Opens names below a directory so that no link can lead elsewhere.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat};
use std::io;
use std::path::Path;

/// To refer to a file without opening it.
#[cfg(target_os = "linux")]
pub const HOLD: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub const HOLD: OFlags = OFlags::NONBLOCK;

/// Opens the directory that names are relative to.
pub fn open_root(root: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// Opens a directory below another; the empty name is the directory itself.
pub fn open_directory(root: impl AsFd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let name = if name.is_empty() { b"." } else { name };
    open(root, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

/// Refers to whatever has the name, without opening it: a FIFO does not block and a device does nothing.
pub fn hold(root: impl AsFd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let (folder, leaf) = split_leaf(name);
    let directory = open_directory(root, folder)?;
    let flags = HOLD | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, leaf, flags, Mode::empty())
}

/// What the system says about a name; nothing if there is none, or if a link is on the way.
pub fn stat(root: impl AsFd, name: &[u8]) -> io::Result<Option<Stat>> {
    match hold(root, name) {
        Ok(held) => Ok(Some(rustix::fs::fstat(held)?)),
        Err(error) if is_missing(error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The directory of a name, and the last part.
pub fn split_leaf(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().rposition(|byte| *byte == b'/') {
        Some(end) => (&name[..end], &name[end + 1..]),
        None => (b"", name),
    }
}

#[cfg(target_os = "linux")]
fn open(root: impl AsFd, name: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    use rustix::io::Errno;
    const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
    loop {
        // The kernel answers EAGAIN when a rename elsewhere kept it from being sure.
        match rustix::fs::openat2(&root, name, flags, Mode::empty(), RESOLVE) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            result => return result,
        }
    }
}

/// No other system can promise that without a walk of its own, and without a sandbox no cycle gets this far.
#[cfg(not(target_os = "linux"))]
fn open(_root: impl AsFd, _name: &[u8], _flags: OFlags) -> rustix::io::Result<OwnedFd> {
    Err(rustix::io::Errno::NOTSUP)
}

/// A missing name, a file where a directory should be, or a link on the way: nothing that a name could mean is there.
pub fn is_missing(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV)
}
