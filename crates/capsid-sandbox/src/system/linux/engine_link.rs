//! The connection of the launcher and the first process to the engine that started them.

use super::sys;
use crate::system::plan::{LaunchReport, SetupFailure};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// The two connections to the engine, and when the launcher began.
pub struct EngineLink {
    /// At its end everything ends.
    pub lifeline: UnixStream,
    pub report: UnixStream,
    pub began: Instant,
    /// The mask that the program is to have.
    pub umask: rustix::fs::Mode,
}

impl EngineLink {
    pub fn send(&mut self, report: &LaunchReport) {
        if let Ok(mut line) = serde_json::to_vec(report) {
            line.push(b'\n');
            // An engine that is gone ends the sandbox by the lifeline.
            let _ = self.report.write_all(&line);
        }
    }

    /// Hands out a descriptor, alone: it goes with the one byte that ends an empty line.
    pub fn send_upper(&mut self, upper: &OwnedFd) -> rustix::io::Result<()> {
        use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
        let descriptors = [upper.as_fd()];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(&self.report, &[std::io::IoSlice::new(b"\n")], &mut control, SendFlags::empty()).map(drop)
    }

    pub fn built(&mut self, ids: crate::SandboxIds, notes: Vec<String>) {
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.send(&LaunchReport::Built { ids, micros, notes });
    }

    pub fn refuse(&mut self, failure: SetupFailure) -> ! {
        self.send(&LaunchReport::Refused(failure));
        sys::exit(1);
    }
}
