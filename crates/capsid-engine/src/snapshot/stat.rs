//! What the system tells of a file without reading it.

use std::fs::Metadata;
use std::io;
use std::path::Path;

/// Two equal ones of the same path mean that nobody wrote the file in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its length in bytes.
    pub len: u64,
    /// Its number in the file system.
    pub inode: u64,
    /// When its content changed, in nanoseconds.
    pub modified: i64,
    /// When anything about it changed, which no program can set, in nanoseconds.
    pub changed: i64,
}

impl Stat {
    /// Asks about a regular file; a link or a folder in its place counts as nothing.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(meta) if meta.is_file() => Ok(Some(Self::read(&meta))),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[cfg(unix)]
    fn read(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            len: meta.len(),
            inode: meta.ino(),
            modified: meta.mtime() * 1_000_000_000 + meta.mtime_nsec(),
            changed: meta.ctime() * 1_000_000_000 + meta.ctime_nsec(),
        }
    }

    #[cfg(not(unix))]
    fn read(meta: &Metadata) -> Self {
        let modified = meta.modified().ok();
        let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        Self {
            len: meta.len(),
            inode: 0,
            modified: since.map_or(0, |since| since.as_nanos() as i64),
            changed: 0,
        }
    }
}
