//! `/dev` and the masks over `/proc`.

use super::detached::{
    NO_DEVICES, NO_SUID, READ_ONLY, attach, clone_tree, memory_folder, new_mount, set_mount_attributes,
};
use super::sys::{AtStep, SetupResult};
use rustix::mount::MountAttrFlags;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 6] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
    ("core", "/proc/kcore"),
];
const SHARED_MEMORY: u64 = 256 << 20;

/// Parts of `/proc` that a superuser could change the machine by.
const READ_ONLY_PROC: [&str; 6] = ["sys", "irq", "bus", "fs", "acpi", "sysrq-trigger"];
/// Parts of `/proc` that say something about the machine's kernel or the user's keys.
const HIDDEN_PROC: [&str; 6] = ["kcore", "keys", "key-users", "timer_list", "kmsg", "kallsyms"];

/// A private `/dev` that has no place yet.
pub struct PreparedDevices {
    folder: OwnedFd,
    devices: Vec<(&'static str, OwnedFd)>,
    terminals: OwnedFd,
    shared_memory: OwnedFd,
}

impl PreparedDevices {
    pub fn detach() -> SetupResult<Self> {
        let no_suid = MountAttrFlags::MOUNT_ATTR_NOSUID;
        let mut devices = Vec::new();
        for name in DEVICES {
            // A container may lack one.
            if let Ok(device) = clone_tree(&Path::new("/dev").join(name), false) {
                set_mount_attributes(device.as_fd(), false, NO_SUID, None).step("devices")?;
                devices.push((name, device));
            }
        }
        let terminals = new_mount(
            "devpts",
            &[("newinstance", ""), ("ptmxmode", "0666"), ("mode", "0620")],
            no_suid | MountAttrFlags::MOUNT_ATTR_NOEXEC,
        );
        Ok(Self {
            folder: memory_folder(1 << 20, 1000, 0o755, None).step("devices")?,
            devices,
            terminals: terminals.step("devpts")?,
            shared_memory: memory_folder(SHARED_MEMORY, 50_000, 0o1777, None).step("devices")?,
        })
    }

    pub fn attach(self, target: &Path) -> SetupResult<()> {
        let step = "devices";
        attach(&self.folder, target).step(step)?;
        for (name, device) in &self.devices {
            let path = target.join(name);
            fs::File::create_new(&path).step(step)?;
            attach(device, &path).step(step)?;
        }
        for (name, to) in LINKS {
            symlink(to, target.join(name)).step(step)?;
        }
        for (name, mount) in [("pts", &self.terminals), ("shm", &self.shared_memory)] {
            let path = target.join(name);
            fs::create_dir(&path).step(step)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).step(step)?;
            attach(mount, &path).step(step)?;
        }
        Ok(())
    }
}

/// Hides what must not be read and makes read-only what must not be written.
pub fn mask_proc() -> SetupResult<()> {
    let proc = Path::new("/proc");
    for path in READ_ONLY_PROC.map(|name| proc.join(name)).into_iter().filter(|path| path.exists()) {
        let mount = clone_tree(&path, true).step("mask of /proc")?;
        let attributes = READ_ONLY | NO_SUID | NO_DEVICES;
        set_mount_attributes(mount.as_fd(), true, attributes, None).step("mask of /proc")?;
        attach(&mount, &path).step("mask of /proc")?;
    }
    for path in HIDDEN_PROC.map(|name| proc.join(name)).into_iter().filter(|path| path.exists()) {
        let mount = clone_tree(Path::new("/dev/null"), false).step("mask of /proc")?;
        attach(&mount, &path).step("mask of /proc")?;
    }
    Ok(())
}
