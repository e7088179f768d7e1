//! What one run may use up.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
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
    /// The most processes this user may have while it runs; the superuser is not bound by it.
    pub processes: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(180),
            output_bytes: 64 * 1024,
            file_bytes: 2 << 30,
            memory_bytes: 8 << 30,
            open_files: 4096,
            processes: 8192,
        }
    }
}

impl ProcessLimits {
    /// The limits as the kernel knows them, worked out before the fork so that the child only has to set them.
    pub(crate) fn for_kernel(&self) -> [(Resource, u64); 6] {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        // CPU time adds up over threads, so a program that uses every core must not hit it before the clock does.
        let cpu_seconds = (self.timeout.as_secs() + 1).saturating_mul(cores);
        [
            (Resource::Core, 0),
            (Resource::Cpu, cpu_seconds),
            (Resource::Data, self.memory_bytes),
            (Resource::Fsize, self.file_bytes),
            (Resource::Nofile, self.open_files),
            (Resource::Nproc, self.processes),
        ]
    }
}

/// Lowers one limit of this process; a stricter one that is already there stays.
pub(crate) fn lower((resource, most): (Resource, u64)) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |there| there.min(most));
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    Ok(setrlimit(resource, limit)?)
}
