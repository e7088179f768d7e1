//! From what a program may do to what the launcher does. Agents, validation and strangers' commands differ by data only.

mod agent;
mod validation;

pub use agent::{agent, unconfined_agent};
pub use validation::validation;

use crate::limits::WRITTEN_FILES;
use crate::mount_table::mounts_below;
use crate::system::plan::{
    CountedFolder, MountContent, OverlayFallback, PlannedMount, PlannedWrites, RawText,
};
use crate::{ConfinedTree, PrivateTree, WriteLayer};
use std::ffi::OsStr;
use std::path::Path;

fn mount(target: &Path, content: MountContent) -> PlannedMount {
    PlannedMount { target: target.into(), content }
}

fn bind(path: &Path, writable: bool) -> PlannedMount {
    mount(path, MountContent::Bind { source: path.into(), writable })
}

/// The mounts of the files that a program works on, and whether the engine is to have what it wrote to memory.
fn tree_mounts(tree: &ConfinedTree, hand_out: bool) -> Vec<PlannedMount> {
    let tree = match tree {
        ConfinedTree::Folder(folder) => return vec![bind(folder, true)],
        ConfinedTree::Private(tree) => tree,
    };
    let lower = tree.layers.iter().chain([&tree.root]).map(|layer| layer.as_path().into()).collect();
    let writes = match &tree.writes {
        WriteLayer::Folder(folder) => PlannedWrites::Folder(folder.as_path().into()),
        &WriteLayer::Memory { bytes, inodes } => PlannedWrites::Memory { bytes, inodes, hand_out },
    };
    let otherwise = OverlayFallback::Refuse;
    let mut mounts = vec![mount(&tree.root, MountContent::Overlay { lower, writes, otherwise })];
    mounts.extend(mounts_again(&tree.root));
    if let Some(git_dir) = &tree.git_dir {
        mounts.push(overlay(&git_dir.path, &git_dir.writes, OverlayFallback::Refuse));
    }
    mounts
}

fn overlay(path: &Path, writes: &Path, otherwise: OverlayFallback) -> PlannedMount {
    let writes = PlannedWrites::Folder(writes.into());
    mount(path, MountContent::Overlay { lower: vec![path.into()], writes, otherwise })
}

/// What is mounted below a folder, read-only: an overlay shows none of it. Ordinary users get no overlay over such a
/// folder at all.
fn mounts_again(folder: &Path) -> Vec<PlannedMount> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let shown = mounts_below(folder).into_iter().filter(|path| path.exists());
    shown.map(|path| bind(&path, false)).collect()
}

/// The folders whose growth is what a program writes to disk.
fn written_folders(tree: &ConfinedTree) -> Vec<CountedFolder> {
    let folders = match tree {
        ConfinedTree::Folder(folder) => vec![folder.clone()],
        ConfinedTree::Private(PrivateTree { writes, git_dir, .. }) => {
            let tree = match writes {
                WriteLayer::Folder(folder) => Some(folder.clone()),
                WriteLayer::Memory { .. } => None,
            };
            tree.into_iter().chain(git_dir.as_ref().map(|git_dir| git_dir.writes.clone())).collect()
        }
    };
    folders.iter().map(|folder| count_files(folder, WRITTEN_FILES)).collect()
}

fn count_files(folder: &Path, files: u64) -> CountedFolder {
    CountedFolder { path: folder.into(), files }
}

fn variable(name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> RawText {
    let mut text = name.as_ref().to_owned();
    text.push("=");
    text.push(value);
    text.into()
}

fn raw(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Vec<RawText> {
    paths.into_iter().map(|path| path.as_ref().into()).collect()
}
