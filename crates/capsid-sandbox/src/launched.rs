//! A started program, from its start to the end of the last process that it started.

use crate::system::plan::{LaunchMessage, LaunchPlan, LaunchReport, SetupFailure};
use crate::system::spawn::{Launched, launch};
use crate::{LimitHit, SandboxIds};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// How long outputs of a program that was killed are still read.
pub const GRACE: Duration = Duration::from_millis(500);

/// A program that runs; dropping it ends it.
pub struct LaunchedProgram {
    launched: Launched,
}

/// What became of it.
pub struct ProgramOutcome {
    /// Its status, or the signal that ended it.
    pub end: Result<i32, i32>,
    pub ids: SandboxIds,
    pub limits_hit: Vec<LimitHit>,
    /// The step at which the sandbox could not be built.
    pub refused: Option<SetupFailure>,
    /// Why the program could not be started in it.
    pub not_started: Option<io::Error>,
    pub build_time: Duration,
    /// What of the sandbox is weaker than planned.
    pub notes: Vec<String>,
    /// The write layer of an agent that wrote to memory.
    pub memory_upper: Option<OwnedFd>,
}

impl LaunchedProgram {
    pub fn start(plan: &LaunchPlan, stdin: Stdio) -> io::Result<Self> {
        Ok(Self { launched: launch(plan, stdin, Stdio::piped(), Stdio::piped())? })
    }

    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.launched.child().stdin.take()
    }

    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.launched.child().stdout.take()
    }

    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.launched.child().stderr.take()
    }

    /// Waits for the end of all its processes; false when the time is over first.
    pub fn wait_until(&mut self, deadline: Instant) -> bool {
        self.launched.wait_until(deadline)
    }

    /// Asks it to end by itself.
    pub fn ask_to_end(&mut self) {
        self.launched.ask_to_end();
    }

    /// Ends it and everything that it started.
    pub fn finish(&mut self) -> io::Result<ProgramOutcome> {
        const KILLED: i32 = 9;
        let mut outcome = ProgramOutcome {
            end: Err(KILLED),
            ids: SandboxIds::User,
            limits_hit: Vec::new(),
            refused: None,
            not_started: None,
            build_time: Duration::ZERO,
            notes: Vec::new(),
            memory_upper: None,
        };
        let mut built = false;
        for message in self.launched.finish()? {
            let report = match message {
                LaunchMessage::Report(report) => report,
                LaunchMessage::MemoryUpper(upper) => {
                    outcome.memory_upper = Some(upper);
                    continue;
                }
            };
            match report {
                LaunchReport::Built { ids, micros, notes } => {
                    built = true;
                    outcome.ids = ids;
                    outcome.build_time = Duration::from_micros(micros);
                    outcome.notes = notes;
                }
                LaunchReport::Refused(failure) => outcome.refused = Some(failure),
                LaunchReport::NotStarted { errno } => {
                    outcome.not_started = Some(io::Error::from_raw_os_error(errno));
                }
                LaunchReport::Exited(status) => outcome.end = Ok(status),
                LaunchReport::Signalled(signal) => outcome.end = Err(signal),
                LaunchReport::LimitHit(limit) => outcome.limits_hit.push(limit),
            }
        }
        if !built && outcome.refused.is_none() {
            return Err(io::Error::other("the launcher ended before the sandbox was built"));
        }
        Ok(outcome)
    }
}

/// When a time limit that starts now is over; a limit beyond any run is as good as none.
pub fn deadline(timeout: Duration) -> Instant {
    const A_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + timeout.min(A_YEAR)
}
