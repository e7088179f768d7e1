//! How far long work is: one line on a terminal, nothing elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(200);
/// Work that ends sooner shows nothing.
const FIRST: Duration = Duration::from_secs(1);

/// A line that is written over again and again, and goes away at the end.
pub struct ProgressLine {
    work: &'static str,
    last_shown: Option<Instant>,
    begun: Instant,
    on_terminal: bool,
}

impl ProgressLine {
    /// Nothing is shown before the work has taken a moment.
    pub fn new(work: &'static str) -> Self {
        Self { work, last_shown: None, begun: Instant::now(), on_terminal: std::io::stderr().is_terminal() }
    }

    /// Shows how much was done.
    pub fn update(&mut self, what: &str, done: u64, total: u64) {
        if self.is_due() {
            let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100).min(100);
            self.write(&format!("\r\x1b[K{} {what}: {percent} % of {total}", self.work));
        }
    }

    /// Shows how long it takes, where nobody knows how much there is to do.
    pub fn update_elapsed(&mut self, what: &str, elapsed: Duration) {
        if self.is_due() {
            self.write(&format!("\r\x1b[K{} {what}  {} s", self.work, elapsed.as_secs()));
        }
    }

    /// Takes the line away, so that something else can be printed.
    pub fn clear(&mut self) {
        if self.last_shown.is_some() {
            self.write("\r\x1b[K");
        }
    }

    fn is_due(&mut self) -> bool {
        let is_due = self.on_terminal
            && match self.last_shown {
                None => self.begun.elapsed() >= FIRST,
                Some(last) => last.elapsed() >= EVERY,
            };
        if is_due {
            self.last_shown = Some(Instant::now());
        }
        is_due
    }

    fn write(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _unseen = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Work of unknown length: on a terminal a line with the time it takes, until it is dropped.
pub struct ElapsedLine {
    worker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ElapsedLine {
    /// Shows what is done now; where there is no terminal, once.
    pub fn start(what: &'static str) -> Option<Self> {
        let line = Self::on_terminal(what);
        if line.is_none() {
            super::talk(format_args!("  {what}"));
        }
        line
    }

    /// The same, and nothing where there is no terminal.
    pub fn on_terminal(what: &'static str) -> Option<Self> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut progress = ProgressLine::new("  working:");
            let begun = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(EVERY) {
                progress.update_elapsed(what, begun.elapsed());
            }
        });
        Some(Self { worker: Some((stop, thread)) })
    }
}

impl Drop for ElapsedLine {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.worker.take() {
            drop(stop);
            // The line is gone when its thread is.
            let _ended = thread.join();
        }
    }
}
