//! What a file is: its identity in the file system, and its content as far as git would see it.

use super::beneath;
use super::name_text;
use crate::tree::names::{self, Name};
use capsid_model::hash::hex;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, RawMode, Stat};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What the system says about a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Its number in the file system.
    pub inode: u64,
    /// Its type and permissions.
    pub mode: u32,
    /// Its length in bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds.
    pub modified: i64,
    /// When anything about it changed, in nanoseconds. A rename changes it too.
    pub changed: i64,
}

/// The mode of a file and its bytes, or the target of a link; none if there is no file.
pub type FileContent = Option<(u32, Vec<u8>)>;

/// A mode as it is recorded. Other systems than Linux have fewer bits for it.
#[allow(clippy::useless_conversion)]
fn recorded_mode(mode: RawMode) -> u32 {
    mode.into()
}

/// The type that a recorded mode names.
pub fn file_type(mode: u32) -> FileType {
    FileType::from_raw_mode(mode as RawMode)
}

/// The permissions that a recorded mode names.
pub fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o777) as RawMode)
}

impl FileIdentity {
    /// Reads it from what `stat` gave.
    pub fn from_stat(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            mode: recorded_mode(stat.st_mode),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanoseconds(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            changed: nanoseconds(stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }

    /// Reads it from what the standard library gave.
    pub fn from_metadata(meta: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            inode: meta.ino(),
            mode: meta.mode(),
            size: meta.size(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether both are the same inode with the same content, whatever name it has by now.
    pub fn is_same_file(&self, other: &Self) -> bool {
        Self { changed: 0, ..*self } == Self { changed: 0, ..*other }
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.file_type() == FileType::RegularFile
    }

    /// Whether it is a link.
    pub fn is_link(&self) -> bool {
        self.file_type() == FileType::Symlink
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.file_type() == FileType::Directory
    }

    /// Whether its owner may run it: the only permission that git records, and the only one that a change carries.
    pub fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Its type.
    pub fn file_type(&self) -> FileType {
        file_type(self.mode)
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// The content of a path as a change sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileState {
    /// There is nothing.
    Absent,
    /// A regular file.
    File {
        /// Whether its owner may run it.
        executable: bool,
        /// The SHA-256 of its bytes.
        sha256: String,
    },
    /// A link.
    Link {
        /// Where it leads.
        #[serde(with = "name_text")]
        target: Name,
    },
    /// A directory, a FIFO, a socket or a device.
    Other,
}

impl FileState {
    /// The state of a file that has these bytes.
    pub fn from_bytes(bytes: &[u8], mode: u32) -> Self {
        if file_type(mode) == FileType::Symlink {
            return Self::Link { target: bytes.to_vec() };
        }
        Self::File { executable: mode & 0o100 != 0, sha256: capsid_model::hash::sha256_hex(bytes) }
    }
}

/// A path at one moment. The descriptor holds its inode, so that the number cannot be given to another file.
#[derive(Debug)]
pub struct InspectedFile {
    /// Its content.
    pub state: FileState,
    /// What the system says about it; none if there is nothing.
    pub identity: Option<FileIdentity>,
    /// Refers to the inode without having it open for reading.
    pub held: Option<OwnedFd>,
}

/// Reads the state of one entry of a directory. Neither follows a link nor opens anything but a regular file.
pub fn inspect(directory: impl AsFd, leaf: &[u8]) -> io::Result<InspectedFile> {
    let flags = beneath::HOLD | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = match rustix::fs::openat(&directory, leaf, flags, Mode::empty()) {
        Ok(held) => held,
        Err(error) if beneath::is_missing(error) => {
            return Ok(InspectedFile { state: FileState::Absent, identity: None, held: None });
        }
        Err(error) => return Err(error.into()),
    };
    let identity = FileIdentity::from_stat(&rustix::fs::fstat(&held)?);
    let state = read_state(&held, &identity)?;
    Ok(InspectedFile { state, identity: Some(identity), held: Some(held) })
}

/// The same for a name below a directory, without following a link on the way.
pub fn inspect_beneath(root: impl AsFd, name: &[u8]) -> io::Result<InspectedFile> {
    let (folder, leaf) = beneath::split_leaf(name);
    match beneath::open_directory(root, folder) {
        Ok(directory) => inspect(directory, leaf),
        Err(error) if beneath::is_missing(error) => {
            Ok(InspectedFile { state: FileState::Absent, identity: None, held: None })
        }
        Err(error) => Err(error.into()),
    }
}

fn read_state(held: &OwnedFd, identity: &FileIdentity) -> io::Result<FileState> {
    match identity.file_type() {
        FileType::RegularFile => Ok(FileState::File {
            executable: identity.is_executable(),
            sha256: hash_reader(&mut reopen(held)?)?,
        }),
        FileType::Symlink => {
            Ok(FileState::Link { target: rustix::fs::readlinkat(held, "", Vec::new())?.into_bytes() })
        }
        _ => Ok(FileState::Other),
    }
}

/// Opens a held regular file for reading.
pub fn reopen(held: &OwnedFd) -> io::Result<File> {
    use rustix::fd::AsRawFd;
    File::open(format!("/proc/self/fd/{}", held.as_raw_fd()))
}

/// The SHA-256 of everything that a reader gives.
pub fn hash_reader(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// The bytes of a regular file, or the target of a link, below a directory; nothing if it is neither.
///
/// A file that changes while it is read is read again: identity and bytes belong together.
pub fn read_content(root: &Path, name: &[u8]) -> io::Result<Option<(FileIdentity, Vec<u8>)>> {
    let root = beneath::open_root(root)?;
    loop {
        let held = match beneath::hold(&root, name) {
            Ok(held) => held,
            Err(error) if beneath::is_missing(error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let before = FileIdentity::from_stat(&rustix::fs::fstat(&held)?);
        let Some(bytes) = read_held(&held, &before)? else { return Ok(None) };
        if FileIdentity::from_stat(&rustix::fs::fstat(&held)?) == before {
            return Ok(Some((before, bytes)));
        }
    }
}

fn read_held(held: &OwnedFd, identity: &FileIdentity) -> io::Result<Option<Vec<u8>>> {
    match identity.file_type() {
        FileType::RegularFile => {
            let mut bytes = Vec::new();
            reopen(held)?.read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }
        FileType::Symlink => Ok(Some(rustix::fs::readlinkat(held, "", Vec::new())?.into_bytes())),
        _ => Ok(None),
    }
}

/// How a person sees a name.
pub fn show_names<'a>(list: impl IntoIterator<Item = &'a Name>) -> Vec<String> {
    list.into_iter().map(|name| names::show(name)).collect()
}
