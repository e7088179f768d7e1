//! As whom a program runs in its sandbox.

use crate::SandboxIds;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Which ids the program has, inside and outside.
pub enum SandboxUser {
    /// The user's own, in a user namespace that knows no other.
    Same,
    /// Those of the tree's owner inside, and of a free block for the rest of the machine.
    Mapped { base: u32, userns: OwnedFd, uid: u32, gid: u32 },
    /// The superuser's, without its capabilities.
    Root { userns: OwnedFd, uid: u32, gid: u32 },
}

impl SandboxUser {
    pub fn ids(&self) -> SandboxIds {
        match self {
            Self::Same => SandboxIds::User,
            Self::Mapped { .. } => SandboxIds::MappedRoot,
            Self::Root { .. } => SandboxIds::Root,
        }
    }

    /// The namespace by which mounts are mapped.
    pub fn mount_map(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Mapped { userns, .. } => Some(userns.as_fd()),
            _ => None,
        }
    }

    /// The owner of what is made for the program in memory, as the machine knows it.
    pub fn outer_owner(&self) -> Option<(u32, u32)> {
        match *self {
            Self::Same => None,
            Self::Mapped { base, uid, gid, .. } => Some((base + uid, base + gid)),
            Self::Root { uid, gid, .. } => Some((uid, gid)),
        }
    }

    /// The owner of what is made for the program on disk.
    pub fn disk_owner(&self) -> Option<(u32, u32)> {
        match *self {
            Self::Same => None,
            Self::Mapped { uid, gid, .. } | Self::Root { uid, gid, .. } => Some((uid, gid)),
        }
    }
}
