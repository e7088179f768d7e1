//! Landlock: kernel rules that a program puts on itself before it starts and can never take off.
//!
//! It has no rule for modes, owners and times of files, none for UDP and none for shared memory. The latter two are
//! refused by number, see `seccomp`.

use crate::system::plan::{LandlockPlan, RawText};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::path::PathBuf;

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

/// The rules of a plan, ready to be enforced.
pub fn ruleset(plan: &LandlockPlan) -> Result<RulesetCreated, String> {
    rules(plan).map_err(|error| error.to_string())
}

/// Adds the folder in `/proc` of the process that calls it.
pub fn allow_own_process(ruleset: RulesetCreated) -> Result<RulesetCreated, String> {
    let folder = process_folder(rustix::process::getpid());
    let read = AccessFs::from_read(RULES);
    ruleset.add_rules(path_beneath_rules([folder], read)).map_err(|error: RulesetError| error.to_string())
}

/// What the kernel knows of a process.
pub fn process_folder(pid: rustix::process::Pid) -> PathBuf {
    PathBuf::from(format!("/proc/{}", pid.as_raw_pid()))
}

/// Puts the rules on this process.
pub fn enforce(ruleset: RulesetCreated) -> Result<(), String> {
    let status = ruleset.restrict_self().map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("this kernel has no Landlock".to_owned()),
        _ => Ok(()),
    }
}

/// Abstract Unix sockets belong to the network, not to the files, and are cut off where the network is shared. A kernel
/// before 6.12 cannot do it.
pub fn scope_abstract_sockets() -> Result<(), String> {
    let scope = || Ruleset::default().scope(Scope::AbstractUnixSocket)?.create()?.restrict_self();
    scope().map(drop).map_err(|error| error.to_string())
}

fn rules(plan: &LandlockPlan) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset =
        Ruleset::default().handle_access(AccessFs::from_all(RULES))?.scope(Scope::from_all(RULES))?;
    if !plan.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(RULES))?;
    }
    let read = AccessFs::from_read(RULES);
    ruleset
        .create()?
        .add_rules(path_beneath_rules(MACHINE, read))?
        .add_rules(path_beneath_rules(plan.read.iter().map(RawText::as_path), read))?
        .add_rules(path_beneath_rules(DEVICES, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(plan.write.iter().map(RawText::as_path), read_and_write()))
}

fn read_and_write() -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    AccessFs::from_all(RULES) & !devices
}
