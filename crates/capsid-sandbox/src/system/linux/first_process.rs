//! The process that the launcher waits for.

use super::disk::DiskWatch;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;

/// The first process of a namespace, or the program itself where there is none.
pub struct FirstProcess {
    pub pid: Pid,
    pub disk: Option<DiskWatch>,
    /// Whether everything else ends with it, as it does with the first process of a PID namespace.
    pub owns_namespace: bool,
    /// Its folder in `/proc`, held open where a rule of Landlock is about it.
    #[expect(dead_code, reason = "it is held, not read")]
    pub process_folder: Option<File>,
}

impl FirstProcess {
    /// The first process of a namespace passes it on to the program's group.
    pub fn ask_to_end(&self) {
        let _ = if self.owns_namespace {
            kill_process(self.pid, Signal::TERM)
        } else {
            kill_process_group(self.pid, Signal::TERM)
        };
    }

    pub fn kill(&self) {
        // A process that is gone already is what we want.
        let _ = kill_process(self.pid, Signal::KILL);
    }
}
