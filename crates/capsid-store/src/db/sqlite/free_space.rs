//! How much room the disk of the database has. Writing stops before it is full, so that what was begun can be finished and
//! the log and the operator have some room left.

use capsid_model::problem::{Code, Problem, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer of the system is believed.
const BELIEVED: Duration = Duration::from_millis(500);

/// The free space of one disk.
pub struct FreeSpace {
    folder: PathBuf,
    least: u64,
    last: Mutex<Option<(Instant, bool)>>,
}

impl FreeSpace {
    /// Watches the disk of a file. Nothing is checked where the least is 0.
    pub fn new(file: &Path, least: u64) -> Self {
        let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
        Self { folder, least, last: Mutex::new(None) }
    }

    /// Refuses a write while there is too little room.
    pub fn check(&self) -> Result<()> {
        if self.least == 0 || self.has_room() {
            return Ok(());
        }
        let least = self.least;
        Err(Problem::new(
            Code::DiskFull,
            format!("Less than {least} bytes are free on the disk of the database."),
        )
        .fix("Free some space, or change limits.min_free_bytes; nothing that was acknowledged is lost."))
    }

    fn has_room(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((at, has_room)) if at.elapsed() < BELIEVED => has_room,
            _ => {
                // A system that does not say is no reason to stop.
                let has_room = free_bytes(&self.folder).is_none_or(|free| free >= self.least);
                *last = Some((Instant::now(), has_room));
                has_room
            }
        }
    }
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_refused_while_less_than_the_least_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hub.db");
        assert!(FreeSpace::new(&file, 0).check().is_ok());
        assert!(FreeSpace::new(&file, 1).check().is_ok());
        let problem = FreeSpace::new(&file, u64::MAX).check().unwrap_err();
        assert_eq!(problem.code, Code::DiskFull);
        assert!(FreeSpace::new(Path::new("/nowhere/hub.db"), u64::MAX).check().is_ok());
    }
}
