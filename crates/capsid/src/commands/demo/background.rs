//! The demo story on a hub that somebody watches: it runs next to the hub, and its output goes into a file.

use super::market::new_password;
use super::program::story_broke;
use super::program::{ProgramRun, run_self};
use crate::output::{self, GOOD, NAME, WARN, paint};
use capsid_disk::files;
use capsid_model::Result;
use capsid_sandbox::AgentEnd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the story may take.
const MAX_LEN: Duration = Duration::from_secs(600);
/// The account that decides about everything.
const ADMIN: &str = "admin@example.org";

/// A story that is running. It ends when it is dropped.
pub(crate) struct BackgroundDemo {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundDemo {
    /// Begins it, with its nodes in `folder`.
    pub(crate) fn begin(folder: PathBuf, hub: String) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || run_story(&folder, &hub, &stop_flag));
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for BackgroundDemo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _joined = self.thread.take().map(JoinHandle::join);
    }
}

fn run_story(folder: &Path, hub: &str, stop: &AtomicBool) {
    output::talk(
        "A story begins: four nodes, two people, a bounty. Watch the pages; it takes half a minute.",
    );
    let admin = make_admin(folder, stop);
    let log = folder.join("story.log");
    let ended = run(folder, hub, stop).and_then(|(end, output)| {
        files::replace_private(&log, &output)?;
        Ok(end)
    });
    let log_path = paint(NAME, log.display());
    match ended {
        Ok(AgentEnd::Exited(0)) => {
            output::talk(format_args!(
                "{} It is told, and all of it is in {log_path}, passwords too.",
                paint(GOOD, "done:")
            ));
            output::talk(match admin {
                Ok(password) => format!(
                    "An admin logs in at {} as {} with the password {}",
                    paint(NAME, format_args!("{hub}/login")),
                    paint(NAME, ADMIN),
                    paint(NAME, password)
                ),
                Err(problem) => format!("{} There is no admin: {}", paint(WARN, "warning:"), problem.message),
            });
        }
        _ if stop.load(Ordering::Relaxed) => {}
        Ok(_) => {
            output::talk(format_args!("{} The story broke off: see {log_path}.", paint(WARN, "warning:")));
        }
        Err(problem) => output::talk(format_args!("{} {}", paint(WARN, "warning:"), problem.message)),
    }
}

fn run(folder: &Path, hub: &str, stop: &AtomicBool) -> Result<(AgentEnd, Vec<u8>)> {
    let nodes = folder.join("nodes").display().to_string();
    capsid(folder, &["demo", "--network", "--hub", hub, "--dir", &nodes], b"", stop)
}

/// Makes an account that may decide about everything, as the operator of a hub would; gives its password.
fn make_admin(folder: &Path, stop: &AtomicBool) -> Result<String> {
    let data = folder.join("hub").display().to_string();
    let password = new_password();
    let words = ["hub", "admin", "create-user", ADMIN, "--admin", "--password-stdin", "--data", &data];
    match capsid(folder, &words, format!("{password}\n").as_bytes(), stop)? {
        (AgentEnd::Exited(0), _) => Ok(password),
        (_, output) => Err(story_broke(String::from_utf8_lossy(&output).trim())),
    }
}

/// Runs this program to its end; returns its output.
fn capsid(folder: &Path, words: &[&str], input: &[u8], stop: &AtomicBool) -> Result<(AgentEnd, Vec<u8>)> {
    let mut output = Vec::new();
    let run = ProgramRun { folder, input, env: &[], longest: MAX_LEN, stop };
    let end = run_self(words, &run, &mut |bytes| output.extend_from_slice(bytes))?;
    Ok((end, output))
}
