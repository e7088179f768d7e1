//! Processes that a program leaves behind by starting a session of their own.
//!
//! Killing the group does not reach them. While a watch is on, the kernel hands them to this process when their parent
//! dies, and there they can be told apart: they are children that nobody here started. bubblewrap needs no watch, its
//! processes die with their namespace.

use crate::process::running;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static TURN: Mutex<()> = Mutex::new(());

/// While it lives, orphans come to this process. Watches take turns, so that one does not end another's processes.
pub struct OrphanReaper {
    _turn: MutexGuard<'static, ()>,
}

impl OrphanReaper {
    /// Starts to collect orphans.
    pub fn begin() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        system::collect(true);
        Self { _turn: turn }
    }

    /// Kills what is left behind, and what that leaves behind, until nothing is or the time is over.
    pub fn clear(&self, until: Instant) {
        while system::kill_orphans() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for OrphanReaper {
    fn drop(&mut self) {
        system::collect(false);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::running;
    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

    pub fn collect(on: bool) {
        // Refused by no kernel since 3.4; without it only the group is killed.
        let _ = set_child_subreaper(on.then(getpid));
    }

    /// Kills and reaps all orphans there are now; true when there were any.
    pub fn kill_orphans() -> bool {
        let ours = running();
        let orphans = orphans(&|pid| ours.contains(&pid));
        for pid in orphans.iter().copied().filter_map(Pid::from_raw) {
            // An orphan that is gone already is what we want.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        !orphans.is_empty()
    }

    /// Children of this process in a foreign session: helpers such as git stay in ours.
    fn orphans(started_here: &dyn Fn(i32) -> bool) -> Vec<i32> {
        let me = getpid().as_raw_pid();
        // From the same file as the others': 0 where the session began outside of this PID namespace, as in a container.
        let Some((_, session)) = parent_and_session(me) else {
            return Vec::new();
        };
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        processes
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|&pid| {
                parent_and_session(pid).is_some_and(|(parent, its_session)| {
                    parent == me && its_session != session && !started_here(pid)
                })
            })
            .collect()
    }

    fn parent_and_session(pid: i32) -> Option<(i32, i32)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The program's name may hold anything, even `)`; the last one ends it.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(1);
        let parent = fields.next()?.parse().ok()?;
        Some((parent, fields.nth(1)?.parse().ok()?))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn collect(_on: bool) {}

    pub fn kill_orphans() -> bool {
        false
    }
}
