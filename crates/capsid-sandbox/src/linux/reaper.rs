//! Without namespaces: the launcher itself collects what the program leaves behind.
//!
//! The kernel hands every orphan among its descendants to the launcher, also one that left its session. It has ended them
//! all when it has no child any more.

use super::disk::DiskWatch;
use super::engine_link::EngineLink;
use super::first_process::FirstProcess;
use super::plan::{LandlockPlan, LaunchPlan};
use super::sys::{self, AtStep, SetupResult};
use super::{init, landlock, namespaces, seccomp};
use crate::SandboxIds;
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
    let ids = if rustix::process::geteuid().is_root() { SandboxIds::Root } else { SandboxIds::User };
    engine.built(ids, Vec::new());
    let pid = init::start_with(plan, engine, || {
        set_parent_process_death_signal(Some(Signal::KILL)).step("parent death signal")?;
        if let Some((uid, gid)) = rules.and_then(|rules| rules.run_as) {
            namespaces::become_user(uid, gid)?;
        }
        for &(resource, most) in &plan.limits {
            sys::lower_limit(resource, most).step("limits")?;
        }
        if let Some(ruleset) = ruleset.take() {
            namespaces::drop_capabilities()?;
            landlock::enforce(ruleset)
                .map_err(|why| sys::failure("landlock", rustix::io::Errno::OPNOTSUPP, why))?;
        }
        seccomp::apply(plan.filter)
    })?;
    Ok(FirstProcess { pid, disk, owns_namespace: false })
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

fn children() -> Vec<Pid> {
    let me = getpid().as_raw_pid();
    // One read where the kernel keeps such a list, a walk over all processes elsewhere.
    if let Ok(list) = std::fs::read_to_string(format!("/proc/self/task/{me}/children")) {
        return list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect();
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|&pid: &i32| parent(pid) == Some(me)).filter_map(Pid::from_raw).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may hold anything, even `)`; the last one ends it.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
