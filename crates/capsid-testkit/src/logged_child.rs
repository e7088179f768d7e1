//! A program that runs beside a test, whose messages can be read while it runs.

use crate::program::ProgramOutput;
use crate::wait;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command};
use std::time::Duration;
use tempfile::NamedTempFile;

pub struct LoggedChild {
    child: Child,
    log: NamedTempFile,
}

impl LoggedChild {
    pub fn start(mut command: Command) -> Self {
        let log = NamedTempFile::new().unwrap();
        command.stderr(log.reopen().unwrap());
        Self { child: command.spawn().unwrap(), log }
    }

    /// What it wrote to stderr so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log.path()).unwrap()).into_owned()
    }

    /// Waits until a text is in its log so many times.
    #[track_caller]
    pub fn wait_for(&self, text: &str, times: usize) {
        let came = wait::happens(Duration::from_secs(60), || self.log().matches(text).count() >= times);
        assert!(came, "waited for {times} times `{text}` in vain:\n{}", self.log());
    }

    /// Asks it to end and waits until it did.
    pub fn stop(self) -> ProgramOutput {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.end()
    }

    /// Waits until it ends by itself.
    pub fn end(self) -> ProgramOutput {
        let mut output = self.child.wait_with_output().unwrap();
        output.stderr = std::fs::read(self.log.path()).unwrap();
        ProgramOutput::from_output(output)
    }
}
