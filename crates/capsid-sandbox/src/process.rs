//! One started program: in a session of its own, watched until it ends, killed with its whole group.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, setsid, waitid};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a program that was killed may take to be gone.
pub const GRACE: Duration = Duration::from_millis(500);

/// The programs this process has started and not yet reaped.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Those programs, locked so that none can be added meanwhile.
pub fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that runs; dropping it kills it.
pub struct RunningProcess {
    child: Child,
}

impl RunningProcess {
    /// Starts a program that dies with this one and has no terminal to talk to.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        // SAFETY: the closure only makes system calls, which is all that is allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                setsid()?;
                die_with_parent()
            });
        }
        let mut running = running();
        let child = command.spawn()?;
        running.insert(child.id().cast_signed());
        Ok(Self { child })
    }

    /// The pipes of the program.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether it has ended. It is left unreaped, so its number still belongs to it when its group is killed.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.pid().is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    /// Waits for the end; false when the time is over first.
    pub fn wait_until(&self, deadline: Instant) -> bool {
        let mut pause = Duration::from_micros(500);
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        true
    }

    /// Kills the program and what is left of its group, and reaps it.
    pub fn finish(&mut self) -> io::Result<ExitStatus> {
        if let Some(pid) = self.pid() {
            // The group may be gone already.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let status = self.child.wait();
        running().remove(&self.child.id().cast_signed());
        status
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // Kept from an early return only: after `finish` the program is no longer ours to kill.
        if running().contains(&self.child.id().cast_signed()) {
            let _ = self.finish();
        }
    }
}

/// When a time limit that starts now is over; a limit beyond any run is as good as none.
pub fn deadline(timeout: Duration) -> Instant {
    const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + timeout.min(A_YEAR)
}

/// The status of a program, or the signal that ended it.
pub fn signal_or_status(status: ExitStatus) -> Result<i32, i32> {
    match status.code() {
        Some(code) => Ok(code),
        None => Err(status.signal().unwrap_or(0)),
    }
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Ok(())
}
