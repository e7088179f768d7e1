//! The sandbox of the user's agent: the machine as it is, read-only, with private layers and hidden secrets.

use super::{bind, count_files, mount, mounts_again, overlay, raw, tree_mounts, variable, written_folders};
use crate::agent_files::private_home::PrivateHome;
use crate::agent_files::profile::{SHOWN_IN_RUN, WRITTEN_IN_HOME, is_dropped_variable, real_paths};
use crate::limits::{TEMPORARY_FILES, WRITTEN_FILES, agent_limits};
use crate::system::idmap::superuser_replacement;
use crate::system::plan::{
    DiskLimit, FileBase, LandlockPlan, LaunchPlan, MountContent, NamespacePlan, OverlayFallback,
    PlannedConfinement, PlannedMount, RawText, SyscallFilter,
};
use crate::{AgentProfile, AgentRequest, Isolation, environment};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How to start the agent in a sandbox, with a home of its own where it has one.
pub fn agent(
    isolation: Isolation,
    program: &Path,
    request: &AgentRequest<'_>,
    profile: &AgentProfile,
    home: Option<&PrivateHome>,
) -> LaunchPlan {
    let network = profile.network;
    let mut folders = written_folders(&profile.tree);
    let (confinement, filter) = match isolation {
        Isolation::Namespaces => {
            folders.push(count_files(&home_layer(profile), WRITTEN_FILES));
            folders.push(count_files(&temporary_layer(profile), WRITTEN_FILES));
            (PlannedConfinement::Namespaces(namespaces(profile)), SyscallFilter::Base)
        }
        Isolation::Landlock => {
            folders.push(count_files(&home_layer(profile), TEMPORARY_FILES));
            folders.push(count_files(&temporary_layer(profile), TEMPORARY_FILES));
            (
                PlannedConfinement::Landlock(landlock(profile, home)),
                SyscallFilter::BaseWithoutNamespaces { network, sockets: !profile.sockets.is_empty() },
            )
        }
        Isolation::None => (PlannedConfinement::None, SyscallFilter::Open),
    };
    // Without namespaces there is no layer over `/tmp`, but a folder of the agent's own.
    let temporary = (isolation == Isolation::Landlock).then(|| temporary_layer(profile));
    let inherited = std::env::vars_os()
        .filter(|(name, _)| !is_dropped_variable(&name.to_string_lossy()))
        .filter(|(name, value)| match temporary {
            Some(_) => !is_temporary_folder(name),
            None => !is_temporary_folder(name) || is_written(Path::new(value), &profile.home),
        })
        .filter(|(name, _)| !request.env.iter().any(|(own, _)| name == own.as_str()));
    let own = request.env.iter().map(|(name, value)| (name.into(), value.into()));
    let users = inherited.chain(own).filter(|(name, _)| home.is_none() || name != "HOME");
    let users = users.map(|(name, value)| {
        let moved = home.and_then(|home| home.map_variable(&name.to_string_lossy(), Path::new(&value)));
        variable(name, moved.map_or(value, PathBuf::into_os_string))
    });
    LaunchPlan {
        env: users
            .chain([variable(environment::MARK, "1")])
            .chain(home.map(|home| variable("HOME", &home.path)))
            .chain(temporary.as_ref().map(|folder| variable("TMPDIR", folder)))
            .collect(),
        confinement,
        filter,
        limits: agent_limits(profile.processes),
        disk: Some(DiskLimit { bytes: profile.disk_bytes, folders }),
        ..unconfined_agent(program, request)
    }
}

/// Whether a variable names the folder for temporary files.
fn is_temporary_folder(name: &OsStr) -> bool {
    ["TMPDIR", "TMP", "TEMP"].iter().any(|known| name == *known)
}

/// Whether an agent can write in a folder: only the layers of the home and of `/tmp` take writes. Without the variable
/// programs use the latter.
fn is_written(folder: &Path, home: &Path) -> bool {
    folder.starts_with("/tmp") || folder.starts_with(home)
}

/// How to start it with all that the user may do.
pub fn unconfined_agent(program: &Path, request: &AgentRequest<'_>) -> LaunchPlan {
    let inherited = std::env::vars_os()
        .filter(|(name, _)| !request.env.iter().any(|(own, _)| name == own.as_str()))
        .map(|(name, value)| variable(name, value));
    let own = request.env.iter().map(|(name, value)| variable(name, value));
    let words = request.argv.iter().skip(1).map(|word| RawText::from(word.as_str()));
    LaunchPlan {
        program: program.into(),
        argv: std::iter::once(program.into()).chain(words).collect(),
        env: inherited.chain(own).collect(),
        cwd: request.cwd.into(),
        confinement: PlannedConfinement::None,
        filter: SyscallFilter::Open,
        limits: Vec::new(),
        disk: None,
    }
}

fn home_layer(profile: &AgentProfile) -> PathBuf {
    profile.layers.join("home")
}

fn temporary_layer(profile: &AgentProfile) -> PathBuf {
    profile.layers.join("tmp")
}

fn namespaces(profile: &AgentProfile) -> NamespacePlan {
    let root = profile.tree.root();
    let mut mounts =
        vec![mount(Path::new("/proc"), MountContent::Proc), mount(Path::new("/dev"), MountContent::Devices)];
    mounts.extend(closed_ancestor(profile).map(|folder| bind(&folder, false)));
    if Path::new("/tmp") != root {
        mounts.push(overlay(Path::new("/tmp"), &temporary_layer(profile), OverlayFallback::Memory));
    }
    if profile.home != root && profile.home.is_dir() {
        let parts = raw(WRITTEN_IN_HOME.iter().map(|name| profile.home.join(name)));
        mounts.push(overlay(&profile.home, &home_layer(profile), OverlayFallback::Parts(parts)));
        mounts.extend(mounts_again(&profile.home));
    }
    mounts.extend(tree_mounts(&profile.tree, true));
    mounts.extend(profile.hidden_paths().iter().map(|path| hide(path)));
    let shown = SHOWN_IN_RUN.iter().map(PathBuf::from).chain(profile.show.iter().cloned());
    let shown: Vec<PathBuf> = shown.chain(profile.sockets.iter().cloned()).collect();
    mounts.extend(real_paths(&shown).iter().map(|path| bind(path, false)));
    mounts.extend(real_paths(&profile.kept_writes).iter().map(|path| bind(path, true)));
    NamespacePlan {
        base: FileBase::Machine,
        mounts,
        network: profile.network,
        mask_proc: false,
        require_mapped_root: false,
        owned_like: root.into(),
    }
}

/// An empty folder over a folder, an empty file over everything else.
fn hide(path: &Path) -> PlannedMount {
    let content = if path.is_dir() {
        MountContent::Memory {
            bytes: 16 << 20,
            inodes: 10_000,
            mode: if path == Path::new("/run") { 0o755 } else { 0o700 },
        }
    } else {
        MountContent::File(String::new())
    };
    mount(path, content)
}

/// The outermost folder around the tree that only the superuser may enter. A program whose ids are mapped could not pass
/// it; mounted again, it is mapped too.
fn closed_ancestor(profile: &AgentProfile) -> Option<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let ancestors: Vec<&Path> = profile.tree.root().ancestors().skip(1).collect();
    let private = |folder: &Path| folder.starts_with(&profile.home) || folder.starts_with("/tmp");
    let closed = |folder: &Path| std::fs::metadata(folder).is_ok_and(|meta| meta.mode() & 0o001 == 0);
    let folder = ancestors.into_iter().rev().find(|folder| closed(folder) && !private(folder))?;
    (folder != Path::new("/")).then(|| folder.to_owned())
}

/// Without namespaces nothing can be hidden inside of what is shown, so only what is named is shown.
fn landlock(profile: &AgentProfile, home: Option<&PrivateHome>) -> LandlockPlan {
    let temporary = temporary_layer(profile);
    let programs = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"].map(PathBuf::from);
    let settings = ["/etc", "/opt", "/var/lib"].map(PathBuf::from);
    let settings = match rustix::process::geteuid().is_root() {
        true => settings.iter().flat_map(|folder| parts_for_everybody(folder).1).collect(),
        false => settings.to_vec(),
    };
    let in_home = home.into_iter().flat_map(|home| home.readable.iter().cloned());
    let run_as = superuser_replacement();
    // Runtimes read what the kernel knows of their own process. All of /proc has the names of the user's keys too, which
    // are out of reach only for an id that has none; such an agent sees the command lines of others there.
    let processes = run_as.map(|_| PathBuf::from("/proc"));
    let named = in_home.chain(processes).chain(profile.show.iter().cloned());
    let read = programs.into_iter().chain(settings).chain(named);
    let own =
        [profile.tree.root().to_owned(), temporary].into_iter().chain(home.map(|home| home.path.clone()));
    let write = own.chain(profile.kept_writes.iter().cloned());
    if let Some((uid, gid)) = run_as {
        // The folder is new and ours, and a superuser may do this.
        let _ = std::os::unix::fs::chown(temporary_layer(profile), Some(uid), Some(gid));
    }
    LandlockPlan { read: raw(read), write: raw(write), network: profile.network, own_process: true, run_as }
}

/// What every user may read of a folder, and whether that is all of it: the superuser's agent keeps its id here, and would
/// read the password hashes and keys of the machine otherwise.
fn parts_for_everybody(folder: &Path) -> (bool, Vec<PathBuf>) {
    let (mut whole, mut parts) = (true, Vec::new());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(meta) = entry.metadata() else { continue };
        let wanted = if meta.is_dir() { 0o005 } else { 0o004 };
        if !meta.is_symlink() && meta.mode() & wanted != wanted {
            whole = false;
        } else if meta.is_dir() {
            let (all, inside) = parts_for_everybody(&path);
            whole &= all;
            parts.extend(inside);
        } else {
            parts.push(path);
        }
    }
    (whole, if whole { vec![folder.to_owned()] } else { parts })
}
