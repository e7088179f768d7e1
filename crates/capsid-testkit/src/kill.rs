//! The kill harness: follows the phases that a program announces on stderr, and kills it inside one of them.

use crate::wait;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What became of a program that was to be killed.
#[derive(Debug)]
pub struct KillOutcome {
    /// The phase it announced last; none when it died before the first.
    pub phase: Option<String>,
    /// Its exit status, when it ended before it was killed.
    pub status: Option<i32>,
    /// What it printed until then.
    pub stdout: String,
    /// Its output until then, phases included.
    pub stderr: String,
}

/// Runs a command and kills its process group with SIGKILL, `delay` after it announced `phase`.
pub fn kill_in_phase(command: &mut Command, phase: &str, delay: Duration) -> KillOutcome {
    let mut child = command.process_group(0).spawn().unwrap();
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut output = Vec::new();
    let target = format!("phase {phase}\n");
    loop {
        let start = output.len();
        if reader.read_until(b'\n', &mut output).unwrap() == 0 {
            break;
        }
        if &output[start..] == target.as_bytes() {
            pause(delay);
            // The program may have ended by itself; its id is not free before it is waited for.
            let _ = kill_process_group(group, Signal::KILL);
            break;
        }
    }
    reader.read_to_end(&mut output).unwrap();
    let status = child.wait().unwrap().code();
    let stderr = String::from_utf8_lossy(&output).into_owned();
    KillOutcome { phase: last_phase(&stderr), status, stdout: printed.join().unwrap(), stderr }
}

fn last_phase(stderr: &str) -> Option<String> {
    let mut phases = stderr.lines().filter_map(|line| line.strip_prefix("phase "));
    phases.next_back().map(str::to_owned)
}

/// Short waits are spun, because sleeping takes longer than a phase may last.
fn pause(delay: Duration) {
    let start = Instant::now();
    if delay > Duration::from_millis(2) {
        std::thread::sleep(delay - Duration::from_millis(1));
    }
    while start.elapsed() < delay {
        std::hint::spin_loop();
    }
}

/// Waits until no process works in a folder: an agent has a session of its own and outlives the program that started it.
pub fn wait_until_quiet(folder: &Path) {
    let what = format!("every process in `{}` ends", folder.display());
    wait::until(&what, Duration::from_secs(60), || !somebody_works_in(folder));
}

fn somebody_works_in(folder: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    processes.flatten().any(|process| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    })
}
