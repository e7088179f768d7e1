//! Landlock: kernel rules that a program puts on itself before it starts and can never take off.
//!
//! Weaker than bubblewrap: other processes can be seen, UDP is not refused, and because rules only ever allow, a
//! repository with read-only paths gets no new entries in the folders that hold them.

use crate::isolation::{Confinement, Isolation, SandboxProbe, unavailable};
use crate::program::{ResolvedProgram, SYSTEM};
use crate::{bubblewrap, environment};
use capsid_model::Result;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest rules this program knows; an older kernel enforces those that it knows.
const RULES: ABI = ABI::V9;

/// What runtimes ask about the machine. Not all of /proc: it would show other processes.
const MACHINE: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
    "/sys/devices/system/cpu",
];

const DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// The command that runs `args` of a program under the rules, with `home` as its private folder.
pub fn command(
    program: &ResolvedProgram,
    args: &[String],
    place: &Confinement,
    home: &Path,
) -> Result<Command> {
    let rules = rules(program, place, home).map_err(|error| unavailable(Isolation::Landlock, error))?;
    let mut command = Command::new(&program.path);
    command.args(args).current_dir(&place.root).env_clear().envs(environment::variables(
        program,
        home,
        place.network,
    ));
    let mut rules = Some(rules);
    // SAFETY: the rules were built before the fork; what is left are system calls on them.
    unsafe {
        command.pre_exec(move || enforce(rules.take()));
    }
    Ok(command)
}

fn enforce(rules: Option<RulesetCreated>) -> io::Result<()> {
    let status = rules.and_then(|rules| rules.restrict_self().ok());
    if status.is_none_or(|status| status.ruleset == RulesetStatus::NotEnforced) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::OPNOTSUPP.raw_os_error()));
    }
    // Privileges cannot be gained any more, so what is dropped here stays dropped.
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

fn rules(
    program: &ResolvedProgram,
    place: &Confinement,
    home: &Path,
) -> std::result::Result<RulesetCreated, RulesetError> {
    let mut ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(RULES))?.scope(Scope::from_all(RULES))?;
    if !place.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(RULES))?;
    }
    let read = AccessFs::from_read(RULES);
    ruleset
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(MACHINE, read))?
        .add_rules(path_beneath_rules(bubblewrap::settings(place.network), read))?
        .add_rules(path_beneath_rules(&program.needs, read))?
        .add_rules(path_beneath_rules(&place.extra_read, read))?
        .add_rules(path_beneath_rules([&place.root], read))?
        .add_rules(path_beneath_rules(DEVICES, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules([home], read_and_write()))?
        .add_rules(path_beneath_rules(writable(place), read_and_write()))
}

fn read_and_write() -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    AccessFs::from_all(RULES) & !devices
}

/// The whole repository, or all that is in it beside the read-only paths.
fn writable(place: &Confinement) -> Vec<PathBuf> {
    if place.read_only.is_empty() {
        return vec![place.root.clone()];
    }
    let guarded = place.guarded_folders();
    guarded
        .iter()
        .copied()
        .chain([place.root.as_path()])
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten())
        // A link would open what it leads to, which may be anywhere.
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
        .filter(|path| !place.read_only.contains(path) && !guarded.contains(&path.as_path()))
        .collect()
}

/// Starts a program under rules to see whether it can be done here.
pub fn probe() -> SandboxProbe {
    SandboxProbe::by_trying(Isolation::Landlock, "files and TCP are refused; UDP is not")
}
