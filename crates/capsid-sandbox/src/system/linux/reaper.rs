//! Without namespaces: the launcher itself collects what the program leaves behind.
//!
//! The kernel hands every orphan among its descendants to the launcher, also one that left its session. It has ended them
//! all when it has no child any more.

use super::disk::DiskWatch;
use super::engine_link::EngineLink;
use super::first_process::FirstProcess;
use super::sys::{self, AtStep, SetupResult};
use super::{init, landlock, namespaces, seccomp};
use crate::SandboxIds;
use crate::system::plan::{LandlockPlan, LaunchPlan};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, set_parent_process_death_signal,
    wait,
};
use std::time::{Duration, Instant};

/// How long descendants that are killed may take to be gone.
const KILL_TIME: Duration = Duration::from_secs(5);

/// Starts the program under rules of Landlock, or without any.
pub fn start(
    plan: &LaunchPlan,
    rules: Option<&LandlockPlan>,
    engine: &mut EngineLink,
) -> SetupResult<FirstProcess> {
    set_child_subreaper(Some(getpid())).step("subreaper")?;
    let disk = plan.disk.as_ref().map(DiskWatch::open).transpose()?;
    let ruleset = rules.map(landlock::ruleset).transpose();
    let mut ruleset = ruleset.map_err(|why| sys::failure("landlock", rustix::io::Errno::OPNOTSUPP, why))?;
    let run_as = rules.and_then(|rules| rules.run_as);
    let ids = match run_as {
        Some(_) => SandboxIds::MappedRoot,
        None if rustix::process::geteuid().is_root() => SandboxIds::Root,
        None => SandboxIds::User,
    };
    let own_process = rules.is_some_and(|rules| rules.own_process);
    engine.built(ids, Vec::new());
    let pid = init::start_with(plan, engine, || {
        match run_as {
            Some((uid, gid)) => namespaces::become_replacement(uid, gid)?,
            None if rules.is_some() => namespaces::drop_capabilities()?,
            None => {}
        }
        // Only now: the kernel forgets this wish when the ids change.
        set_parent_process_death_signal(Some(Signal::KILL)).step("parent death signal")?;
        for &(resource, most) in &plan.limits {
            sys::lower_limit(resource, most).step("limits")?;
        }
        if let Some(ruleset) = ruleset.take() {
            let ruleset = match own_process {
                true => landlock::allow_own_process(ruleset),
                false => Ok(ruleset),
            };
            ruleset
                .and_then(landlock::enforce)
                .map_err(|why| sys::failure("landlock", rustix::io::Errno::OPNOTSUPP, why))?;
        }
        seccomp::apply(plan.filter)
    })?;
    // The rule holds for what the kernel has in memory of that folder, and it stays there while it is open.
    let folder = own_process.then(|| std::fs::File::open(landlock::process_folder(pid)).ok()).flatten();
    Ok(FirstProcess { pid, disk, owns_namespace: false, process_folder: folder })
}

/// Kills and reaps all descendants.
pub fn end_descendants() {
    let until = Instant::now() + KILL_TIME;
    loop {
        for pid in children() {
            let _ = kill_process(pid, Signal::KILL);
        }
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_micros(500)),
            _ => return,
        }
    }
}

/// The children of this process, of all its threads.
pub fn children() -> Vec<Pid> {
    // One read a thread where the kernel keeps such a list, a walk over all processes elsewhere.
    let threads: Vec<_> = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten().collect();
    let lists = threads.iter().map(|thread| std::fs::read_to_string(thread.path().join("children")));
    if let Ok(lists) = lists.collect::<Result<Vec<_>, _>>() {
        let numbers = lists.iter().flat_map(|list| list.split_whitespace());
        return numbers.filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect();
    }
    let me = getpid().as_raw_pid();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|&pid: &i32| parent(pid) == Some(me)).filter_map(Pid::from_raw).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may hold anything, even `)`; the last one ends it.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
