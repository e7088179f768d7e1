//! Which files of a folder changed, found without reading them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How many files are looked at, and how deep folders are walked.
const MAX_FILES: usize = 200_000;
const MAX_DEPTH: usize = 100;

/// A number of the file and the time of its last change, which only the kernel sets.
type FileStamp = (u64, i64, i64);

/// The files and links of a folder at one moment, by their names in it.
#[derive(Debug, Default)]
pub struct FileStamps(BTreeMap<PathBuf, FileStamp>);

impl FileStamps {
    pub fn record(folder: &Path) -> Self {
        let mut stamps = Self::default();
        stamps.add(folder, Path::new(""), 0);
        stamps
    }

    fn add(&mut self, folder: &Path, inside: &Path, depth: usize) {
        for entry in fs::read_dir(folder.join(inside)).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            let name = inside.join(entry.file_name());
            if self.0.len() >= MAX_FILES {
                return;
            }
            if !meta.is_dir() {
                self.0.insert(name, (meta.ino(), meta.ctime(), meta.ctime_nsec()));
            } else if depth < MAX_DEPTH {
                self.add(folder, &name, depth + 1);
            }
        }
    }

    /// Whether a file is another one than it was in `before`.
    pub fn is_changed(&self, before: &Self, inside: &Path) -> bool {
        self.0.get(inside) != before.0.get(inside)
    }

    /// The files that are new, changed or gone since `before`, sorted.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> Vec<&'a Path> {
        // Where not all files were looked at, one that was not seen may still be there.
        let gone = before.0.keys().filter(|name| self.0.len() < MAX_FILES && !self.0.contains_key(*name));
        let changed = self.0.keys().filter(|name| self.is_changed(before, name));
        let mut all: Vec<&Path> = changed.chain(gone).map(PathBuf::as_path).collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_changed_and_removed_files_are_found_and_others_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        for name in ["same", "changed", "sub/gone"] {
            fs::write(path(name), "old").unwrap();
        }
        std::os::unix::fs::symlink("same", path("link")).unwrap();
        let before = FileStamps::record(folder.path());
        fs::remove_file(path("changed")).unwrap();
        fs::write(path("changed"), "new").unwrap();
        fs::write(path("sub/new"), "").unwrap();
        fs::remove_file(path("sub/gone")).unwrap();
        fs::read(path("same")).unwrap();
        let after = FileStamps::record(folder.path());
        let expected = ["changed", "sub/gone", "sub/new"].map(Path::new);
        assert_eq!(after.changed_since(&before), expected);
        assert!(after.is_changed(&before, Path::new("changed")));
        assert!(!after.is_changed(&before, Path::new("same")));
    }
}
