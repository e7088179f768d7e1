//! bubblewrap: a root of its own with the system's programs, the repository, and nothing else.

use crate::isolation::{Confinement, Isolation, SandboxProbe, unavailable};
use crate::program::{ResolvedProgram, SYSTEM, not_found, search};
use crate::{FinishedProcess, ProcessEnd, environment};
use capsid_model::Result;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What programs read of the system's settings. Never all of it: for root that would include the password hashes.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// What they read on top when they may use the network.
const NETWORK_SETTINGS: &[&str] = &["/etc/hosts", "/etc/resolv.conf"];

/// The settings that a sandboxed program may read.
pub fn settings(network: bool) -> impl Iterator<Item = &'static str> {
    let more = if network { NETWORK_SETTINGS } else { &[] };
    SETTINGS.iter().chain(more).copied()
}

/// The command that runs `args` of a program inside.
pub fn command(program: &ResolvedProgram, args: &[String], place: &Confinement) -> Result<Command> {
    let bwrap = search("bwrap", &place.root)
        .ok_or_else(|| unavailable(Isolation::Bubblewrap, "`bwrap` is not on the PATH"))?;
    let mut command = Command::new(bwrap);
    // The sandbox's first process is bubblewrap itself, and what it was given can be read there.
    command.env_clear();
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "sandbox"]);
    command.args(["--cap-drop", "ALL", "--clearenv"]);
    if place.network {
        command.arg("--share-net");
    }
    mount_system(&mut command, place.network);
    for path in program.needs.iter().chain(&place.extra_read) {
        bind(&mut command, "--ro-bind-try", path);
    }
    mount_repository(&mut command, place);
    command.args(["--remount-ro", "/"]);
    for (name, value) in environment::variables(program, Path::new("/tmp"), place.network) {
        command.args(["--setenv", name]).arg(value);
    }
    command.arg("--chdir").arg(&place.root);
    command.arg("--").arg(&program.path).args(args);
    Ok(command)
}

/// Everything but the repository. It comes first: a later mount covers an earlier one, and a repository may lie in /tmp.
fn mount_system(command: &mut Command, network: bool) {
    for folder in SYSTEM {
        match std::fs::read_link(folder) {
            Ok(target) => {
                command.arg("--symlink").arg(target).arg(folder);
            }
            Err(_) => bind(command, "--ro-bind-try", folder),
        }
    }
    for file in settings(network) {
        bind(command, "--ro-bind-try", file);
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
}

fn mount_repository(command: &mut Command, place: &Confinement) {
    bind(command, "--bind", &place.root);
    for folder in place.guarded_folders() {
        // A mount point cannot be renamed.
        bind(command, "--bind", folder);
    }
    for path in &place.read_only {
        bind(command, "--ro-bind", path);
    }
}

fn bind(command: &mut Command, how: &str, path: impl AsRef<OsStr>) {
    command.arg(how).arg(path.as_ref()).arg(path.as_ref());
}

/// bubblewrap reports a signal as a shell does, by a status above 128.
pub fn true_end(end: ProcessEnd) -> ProcessEnd {
    match end {
        ProcessEnd::Exited(status @ 129..=192) => ProcessEnd::Signalled(status - 128),
        end => end,
    }
}

/// A sandbox that could not be set up looks like a program that failed, but for what it says.
pub fn check_started(name: &str, finished: &FinishedProcess) -> Result<()> {
    match finished.stderr.strip_prefix("bwrap: ").map(str::trim) {
        Some(why) if finished.end == ProcessEnd::Exited(1) && finished.stdout.is_empty() => {
            Err(if why.starts_with("execvp") {
                not_found(name, why)
            } else {
                unavailable(Isolation::Bubblewrap, why)
            })
        }
        _ => Ok(()),
    }
}

/// Starts a program in a sandbox to see whether it can be done here.
pub fn probe() -> SandboxProbe {
    SandboxProbe::by_trying(Isolation::Bubblewrap, "files, processes and network are separate")
}
