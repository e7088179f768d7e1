//! Copies of the settings of agents, so that they can be written to. What is large is linked instead.

use capsid_model::{Problem, Result};
use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

/// The largest file that is copied, of the settings of agents and of the home itself.
pub const MAX_SETTINGS_FILE: u64 = 8 << 20;
pub const MAX_HOME_FILE: u64 = 1 << 20;
/// How much is copied and laid down in all.
const MAX_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 20_000;

/// What may still be laid down.
#[derive(Debug)]
pub struct CopyBudget {
    bytes: u64,
    files: usize,
}

impl Default for CopyBudget {
    fn default() -> Self {
        Self { bytes: MAX_BYTES, files: MAX_FILES }
    }
}

impl CopyBudget {
    /// The entries of a folder, sorted by name, if that many may still be laid down.
    pub fn read_folder(&mut self, folder: &Path) -> Option<Vec<fs::DirEntry>> {
        let entries = fs::read_dir(folder).ok()?.flatten();
        let mut entries: Vec<fs::DirEntry> = entries.take(self.files.saturating_add(1)).collect();
        self.files = self.files.checked_sub(entries.len())?;
        entries.sort_by_key(fs::DirEntry::file_name);
        Some(entries)
    }

    /// Copies a file with its mode and time, or links it if it is larger than `most`, does not fit or cannot be read.
    pub fn copy_or_link(&mut self, real: &Path, to: &Path, most: u64) -> Result<()> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(real);
        let file = opened.and_then(|file| file.metadata().map(|meta| (file, meta)));
        match file {
            Ok((file, meta)) if meta.is_file() && meta.len() <= most.min(self.bytes) => {
                self.bytes -= meta.len();
                copy_file(file, &meta, to).map_err(|error| Problem::io("write", to, &error))
            }
            _ => link(real, to),
        }
    }
}

fn copy_file(from: File, meta: &fs::Metadata, to: &Path) -> io::Result<()> {
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut from.take(meta.len()), &mut copy)?;
    copy.set_permissions(fs::Permissions::from_mode(meta.mode() & 0o777))?;
    copy.set_modified(meta.modified()?)
}

pub fn link(real: &Path, to: &Path) -> Result<()> {
    symlink(real, to).map_err(|error| Problem::io("link", to, &error))
}

pub fn make_folder(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| Problem::io("make", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_fit_and_one_that_is_too_large_are_linked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["first", "second", "small"] {
            fs::write(path(name), vec![b'x'; if name == "small" { 10 } else { 600 }]).unwrap();
        }
        fs::set_permissions(path("first"), fs::Permissions::from_mode(0o640)).unwrap();
        let mut budget = CopyBudget { bytes: 1000, files: 9 };
        for (name, most) in [("first", 1000), ("second", 1000), ("small", 5)] {
            budget.copy_or_link(&path(name), &path(&format!("{name}.copy")), most).unwrap();
        }
        let copy = fs::symlink_metadata(path("first.copy")).unwrap();
        assert!(copy.is_file() && copy.mode() & 0o777 == 0o640 && copy.len() == 600);
        assert_eq!(copy.modified().unwrap(), fs::metadata(path("first")).unwrap().modified().unwrap());
        assert_eq!(fs::read_link(path("second.copy")).unwrap(), path("second"));
        assert_eq!(fs::read_link(path("small.copy")).unwrap(), path("small"));
    }

    #[test]
    fn a_folder_with_more_entries_than_are_left_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        assert!(CopyBudget { bytes: 0, files: 4 }.read_folder(folder.path()).is_none());
        let mut budget = CopyBudget { bytes: 0, files: 6 };
        assert_eq!(budget.read_folder(folder.path()).unwrap().len(), 5);
        assert!(budget.read_folder(folder.path()).is_none());
    }
}
