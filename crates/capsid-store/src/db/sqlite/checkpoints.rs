//! Bringing what was committed from the log into the file, on a thread of its own, so that no write waits for it.

use super::connection::open_for_migration;
use super::spawn;
use capsid_model::problem::Result;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the log is looked at.
const EVERY: Duration = Duration::from_millis(250);
/// How many pages may wait in the log: 64 MB of 8 KB each. A page that changes often is brought over once for all its changes.
const PAGES: i64 = 8_000;

/// The thread. It ends when this is dropped.
pub struct Checkpoints {
    ends: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread.
    pub fn start(path: &Path) -> Result<Self> {
        let connection = open_for_migration(path)?;
        let (ends, ended) = sync_channel(1);
        let thread = spawn("store-checkpoints", move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = checkpoint(&connection) {
                    tracing::warn!("the database's log could not be brought into its file: {error}");
                }
            }
        })?;
        Ok(Self { ends: Some(ends), thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.ends = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// Looks how much waits, and brings it over when that is much. Neither readers nor the writer wait for this.
fn checkpoint(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let waiting = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| {
        Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?)
    })?;
    if waiting > PAGES {
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    }
    Ok(())
}
