//! Looks through folders: bounded, and without following links.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Entries of a folder tree that are looked at.
const MAX_ENTRIES: usize = 50_000;

/// The files below a folder, no deeper than `depth` levels, whose names are accepted; in the order of their paths.
pub(crate) fn files(root: &Path, depth: usize, accept: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut open = vec![(root.to_owned(), 1)];
    let mut seen = 0;
    while let Some((folder, level)) = open.pop() {
        for (path, is_folder) in entries(&folder) {
            seen += 1;
            if seen > MAX_ENTRIES {
                break;
            }
            if is_folder && level < depth {
                open.push((path, level + 1));
            } else if !is_folder && accept(&name_of(&path)) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}

/// The folders in a folder, in the order of their names.
pub(crate) fn folders(root: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        entries(root).take(MAX_ENTRIES).filter_map(|(path, is_folder)| is_folder.then_some(path)).collect();
    paths.sort();
    paths
}

/// When a file or folder was last changed, in milliseconds since 1970.
pub(crate) fn modified(path: &Path) -> Option<i64> {
    let modified = path.metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

/// The name of a file or folder.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files and folders in a folder, and which of them are folders. Links and devices are neither.
fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, bool)> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let kind = entry.file_type().ok()?;
        (kind.is_dir() || kind.is_file()).then(|| (entry.path(), kind.is_dir()))
    })
}
