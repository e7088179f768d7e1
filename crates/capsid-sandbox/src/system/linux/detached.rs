//! Mounts that have no place yet, and how they get one.

use super::sys::check;
use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

pub const NO_SUID_DEVICES: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

pub fn clone_tree(path: &Path, recursive: bool) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, if recursive { flags | OpenTreeFlags::AT_RECURSIVE } else { flags })
}

/// A file system that is not attached anywhere. An option without a value is a flag.
pub fn new_mount(
    kind: &str,
    options: &[(&str, &str)],
    attributes: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        match *value {
            "" => fsconfig_set_flag(&context, *name)?,
            value => fsconfig_set_string(&context, *name, value)?,
        }
    }
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

pub fn memory_folder(
    bytes: u64,
    inodes: u64,
    mode: u32,
    owner: Option<(u32, u32)>,
) -> rustix::io::Result<OwnedFd> {
    let (size, inodes, mode) = (bytes.to_string(), inodes.to_string(), format!("{mode:o}"));
    let mut options = vec![("size", size.as_str()), ("nr_inodes", inodes.as_str()), ("mode", mode.as_str())];
    let owner = owner.map(|(uid, gid)| (uid.to_string(), gid.to_string()));
    if let Some((uid, gid)) = &owner {
        options.extend([("uid", uid.as_str()), ("gid", gid.as_str())]);
    }
    new_mount("tmpfs", &options, NO_SUID_DEVICES)
}

pub fn attach(mount: &OwnedFd, target: &Path) -> rustix::io::Result<()> {
    move_mount(mount, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

#[repr(C)]
#[derive(Default)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

pub const READ_ONLY: u64 = 0x1;
pub const NO_SUID: u64 = 0x2;
pub const NO_DEVICES: u64 = 0x4;
const ID_MAPPED: u64 = 0x0010_0000;

/// Sets attributes of a mount, `recursive` those below it too; with a user namespace its ids are mapped.
pub fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    recursive: bool,
    set: u64,
    userns: Option<BorrowedFd<'_>>,
) -> rustix::io::Result<()> {
    let mut attributes = MountAttributes { set, ..MountAttributes::default() };
    if let Some(userns) = userns {
        attributes.set |= ID_MAPPED;
        attributes.userns = u64::try_from(userns.as_raw_fd()).unwrap_or_default();
    }
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a NUL-terminated text and the attributes are as large as is said.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    })
    .map(drop)
}
