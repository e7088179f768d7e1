//! The sandbox of a validation command: an empty machine with the system's programs and the repository.

use super::{bind, count_files, mount, raw, tree_mounts, variable, written_folders};
use crate::limits::{TEMPORARY_FILES, TEMPORARY_INODES};
use crate::program::{ResolvedProgram, SYSTEM};
use crate::system::idmap::superuser_replacement;
use crate::system::plan::{
    DiskLimit, FileBase, LandlockPlan, LaunchPlan, MountContent, NamespacePlan, PlannedConfinement,
    PlannedMount, SyscallFilter,
};
use crate::{Confinement, Isolation, ProcessLimits, ValidationProfile, environment};
use std::path::{Path, PathBuf};

/// What programs read of the system's settings. Never all of it: for root that would include the password hashes.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ld.so.cache",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// The names of the machine's users, which are no stranger's business.
const USERS: &[&str] = &["/etc/group", "/etc/passwd"];

/// What they read on top when they may use the network.
const NETWORK_SETTINGS: &[&str] = &["/etc/hosts", "/etc/resolv.conf"];

/// Temporary files are in memory.
const TEMPORARY_BYTES: u64 = 2 << 30;
const UNTRUSTED_TEMPORARY_BYTES: u64 = 256 << 20;

/// How to start `args` of a program in this kind of sandbox, with `home` as its own folder where it has no other.
pub fn validation(
    isolation: Isolation,
    program: &ResolvedProgram,
    args: &[String],
    confinement: &Confinement,
    home: &Path,
    limits: &ProcessLimits,
) -> LaunchPlan {
    let network = confinement.network;
    let untrusted = confinement.profile == ValidationProfile::Untrusted;
    let home = if isolation == Isolation::Namespaces { Path::new("/tmp") } else { home };
    let filter = match isolation {
        Isolation::Namespaces if untrusted => SyscallFilter::Untrusted,
        Isolation::Namespaces => SyscallFilter::Strict,
        Isolation::Landlock => SyscallFilter::StrictWithoutNamespaces { network },
        Isolation::None => SyscallFilter::Open,
    };
    let variables = environment::variables(program, home, network);
    let mut folders = written_folders(&confinement.tree);
    if isolation != Isolation::Namespaces {
        folders.push(count_files(home, TEMPORARY_FILES));
    }
    LaunchPlan {
        program: program.path.as_path().into(),
        argv: std::iter::once(program.path.as_path().into())
            .chain(args.iter().map(|word| word.as_str().into()))
            .collect(),
        env: variables.into_iter().map(|(name, value)| variable(name, value)).collect(),
        cwd: confinement.root().into(),
        confinement: match isolation {
            Isolation::Namespaces => PlannedConfinement::Namespaces(namespaces(program, confinement)),
            Isolation::Landlock => PlannedConfinement::Landlock(landlock(program, confinement, home)),
            Isolation::None => PlannedConfinement::None,
        },
        filter,
        limits: limits.for_kernel(),
        disk: Some(DiskLimit { bytes: limits.disk_bytes, folders }),
    }
}

fn namespaces(program: &ResolvedProgram, confinement: &Confinement) -> NamespacePlan {
    let untrusted = confinement.profile == ValidationProfile::Untrusted;
    let mut mounts: Vec<PlannedMount> = SYSTEM.iter().map(Path::new).filter_map(system_folder).collect();
    let readable = settings(confinement).into_iter().chain(further(program, confinement));
    mounts.extend(readable.map(|path| bind(&path, false)));
    if untrusted {
        let passwd = "root:x:0:0:root:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n";
        mounts.push(mount(Path::new("/etc/passwd"), MountContent::File(passwd.to_owned())));
        let group = "root:x:0:\nnogroup:x:65534:\n";
        mounts.push(mount(Path::new("/etc/group"), MountContent::File(group.to_owned())));
    }
    let bytes = if untrusted { UNTRUSTED_TEMPORARY_BYTES } else { TEMPORARY_BYTES };
    let temporary = MountContent::Memory { bytes, inodes: TEMPORARY_INODES, mode: 0o1777 };
    mounts.push(mount(Path::new("/tmp"), temporary));
    mounts.push(mount(Path::new("/proc"), MountContent::Proc));
    mounts.push(mount(Path::new("/dev"), MountContent::Devices));
    mounts.extend(tree_mounts(&confinement.tree, false));
    NamespacePlan {
        base: FileBase::Empty,
        mounts,
        network: confinement.network,
        mask_proc: true,
        require_mapped_root: untrusted,
        owned_like: confinement.root().into(),
    }
}

/// A folder of the system, or the link that stands for it.
fn system_folder(path: &Path) -> Option<PlannedMount> {
    match std::fs::read_link(path) {
        Ok(target) => Some(mount(path, MountContent::Symlink(target.into()))),
        Err(_) => path.is_dir().then(|| bind(path, false)),
    }
}

fn settings(confinement: &Confinement) -> Vec<PathBuf> {
    let users = if confinement.profile == ValidationProfile::Untrusted { &[] } else { USERS };
    let network = if confinement.network { NETWORK_SETTINGS } else { &[] };
    let all = SETTINGS.iter().chain(users).chain(network);
    all.map(PathBuf::from).filter(|path| path.exists()).collect()
}

/// What the program and the owner's settings name. The repository shows its own files by itself.
fn further(program: &ResolvedProgram, confinement: &Confinement) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = program
        .needs
        .iter()
        .chain(&confinement.extra_read)
        .filter(|path| path.is_absolute() && path.exists() && !path.starts_with(confinement.root()))
        .cloned()
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

fn landlock(program: &ResolvedProgram, confinement: &Confinement, home: &Path) -> LandlockPlan {
    let root = confinement.root();
    let system = SYSTEM.iter().map(PathBuf::from);
    let read = system.chain(settings(confinement)).chain(further(program, confinement));
    let run_as = superuser_replacement();
    if let Some((uid, gid)) = run_as {
        // The folder is new and ours, and a superuser may do this.
        let _ = std::os::unix::fs::chown(home, Some(uid), Some(gid));
    }
    LandlockPlan {
        read: raw(read),
        write: raw([root, home]),
        network: confinement.network,
        own_process: false,
        run_as,
    }
}
