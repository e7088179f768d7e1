//! The story told to a hub that somebody looks at: it runs beside the hub, and what it says goes into a file.

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

/// A story that is being told. It ends when it is dropped.
pub(crate) struct BackgroundDemo {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundDemo {
    /// Begins it, with its nodes in `folder`.
    pub(crate) fn begin(folder: PathBuf, hub: String) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || run_story(&folder, &hub, &asked));
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
    let ended = run(folder, hub, stop).and_then(|(end, said)| {
        files::replace_private(&log, &said)?;
        Ok(end)
    });
    let place = paint(NAME, log.display());
    match ended {
        Ok(AgentEnd::Exited(0)) => {
            output::talk(format_args!(
                "{} It is told, and all of it is in {place}, passwords too.",
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
        Ok(_) => output::talk(format_args!("{} The story broke off: see {place}.", paint(WARN, "warning:"))),
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
        (_, said) => Err(story_broke(String::from_utf8_lossy(&said).trim())),
    }
}

/// Runs this program to its end; gives what it said.
fn capsid(folder: &Path, words: &[&str], input: &[u8], stop: &AtomicBool) -> Result<(AgentEnd, Vec<u8>)> {
    let mut said = Vec::new();
    let run = ProgramRun { folder, input, env: &[], longest: MAX_LEN, stop };
    let end = run_self(words, &run, &mut |bytes| said.extend_from_slice(bytes))?;
    Ok((end, said))
}
