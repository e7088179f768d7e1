//! Whose files they are that a superuser's programs work on without namespaces, where they run as nobody.

use crate::Isolation;
use crate::isolation::best_isolation;
use crate::system::idmap::superuser_replacement;
use capsid_model::{Problem, Result};
use rustix::process::{getegid, geteuid};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};

/// Gives a copy of the tree to the programs that will work on it, so that they may change modes and times in it. Where
/// they have the ids of whoever made the copy, it is theirs already.
pub fn give_copy_to_sandbox(folder: &Path) -> Result<()> {
    match best_isolation() {
        Ok(Isolation::Landlock) => give_to_sandbox(folder),
        _ => Ok(()),
    }
}

/// Gives a folder to programs that a superuser starts without namespaces.
pub(crate) fn give_to_sandbox(folder: &Path) -> Result<()> {
    let Some((uid, gid)) = superuser_replacement() else { return Ok(()) };
    change_owners(folder, &|_| true, (uid, gid))
        .map_err(|(path, error)| Problem::io("give away", &path, &error))
}

/// Gives what such programs made in a folder to an owner; to the owner of the folder, if it is not theirs itself.
pub fn take_from_sandbox(folder: &Path) {
    let Some((replacement, _)) = superuser_replacement() else { return };
    let Ok(meta) = fs::symlink_metadata(folder) else { return };
    let owner = match meta.uid() {
        uid if uid == replacement => (geteuid().as_raw(), getegid().as_raw()),
        uid => (uid, meta.gid()),
    };
    let made_inside = |meta: &fs::Metadata| meta.uid() == replacement;
    // The user can read them as they are; a file that is gone already needs no owner.
    let _ = change_owners(folder, &made_inside, owner);
}

/// Changes the owner of what is chosen in a folder, itself included. Links are not followed.
fn change_owners(
    path: &Path,
    is_chosen: &dyn Fn(&fs::Metadata) -> bool,
    (uid, gid): (u32, u32),
) -> std::result::Result<(), (PathBuf, io::Error)> {
    let failed = |error: io::Error| (path.to_owned(), error);
    let meta = fs::symlink_metadata(path).map_err(failed)?;
    if is_chosen(&meta) {
        lchown(path, Some(uid), Some(gid)).map_err(failed)?;
    }
    if meta.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            change_owners(&entry.map_err(failed)?.path(), is_chosen, (uid, gid))?;
        }
    }
    Ok(())
}
