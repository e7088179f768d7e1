//! How many bytes and files a program has written, counted by walking what it wrote.
//!
//! The launcher walks, because it may enter folders that the program has closed for its user.

use super::sys::{AtStep, SetupResult};
use crate::system::plan::DiskLimit;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstatvfs, open, openat, statat};
use std::ops::AddAssign;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A program that leaves less than this on the disk is stopped whatever its limit is; on a small disk, less than a tenth.
const FREE_BYTES: u64 = 1 << 30;
/// Folders that are nested deeper are taken for an attempt to hide from the count.
const MAX_DEPTH: usize = 500;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folders that are counted.
pub struct DiskWatch {
    folders: Vec<WatchedFolder>,
    max_bytes: u64,
}

struct WatchedFolder {
    folder: OwnedFd,
    max_files: u64,
}

/// What is below a folder.
#[derive(Debug, Clone, Copy, Default)]
struct DiskUsage {
    bytes: u64,
    files: u64,
}

impl AddAssign for DiskUsage {
    fn add_assign(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.files = self.files.saturating_add(other.files);
    }
}

/// How much of a limit is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskState {
    /// The next walk can wait.
    Low,
    /// A quarter or more.
    High,
    Exceeded,
}

impl DiskWatch {
    /// The shortest time between two walks.
    pub const INTERVAL: Duration = Duration::from_millis(250);

    /// What is in the folders now does not count.
    pub fn open(limit: &DiskLimit) -> SetupResult<Self> {
        let (mut folders, mut max_bytes) = (Vec::new(), limit.bytes);
        for counted in &limit.folders {
            let folder = open(counted.path.as_path(), FOLDER, Mode::empty()).step("disk limit")?;
            let before = count_usage(&folder, 0).unwrap_or_default();
            max_bytes = max_bytes.saturating_add(before.bytes);
            let max_files = before.files.saturating_add(counted.files);
            folders.push(WatchedFolder { folder, max_files });
        }
        Ok(Self { folders, max_bytes })
    }

    pub fn measure(&self) -> DiskState {
        let (mut bytes, mut state) = (0_u64, DiskState::Low);
        for WatchedFolder { folder, max_files } in &self.folders {
            if fstatvfs(folder).is_ok_and(|disk| {
                let needed = FREE_BYTES.min(disk.f_blocks.saturating_mul(disk.f_frsize) / 10);
                disk.f_bavail.saturating_mul(disk.f_frsize) < needed
            }) {
                return DiskState::Exceeded;
            }
            let Some(usage) = count_usage(folder, 0) else { return DiskState::Exceeded };
            bytes = bytes.saturating_add(usage.bytes);
            match usage.files {
                files if files > *max_files => return DiskState::Exceeded,
                files if files > max_files / 4 => state = DiskState::High,
                _ => {}
            }
        }
        match bytes {
            bytes if bytes > self.max_bytes => DiskState::Exceeded,
            bytes if bytes > self.max_bytes / 4 => DiskState::High,
            _ => state,
        }
    }

    /// How long to wait after a walk: never so short that walking takes most of a processor.
    pub fn pause(state: DiskState, walk: Duration) -> Duration {
        let factor = if state == DiskState::Low { 20 } else { 2 };
        Self::INTERVAL.max(walk * factor)
    }
}

/// What is below a folder; nothing if it is nested too deep to be counted.
fn count_usage(folder: &OwnedFd, depth: usize) -> Option<DiskUsage> {
    if depth > MAX_DEPTH {
        return None;
    }
    let Ok(entries) = Dir::read_from(folder) else {
        return Some(DiskUsage::default());
    };
    let mut total = DiskUsage::default();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // What is gone in the meantime takes no room.
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let bytes = u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512);
        total += DiskUsage { bytes, files: 1 };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory
            && let Ok(inner) = openat(folder, name, FOLDER, Mode::empty())
        {
            total += count_usage(&inner, depth + 1)?;
        }
    }
    Some(total)
}
