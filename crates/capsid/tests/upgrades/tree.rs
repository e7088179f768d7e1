//! Folders as `story/tree.py` stores them: a leading dot is written `dot-`, and `MODES` lists everything with its
//! permissions, because git keeps neither these nor empty folders.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Copies a stored folder to a place where it may be changed.
pub fn restore(stored: &Path, target: &Path) {
    std::fs::create_dir_all(target).unwrap();
    let modes = std::fs::read_to_string(stored.join("MODES")).unwrap();
    let mut folders = Vec::new();
    for line in modes.lines() {
        let [mode, kind, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (mode, path) = (u32::from_str_radix(mode, 8).unwrap(), target.join(name));
        if kind == "folder" {
            std::fs::create_dir_all(&path).unwrap();
            folders.push((path, mode));
        } else {
            let from = stored.join(stored_name(name));
            std::fs::copy(&from, &path).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
            set_mode(&path, mode);
        }
    }
    for (path, mode) in folders {
        set_mode(&path, mode);
    }
}

/// Copies a file with permissions of its own.
pub fn copy_private(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
    set_mode(to, 0o600);
}

/// Every file below a folder with its content, by its path.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn stored_name(name: &str) -> PathBuf {
    let part = |part: &str| part.strip_prefix('.').map_or(part.to_owned(), |rest| format!("dot-{rest}"));
    name.split('/').map(part).collect()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
