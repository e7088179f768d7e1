//! Walks a tree once, with `lstat` and without following links, and leaves out what the rules ignore.

use super::beneath::split_leaf;
use super::file_state::FileIdentity;
use super::rules::BaseRules;
use crate::tree::names::{self, Name};
use capsid_model::{Problem, Result};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a walk reads the ignore rules that it meets, or uses those that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleSource {
    /// Those of the tree, which become the base's.
    Tree,
    /// The base's.
    Base,
}

/// What a walk meets.
pub(super) enum WalkEntry {
    /// A regular file or a link that is not ignored.
    File(FileIdentity),
    /// A FIFO, a socket or a device that is not ignored.
    Special(FileIdentity),
    /// A `.git` below the top.
    GitDirectory,
    /// A file or a directory that a rule matches. Nothing below it is visited.
    Ignored,
}

/// Calls `visit` for everything below `start`, in no particular order.
pub(super) fn walk(
    root: &Path,
    start: &[u8],
    rules: &mut BaseRules,
    source: RuleSource,
    visit: &mut dyn FnMut(Name, WalkEntry) -> Result<()>,
) -> Result<()> {
    let mut todo: Vec<Name> = vec![start.to_vec()];
    while let Some(directory) = todo.pop() {
        let path = names::place(root, &directory);
        let entries = match read_entries(&path) {
            Ok(entries) => entries,
            // It vanished meanwhile, or this user may not read it: git, too, goes on without it.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                continue;
            }
            Err(error) => return Err(Problem::io("read", &path, &error)),
        };
        if source == RuleSource::Tree {
            let has = |wanted: &str| entries.iter().any(|entry| entry.file_name() == wanted);
            rules.add_directory(
                &path,
                &directory,
                has(".gitignore"),
                !directory.is_empty() && has(".git"),
            )?;
        }
        let matcher = rules.for_directory(&directory);
        for entry in entries {
            let leaf = entry.file_name();
            let name = names::below(&directory, leaf.as_bytes());
            if leaf == ".git" {
                if !directory.is_empty() {
                    visit(name, WalkEntry::GitDirectory)?;
                }
                continue;
            }
            if rules.is_own(&name) {
                continue;
            }
            let kind = entry.file_type().map_err(|error| Problem::io("read", &entry.path(), &error))?;
            if matcher.matches(&name, kind.is_dir()) {
                visit(name, WalkEntry::Ignored)?;
                continue;
            }
            if kind.is_dir() {
                todo.push(name);
                continue;
            }
            match entry.metadata() {
                Ok(meta) if kind.is_file() || kind.is_symlink() => {
                    visit(name, WalkEntry::File(FileIdentity::from_metadata(&meta)))?;
                }
                Ok(meta) => visit(name, WalkEntry::Special(FileIdentity::from_metadata(&meta)))?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Problem::io("read", &entry.path(), &error)),
            }
        }
    }
    Ok(())
}

fn read_entries(path: &Path) -> std::io::Result<Vec<std::fs::DirEntry>> {
    std::fs::read_dir(path)?.collect()
}

/// Whether a name is below a `.git`.
pub(super) fn is_inside_git(name: &[u8]) -> bool {
    names::folders(name).any(|folder| split_leaf(folder).1 == b".git") || split_leaf(name).1 == b".git"
}
