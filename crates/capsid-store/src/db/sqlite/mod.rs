//! SQLite: one thread writes, a few read. Writes that wait together are committed together, so that one wait for the
//! disk serves many; where one of them fails, only that one is undone.

mod checkpoints;
mod connection;
mod database_file;
mod free_space;
mod tx;

use crate::db::operation::ErasedOperation;
use capsid_disk::lock::Lock;
use capsid_model::problem::{Code, Problem, Result};
use checkpoints::Checkpoints;
use database_file::DatabaseFile;
use free_space::FreeSpace;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use connection::{SqliteConnection, open_for_migration};
pub use tx::{SqliteTx, StatementCache, problem};

/// The most writes that share a commit, so that none waits long.
const GROUP: usize = 256;
/// The longest that a group waits for more writes.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
/// The most operations that wait; more are told to come again.
const QUEUE: usize = 4096;

/// The threads of one database file.
pub struct SqliteThreads {
    writes: Option<SyncSender<Box<dyn ErasedOperation>>>,
    reads: Option<SyncSender<Box<dyn ErasedOperation>>>,
    threads: Vec<JoinHandle<()>>,
    checkpoints: Option<Checkpoints>,
    file: DatabaseFile,
    space: FreeSpace,
    /// Held as long as the store is open: a second hub on the same file is refused.
    _lock: Option<Lock>,
}

impl SqliteThreads {
    /// Starts the threads. The file has been migrated.
    pub fn open(path: &Path, readers: usize, min_free_bytes: u64, lock: Option<Lock>) -> Result<Self> {
        let (writes, waiting) = sync_channel(QUEUE);
        let writer = SqliteConnection::writer(path)?;
        let mut threads = vec![spawn("store-writer", move || write_all(writer, &waiting))?];
        let (reads, waiting) = sync_channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..readers.max(1) {
            let (reader, waiting) = (SqliteConnection::reader(path)?, Arc::clone(&waiting));
            threads.push(spawn("store-reader", move || read_all(reader, &waiting))?);
        }
        let checkpoints = Some(Checkpoints::start(path)?);
        let file = DatabaseFile::open(path);
        let space = FreeSpace::new(path, min_free_bytes);
        Ok(Self { writes: Some(writes), reads: Some(reads), threads, checkpoints, file, space, _lock: lock })
    }

    /// Hands an operation to the writer.
    pub fn write(&self, task: Box<dyn ErasedOperation>) {
        if self.file.is_left() {
            let gone = "The file of the database was moved, replaced or deleted.";
            task.finish(Err(Problem::new(Code::StoreUnreachable, gone)
                .fix("Stop the hub, put the file back in its place, and start it again.")));
            return;
        }
        match self.space.check() {
            Ok(()) => submit(self.writes.as_ref(), task),
            Err(problem) => task.finish(Err(problem)),
        }
    }

    /// Looks whether the open file is still at its path; otherwise nothing is written from then on.
    pub fn check_file(&self) -> bool {
        self.file.check()
    }

    /// Hands an operation to a reader.
    pub fn read(&self, task: Box<dyn ErasedOperation>) {
        submit(self.reads.as_ref(), task);
    }
}

impl Drop for SqliteThreads {
    /// Lets what waits be done, then closes the file.
    fn drop(&mut self) {
        self.checkpoints = None;
        self.writes = None;
        self.reads = None;
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

/// The lock file beside a database.
pub fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|error| {
        Problem::new(Code::IoError, format!("Could not start the thread `{name}`: {error}."))
    })
}

/// Queues a task, or tells it at once that too many wait.
pub(crate) fn submit(queue: Option<&SyncSender<Box<dyn ErasedOperation>>>, task: Box<dyn ErasedOperation>) {
    let refused = match queue.map(|queue| queue.try_send(task)) {
        None | Some(Ok(())) => return,
        Some(Err(TrySendError::Full(task) | TrySendError::Disconnected(task))) => task,
    };
    refused.finish(Err(Problem::new(Code::StoreBusy, "The database has more work than it can do just now.")
        .fix("Try again in a second.")));
}

fn write_all(mut connection: SqliteConnection, waiting: &Receiver<Box<dyn ErasedOperation>>) {
    let (mut expected, mut pause) = (1, Duration::ZERO);
    while let Ok(first) = waiting.recv() {
        let group = collect(first, waiting, expected, pause);
        // A lone writer need not wait for others.
        expected = group.len();
        pause = connection.write_group(group).min(LONGEST_PAUSE);
    }
    connection.close();
}

/// The writes of one group: those that wait, and those that come within `pause` until there are as many as in the group
/// before. Whoever was answered by that group's commit is about to write again.
fn collect(
    first: Box<dyn ErasedOperation>,
    waiting: &Receiver<Box<dyn ErasedOperation>>,
    expected: usize,
    pause: Duration,
) -> Vec<Box<dyn ErasedOperation>> {
    let until = Instant::now() + pause;
    let mut group = vec![first];
    while group.len() < GROUP {
        let left = match group.len() < expected {
            true => until.saturating_duration_since(Instant::now()),
            false => Duration::ZERO,
        };
        match waiting.recv_timeout(left) {
            Ok(task) => group.push(task),
            Err(_) => break,
        }
    }
    group
}

fn read_all(mut connection: SqliteConnection, waiting: &Mutex<Receiver<Box<dyn ErasedOperation>>>) {
    loop {
        let next = match waiting.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        match next {
            Ok(task) => connection.read_one(task),
            Err(_) => return,
        }
    }
}
