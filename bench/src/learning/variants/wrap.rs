//! What stands around the output of a tool: prefixes of lines, commands before it, lines that only repeat that it failed.

use crate::learning::transforms::map_lines;
use fastrand::Rng;

const BEFORE: [&str; 4] = [
    "added 212 packages, and audited 213 packages in 4s\nfound 0 vulnerabilities\n",
    "Already up to date.\nInstalling dependencies from lock file\n\nNo dependencies to install or update\n",
    "remote: Enumerating objects: 41, done.\nReceiving objects: 100% (41/41), 9.21 KiB | 9.21 MiB/s, done.\n",
    "Restored cache from key linux-build-7\n",
];
const AFTER: [&str; 4] = [
    "##[error]Process completed with exit code 1.\n",
    "make: *** [Makefile:14: check] Error 1\n",
    "error: Recipe `check` failed on line 9 with exit code 1\n",
    "Cleaning up project directory and file based variables\nERROR: Job failed: exit code 1\n",
];

/// Puts a log into the surroundings of a run.
pub fn wrap_log(log: &str, rng: &mut Rng) -> String {
    let mut wrapped = String::new();
    if rng.u8(..4) == 0 {
        wrapped.push_str(BEFORE[rng.usize(..BEFORE.len())]);
    }
    wrapped.push_str(log);
    if rng.u8(..3) == 0 {
        wrapped.push_str(AFTER[rng.usize(..AFTER.len())]);
    }
    let (hour, minute) = (rng.u32(..24), rng.u32(..60));
    let service = ["web", "api", "worker", "app"][rng.usize(..4)];
    let step = rng.u32(3..30);
    let day = rng.u32(1..29);
    let prefix = |at: usize, kind: u8| {
        let second = at % 60;
        match kind {
            0 => format!(
                "2026-05-{day:02}T{hour:02}:{minute:02}:{second:02}.{:07}Z ",
                at * 31_337 % 10_000_000
            ),
            1 => format!("{service}-1  | "),
            2 => format!("#{step} {}.{:03} ", at / 9, at * 37 % 1_000),
            3 => format!("[{hour:02}:{minute:02}:{second:02}] "),
            4 => format!("May {day:2} {hour:02}:{minute:02}:{second:02} host {service}[{}]: ", 700 + step),
            _ => String::new(),
        }
    };
    let kind = rng.u8(..10);
    let mut lines = map_lines(&wrapped, |at, line| prefix(at, kind) + line);
    if rng.u8(..8) == 0 {
        lines = lines.replace('\n', "\r\n");
    }
    lines
}
