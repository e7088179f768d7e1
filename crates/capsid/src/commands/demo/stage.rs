//! How a story is shown: in a few steps with a few lines each. Everything else that happens is in its log.

use crate::output::{self, DIM, HEAD, paint};
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many lines of a step are shown.
const MAX_LINES: usize = 8;
/// How long a reader has between two steps.
const PAUSE: Duration = Duration::from_millis(1200);

/// What happens between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// A short pause.
    Watch,
    /// Nothing.
    Fast,
    /// Somebody presses Enter.
    Step,
}

impl Pace {
    /// A pause is for somebody who watches.
    pub(super) fn choose(is_fast: bool, is_stepwise: bool) -> Self {
        let is_watched = std::io::stdout().is_terminal() && !output::is_json();
        match (is_stepwise, is_fast || !is_watched) {
            (true, _) if std::io::stdin().is_terminal() => Self::Step,
            (_, true) => Self::Fast,
            _ => Self::Watch,
        }
    }
}

/// Shows a story.
pub(super) struct Stage {
    pace: Pace,
    total: usize,
    step: Cell<usize>,
    shown: Cell<usize>,
    log: RefCell<File>,
    pub(super) log_path: PathBuf,
}

impl Stage {
    /// For a story of so many steps, with its log in this folder.
    pub(super) fn new(folder: &Path, total: usize, pace: Pace) -> Result<Self> {
        let log_path = folder.join("story.log");
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        // The people of a story have passwords.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let log = options.open(&log_path).map_err(|error| Problem::io("create", &log_path, &error))?;
        Ok(Self { pace, total, step: Cell::new(0), shown: Cell::new(0), log: RefCell::new(log), log_path })
    }

    /// Begins the next step; `why` says in a sentence what it is for.
    pub(super) fn begin_step(&self, title: &str, why: &str) -> Result<()> {
        let step = self.step.get() + 1;
        if step > 1 {
            self.pause()?;
        }
        self.step.set(step);
        self.shown.set(0);
        let number = paint(DIM, format_args!("{step}/{}", self.total));
        output::line(format_args!("\n{number} {}", paint(HEAD, title)));
        output::line(paint(DIM, why));
        self.record(format!("\n{step}/{} {title}\n{why}\n", self.total).as_bytes());
        Ok(())
    }

    fn pause(&self) -> Result<()> {
        match self.pace {
            Pace::Fast => {}
            Pace::Watch => std::thread::sleep(PAUSE),
            Pace::Step => {
                output::talk(paint(DIM, "Press Enter."));
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map_err(|error| {
                    Problem::new(Code::IoError, format!("The terminal is gone: {error}."))
                })?;
            }
        }
        Ok(())
    }

    /// A line of the story. Lines beyond those that a step shows are in the log alone.
    pub(super) fn line(&self, text: impl Display) {
        let text = text.to_string();
        self.record(format!("{}\n", anstream::adapter::strip_str(&text)).as_bytes());
        if self.shown.get() < MAX_LINES {
            self.shown.set(self.shown.get() + 1);
            output::line(text);
        }
    }

    /// A command of a node, as it would be typed.
    pub(super) fn command(&self, node: &str, words: &str) {
        self.line(format_args!("{} {}", paint(DIM, format_args!("{node}$")), paint(HEAD, inert_line(words))));
    }

    /// What only the log gets.
    pub(super) fn record(&self, bytes: &[u8]) {
        // A full disk stops the story elsewhere, and its log is not what it is about.
        let _ = self.log.borrow_mut().write_all(bytes);
    }
}
