//! How much a program has written, counted by walking what it wrote.
//!
//! The launcher walks, because it may enter folders that the program has closed for its user.

use super::plan::DiskLimit;
use super::sys::{AtStep, SetupResult};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstatvfs, open, openat, statat};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A program that leaves less than this on the disk is stopped whatever its limit is; on a small disk, less than a tenth.
const FREE_BYTES: u64 = 1 << 30;
/// Folders that are nested deeper are taken for an attempt to hide from the count.
const MAX_DEPTH: usize = 500;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folders that are counted.
pub struct DiskWatch {
    folders: Vec<OwnedFd>,
    limit: u64,
}

impl DiskWatch {
    /// The shortest time between two walks.
    pub const INTERVAL: Duration = Duration::from_millis(250);

    /// What is in the folders now does not count.
    pub fn open(limit: &DiskLimit) -> SetupResult<Self> {
        let mut folders = Vec::new();
        for folder in &limit.folders {
            folders.push(open(folder.as_path(), FOLDER, Mode::empty()).step("disk limit")?);
        }
        let before: u64 = folders.iter().filter_map(|folder| used(folder, 0)).sum();
        Ok(Self { folders, limit: before.saturating_add(limit.bytes) })
    }

    pub fn is_exceeded(&self) -> bool {
        let mut total: u64 = 0;
        for folder in &self.folders {
            if fstatvfs(folder).is_ok_and(|disk| {
                let needed = FREE_BYTES.min(disk.f_blocks.saturating_mul(disk.f_frsize) / 10);
                disk.f_bavail.saturating_mul(disk.f_frsize) < needed
            }) {
                return true;
            }
            match used(folder, 0) {
                Some(bytes) => total = total.saturating_add(bytes),
                None => return true,
            }
        }
        total > self.limit
    }
}

/// The bytes below a folder; nothing if it is nested too deep to be counted.
fn used(folder: &OwnedFd, depth: usize) -> Option<u64> {
    if depth > MAX_DEPTH {
        return None;
    }
    let Ok(entries) = Dir::read_from(folder) else {
        return Some(0);
    };
    let mut total: u64 = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // What is gone in the meantime takes no room.
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        total = total.saturating_add(u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512));
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory
            && let Ok(inner) = openat(folder, name, FOLDER, Mode::empty())
        {
            total = total.saturating_add(used(&inner, depth + 1)?);
        }
    }
    Some(total)
}
