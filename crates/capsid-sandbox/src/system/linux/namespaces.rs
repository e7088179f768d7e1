//! Namespaces of a sandbox, and the end of all privileges in them.

use super::sandbox_user::SandboxUser;
use super::sys::{self, AtStep, SetupResult};
use super::{idmap, mounts};
use crate::system::plan::NamespacePlan;
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, LinkNameSpaceType, UnshareFlags,
    configure_capability_in_ambient_set, move_into_link_name_space, remove_capability_from_bounding_set,
    set_capabilities, set_capabilities_secure_bits, unshare_unsafe,
};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// Leaves the machine's namespaces. The PID namespace begins with the next fork.
pub fn enter(plan: &NamespacePlan) -> SetupResult<SandboxUser> {
    let user = if geteuid().is_root() { enter_as_root(plan)? } else { None };
    let user = match user {
        Some(user) => user,
        None => enter_as_user(plan)?,
    };
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).step("mount (private)")?;
    if !plan.network {
        sys::bring_loopback_up().step("loopback")?;
        // On a shared network the name is no secret, and agents derive the keys of their login files from it.
        rustix::system::sethostname(b"sandbox").step("sethostname")?;
    }
    Ok(user)
}

fn flags(plan: &NamespacePlan) -> UnshareFlags {
    let flags = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if plan.network { flags } else { flags | UnshareFlags::NEWNET }
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: the launcher has one thread and does not unshare its descriptors.
    unsafe { unshare_unsafe(flags) }
}

/// The identity map, not a pretended superuser: files belong to the user inside as they do outside.
fn enter_as_user(plan: &NamespacePlan) -> SetupResult<SandboxUser> {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    unshare(flags(plan) | UnshareFlags::NEWUSER).step("unshare")?;
    fs::write("/proc/self/setgroups", "deny").step("setgroups")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).step("uid_map")?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).step("gid_map")?;
    Ok(SandboxUser::Same)
}

/// Nothing if this superuser may not even do what a user may, as in a container.
fn enter_as_root(plan: &NamespacePlan) -> SetupResult<Option<SandboxUser>> {
    let owner = fs::metadata(plan.owned_like.as_path()).step("owner of the tree")?;
    let (uid, gid) = (owner.uid(), owner.gid());
    // Before a PID namespace is asked for: the next child would be its first process.
    let mapped = mapped_namespace(uid, gid).and_then(|(base, userns)| {
        mounts::check_id_mapping(plan, userns.as_fd())?;
        Ok(SandboxUser::Mapped { base, userns, uid, gid })
    });
    let user = match mapped {
        Err(_) if !plan.require_mapped_root => root_without_map(uid, gid),
        mapped => mapped,
    };
    match unshare(flags(plan)) {
        Err(Errno::PERM) if !plan.require_mapped_root => Ok(None),
        done => done.step("unshare").and(user.map(Some)),
    }
}

/// The superuser with every id mapped to itself: weaker, but its capabilities are worth nothing outside.
fn root_without_map(uid: u32, gid: u32) -> SetupResult<SandboxUser> {
    let own = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).step(name);
    let userns =
        idmap::user_namespace(&idmap::identity(&own("uid_map")?), &idmap::identity(&own("gid_map")?))?;
    Ok(SandboxUser::Root { userns, uid, gid })
}

fn mapped_namespace(uid: u32, gid: u32) -> SetupResult<(u32, OwnedFd)> {
    if uid >= idmap::COUNT || gid >= idmap::COUNT {
        return Err(sys::failure("id map", Errno::OVERFLOW, format!("the owner {uid}:{gid} is not in it")));
    }
    let base = idmap::free_block()
        .ok_or_else(|| sys::failure("id map", Errno::NOSPC, "no block of 65536 ids is free"))?;
    let map = format!("0 {base} {}\n", idmap::COUNT);
    Ok((base, idmap::user_namespace(&map, &map)?))
}

/// Gives up the superuser's ids and every capability, for good.
pub fn drop_privileges(user: &SandboxUser) -> SetupResult<()> {
    if let SandboxUser::Mapped { userns, uid, gid, .. } | SandboxUser::Root { userns, uid, gid } = user {
        move_into_link_name_space(userns.as_fd(), Some(LinkNameSpaceType::User)).step("setns")?;
        // While it may: capabilities end with the step from 0 to another id.
        drop_bounding_set(CapabilitySet::empty());
        become_user(*uid, *gid)?;
    }
    drop_capabilities()
}

/// Without capabilities, and without a way to new ones.
pub fn drop_capabilities() -> SetupResult<()> {
    drop_bounding_set(CapabilitySet::empty());
    hold_only(CapabilitySet::empty())
}

/// Gives up the superuser's ids for those of nobody. What is left is to pass the permissions of files, so that the program
/// can use the superuser's own where Landlock lets it; it owns none of them.
pub fn become_replacement(uid: u32, gid: u32) -> SetupResult<()> {
    let left = CapabilitySet::DAC_OVERRIDE;
    // Otherwise capabilities end with the step from 0 to another id, and `access` answers as if there were none.
    let fixed = CapabilitiesSecureBits::NO_SETUID_FIXUP | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED;
    set_capabilities_secure_bits(fixed).step("securebits")?;
    drop_bounding_set(left);
    become_user(uid, gid)?;
    hold_only(left)?;
    configure_capability_in_ambient_set(left, true).step("ambient capabilities")
}

fn hold_only(left: CapabilitySet) -> SetupResult<()> {
    let sets = CapabilitySets { effective: left, permitted: left, inheritable: left };
    set_capabilities(None, sets).step("capset")?;
    rustix::thread::set_no_new_privs(true).step("no_new_privs")
}

/// Numbers beyond the kernel's last are refused, and so is the call to a user without capabilities, who has none to
/// lose and can gain none once that is forbidden.
fn drop_bounding_set(left: CapabilitySet) {
    let all = (0..64).map(|number| CapabilitySet::from_bits_retain(1 << number));
    let _ =
        all.filter(|&one| !left.contains(one)).map(remove_capability_from_bounding_set).find(Result::is_err);
}

/// Becomes another user of the machine.
pub fn become_user(uid: u32, gid: u32) -> SetupResult<()> {
    use rustix::process::{Gid, Uid};
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    set_thread_groups(&[]).step("setgroups")?;
    set_thread_res_gid(gid, gid, gid).step("setresgid")?;
    set_thread_res_uid(uid, uid, uid).step("setresuid")
}
