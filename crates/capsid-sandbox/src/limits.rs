//! What one run may use up.

use crate::SandboxIds;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a program may run and how much it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Wall clock; everything the program started is killed when it is over.
    pub timeout: Duration,
    /// How much is kept of each of its two outputs; the rest is read and dropped.
    pub output_bytes: usize,
    /// The largest file it may write.
    pub file_bytes: u64,
    /// The most memory each of its processes may claim.
    pub memory_bytes: u64,
    /// The most files each of its processes may hold open.
    pub open_files: u64,
    /// The most processes and threads. A superuser whose ids are not mapped is not bound by it.
    pub processes: u64,
    /// The most it may write to disk in all.
    pub disk_bytes: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(180),
            output_bytes: 512 * 1024,
            file_bytes: 2 << 30,
            memory_bytes: 8 << 30,
            open_files: 4096,
            processes: 1024 + 64 * cores(),
            disk_bytes: 4 << 30,
        }
    }
}

impl ProcessLimits {
    /// What a stranger's command gets at most.
    pub(crate) fn for_untrusted(self) -> Self {
        Self {
            timeout: self.timeout.min(Duration::from_secs(60)),
            output_bytes: self.output_bytes.min(64 << 10),
            memory_bytes: self.memory_bytes.min(2 << 30),
            processes: self.processes.min(256),
            disk_bytes: self.disk_bytes.min(512 << 20),
            ..self
        }
    }

    /// The limits as the kernel of Linux knows them.
    #[cfg(target_os = "linux")]
    pub(crate) fn for_kernel(&self) -> Vec<(u32, u64)> {
        // CPU time adds up over threads, so a program that uses every core must not hit it before the clock does.
        let cpu_seconds = (self.timeout.as_secs() + 1).saturating_mul(cores());
        vec![
            (resource(libc::RLIMIT_CORE), 0),
            (resource(libc::RLIMIT_CPU), cpu_seconds),
            (resource(libc::RLIMIT_DATA), self.memory_bytes),
            (resource(libc::RLIMIT_FSIZE), self.file_bytes),
            (resource(libc::RLIMIT_NOFILE), self.open_files),
            (resource(libc::RLIMIT_NPROC), self.processes),
        ]
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn for_kernel(&self) -> Vec<(u32, u64)> {
        Vec::new()
    }
}

/// What an agent is limited to, as the kernel of Linux knows it.
#[cfg(target_os = "linux")]
pub(crate) fn agent_limits(processes: u64) -> Vec<(u32, u64)> {
    vec![(resource(libc::RLIMIT_CORE), 0), (resource(libc::RLIMIT_NPROC), processes)]
}

/// The number of a resource. The C libraries have other types for it.
#[cfg(target_os = "linux")]
fn resource(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn agent_limits(_processes: u64) -> Vec<(u32, u64)> {
    Vec::new()
}

/// The most files in a temporary folder in memory.
pub(crate) const TEMPORARY_INODES: u64 = 200_000;
/// The same on disk, where they are counted from time to time: a program has more of them before that is seen.
pub(crate) const TEMPORARY_FILES: u64 = 100_000;
/// The most files that one run may add to a folder on disk.
pub(crate) const WRITTEN_FILES: u64 = 2_000_000;

/// What no limit covers on this machine, for a note to its owner: every process has a limit of its own, and only a control
/// group could limit them together.
pub fn unlimited_resources(ids: SandboxIds) -> Vec<&'static str> {
    let processes = (ids == SandboxIds::Root).then_some("the number of processes");
    ["the total memory of all processes"].into_iter().chain(processes).collect()
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// A limit that a program ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitHit {
    /// It wrote too much, or left too little room on the disk, and was stopped.
    Disk,
    /// Its time was over and it was stopped.
    Time,
    /// It printed more than is kept.
    Output,
    /// A file grew too large and the writer was stopped.
    FileSize,
}

impl LimitHit {
    /// The word that goes into records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Time => "time",
            Self::Output => "output",
            Self::FileSize => "file_size",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_command_gets_no_more_than_its_limits() {
        let all = ProcessLimits::default().for_untrusted();
        assert_eq!((all.timeout, all.output_bytes), (Duration::from_secs(60), 64 << 10));
        assert_eq!((all.memory_bytes, all.processes, all.disk_bytes), (2 << 30, 256, 512 << 20));
        let less = ProcessLimits { output_bytes: 100, timeout: Duration::from_secs(1), ..all };
        assert_eq!(less.for_untrusted(), less);
    }
}
