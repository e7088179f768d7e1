//! Folders of write layers, when they are no longer needed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How deep folders are opened. The programs that wrote them are gone, so nobody makes them deeper meanwhile.
const MAX_DEPTH: usize = 500;

/// Removes a folder with write layers in it. Programs, and the kernel itself, leave folders in it that their owner may not enter.
pub fn remove_layer(layer: &Path) {
    if fs::remove_dir_all(layer).is_ok() || fs::symlink_metadata(layer).is_err() {
        return;
    }
    open_folders(layer, 0);
    // What is still there is in the way of the next run, which then says so.
    let _ = fs::remove_dir_all(layer);
}

fn open_folders(folder: &Path, depth: usize) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if depth < MAX_DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_folders(&entry.path(), depth + 1);
        }
    }
}
