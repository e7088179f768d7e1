//! The folders in which an overlay keeps what is written.

use super::sandbox_user::SandboxUser;
use super::sys::{AtStep, SetupResult};
use crate::system::plan::{MountContent, NamespacePlan, PlannedWrites, SetupFailure};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// Makes the folders of the write layers before the first process of the sandbox starts.
pub fn prepare_write_folders(plan: &NamespacePlan, user: &SandboxUser) -> SetupResult<()> {
    for mount in &plan.mounts {
        if let MountContent::Overlay { lower, writes: PlannedWrites::Folder(folder), .. } = &mount.content {
            let tree = lower.last().map_or(Path::new("/"), |tree| tree.as_path());
            prepare_write_folder(folder.as_path(), tree, user).map_err(|failure| SetupFailure {
                detail: folder.as_path().display().to_string(),
                ..failure
            })?;
        }
    }
    Ok(())
}

/// Makes `upper` and `work`. The root of an overlay has the mode and the owner of `upper`, so these are the tree's.
pub fn prepare_write_folder(folder: &Path, tree: &Path, user: &SandboxUser) -> SetupResult<()> {
    let (upper, work) = (folder.join("upper"), folder.join("work"));
    let mut private = fs::DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(&work).step("write layer")?;
    if fs::symlink_metadata(&upper).is_err() {
        private.create(&upper).step("write layer")?;
        let like = fs::metadata(tree).step("tree")?;
        if user.disk_owner().is_some() {
            std::os::unix::fs::chown(&upper, Some(like.uid()), Some(like.gid())).step("write layer")?;
        }
        fs::set_permissions(&upper, fs::Permissions::from_mode(like.mode() & 0o7777)).step("write layer")?;
    }
    forget_volatile(&work);
    Ok(())
}

/// The kernel marks the work folder of a volatile layer, so that it is not used again after a crash. Here the layer is
/// thrown away after a crash, so the mark of an earlier command is removed.
fn forget_volatile(work: &Path) {
    let marks = work.join("work/incompat");
    for folder in [work.join("work"), marks.clone(), marks.join("volatile")] {
        // There is none before the first command.
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
    }
    let _ = fs::remove_dir_all(marks);
}

/// While it lives, files are made as another user's, with all rights of the superuser. The kernel makes the files of a
/// mapped layer as whoever mounts it, and there the superuser's own id does not exist.
pub struct WriteAs(());

impl WriteAs {
    pub fn begin((uid, gid): (u32, u32)) -> rustix::io::Result<Self> {
        let before = rustix::thread::capabilities(None)?;
        // SAFETY: both calls change an id of this thread, which is the only one.
        unsafe {
            libc::setfsgid(gid);
            libc::setfsuid(uid);
        }
        // The kernel takes the rights on files away with the id.
        rustix::thread::set_capabilities(None, before)?;
        Ok(Self(()))
    }
}

impl Drop for WriteAs {
    fn drop(&mut self) {
        // SAFETY: both calls change an id of this thread, which is the only one.
        unsafe {
            libc::setfsuid(0);
            libc::setfsgid(0);
        }
    }
}
