//! Lines of the log on their way out. A thread writes them, so that no request waits for a pipe that nobody reads; lines
//! that cannot be written, or are too many, are dropped and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// The most lines that wait.
const QUEUE: usize = 8192;
/// How long the end of the program waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

// A program has one log, however many hubs it runs.
static DROPPED: AtomicU64 = AtomicU64::new(0);
static IS_DEGRADED: AtomicBool = AtomicBool::new(false);

/// How many lines were dropped.
pub fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Whether the last line was dropped.
pub fn is_degraded() -> bool {
    IS_DEGRADED.load(Ordering::Relaxed)
}

fn count_dropped() {
    DROPPED.fetch_add(1, Ordering::Relaxed);
    IS_DEGRADED.store(true, Ordering::Relaxed);
}

enum LogMessage {
    Line(Vec<u8>),
    /// Everything before it was written or dropped.
    Flush(SyncSender<()>),
}

/// Where lines are queued.
#[derive(Clone)]
pub struct LogQueue {
    lines: SyncSender<LogMessage>,
}

impl LogQueue {
    /// Starts the thread that writes.
    pub fn start(target: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(QUEUE);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(target, &waiting))?;
        Ok(Self { lines })
    }

    /// Waits a moment for the lines that are queued.
    pub fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        if self.lines.try_send(LogMessage::Flush(done)).is_ok() {
            let _late = is_done.recv_timeout(LAST_LINES);
        }
    }
}

/// Writes the last lines when it is dropped.
pub struct LogGuard(pub LogQueue);

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.0.flush();
    }
}

fn write_all(mut target: impl Write, waiting: &Receiver<LogMessage>) {
    let mut is_torn = false;
    for message in waiting {
        match message {
            LogMessage::Line(line) => match write_line(&mut target, &line, is_torn) {
                Ok(()) => {
                    is_torn = false;
                    IS_DEGRADED.store(false, Ordering::Relaxed);
                }
                Err(_) => {
                    is_torn = true;
                    count_dropped();
                }
            },
            LogMessage::Flush(done) => {
                let _nobody_waits = done.try_send(());
            }
        }
    }
}

/// Part of a line may be there from a write that failed. What follows begins on a line of its own.
fn write_line(target: &mut impl Write, line: &[u8], is_torn: bool) -> io::Result<()> {
    if is_torn {
        target.write_all(b"\n")?;
    }
    target.write_all(line)?;
    target.flush()
}

/// Takes one line. It never fails, because nobody could log that.
pub struct LogLine {
    lines: SyncSender<LogMessage>,
}

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(LogMessage::Line(bytes.to_vec())).is_err() {
            count_dropped();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = LogLine;

    fn make_writer(&'a self) -> LogLine {
        LogLine { lines: self.lines.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A file that is full while it is told to be.
    #[derive(Clone, Default)]
    struct Disk(Arc<(AtomicBool, Mutex<Vec<u8>>)>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.0.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.1.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_cannot_be_written_are_dropped_and_counted() {
        let disk = Disk::default();
        let queue = LogQueue::start(disk.clone()).unwrap();
        let send = |text: &str| {
            queue.make_writer().write_all(text.as_bytes()).unwrap();
            queue.flush();
        };
        let before = dropped_lines();
        send("one\n");
        disk.0.0.store(true, Ordering::SeqCst);
        send("two\n");
        assert!(is_degraded());
        assert_eq!(dropped_lines(), before + 1);
        disk.0.0.store(false, Ordering::SeqCst);
        send("three\n");
        assert!(!is_degraded());
        assert_eq!(disk.0.1.lock().unwrap().as_slice(), b"one\n\nthree\n");
    }
}
