//! What is left of a sandbox without namespaces when somebody kills its launcher: the engine gets the orphans and ends them.

use super::reaper::children;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long orphans that are killed may take to be gone.
const KILL_TIME: Duration = Duration::from_secs(5);

/// How many sandboxes may leave orphans now.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// While it lives, orphans among the descendants of this process become its children.
pub struct OrphanGuard {
    own_filters: u64,
}

impl OrphanGuard {
    pub fn adopt() -> Self {
        GUARDS.fetch_add(1, Ordering::SeqCst);
        // Without it the orphans go to the machine's first process, as they did before.
        let _ = set_child_subreaper(Some(getpid()));
        Self { own_filters: count_filters("self") }
    }

    /// Kills and reaps every orphan that has more filters of system calls than this process: those of a sandbox, and none
    /// of the programs that this process runs for itself.
    pub fn end(self) {
        let until = Instant::now() + KILL_TIME;
        loop {
            let left: Vec<Pid> = children().into_iter().filter(|&pid| self.is_confined(pid)).collect();
            if left.is_empty() || Instant::now() > until {
                return;
            }
            for pid in left {
                let _ = kill_process(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_confined(&self, pid: Pid) -> bool {
        count_filters(&pid.as_raw_pid().to_string()) > self.own_filters
    }
}

impl Drop for OrphanGuard {
    fn drop(&mut self) {
        if GUARDS.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = set_child_subreaper(None);
        }
    }
}

/// How many filters of system calls a process has. One that ended shows none.
fn count_filters(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    number("Seccomp_filters:").or_else(|| number("Seccomp:")).unwrap_or_default()
}
