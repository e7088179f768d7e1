//! PostgreSQL: a few threads, each with a connection of its own. Several hubs may share the server, so an operation
//! locks the rows that it decides on, and is done again when it met another one in a deadlock.

mod tx;

use crate::db::operation::ErasedOperation;
use crate::db::sqlite::submit;
use capsid_model::problem::{Code, Problem, Result};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Executor};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tx::PostgresTx;

pub use tx::problem;

/// The most operations that wait; more are told to come again.
const QUEUE: usize = 4096;
/// How often an operation that met a deadlock is done again.
const ATTEMPTS: usize = 20;

/// The threads of one database.
pub struct PostgresThreads {
    writes: Option<SyncSender<Box<dyn ErasedOperation>>>,
    reads: Option<SyncSender<Box<dyn ErasedOperation>>>,
    threads: Vec<JoinHandle<()>>,
}

impl PostgresThreads {
    /// Connects. The database has been migrated.
    pub fn open(url: &str, writers: usize, readers: usize) -> Result<Self> {
        let options = options(url)?;
        let mut threads = Vec::new();
        let writes = start(&options, writers, ConnectionKind::Write, &mut threads)?;
        let reads = start(&options, readers, ConnectionKind::Read, &mut threads)?;
        Ok(Self { writes: Some(writes), reads: Some(reads), threads })
    }

    /// Hands an operation to a connection that writes.
    pub fn write(&self, task: Box<dyn ErasedOperation>) {
        submit(self.writes.as_ref(), task);
    }

    /// Hands an operation to a connection that reads.
    pub fn read(&self, task: Box<dyn ErasedOperation>) {
        submit(self.reads.as_ref(), task);
    }
}

impl Drop for PostgresThreads {
    /// Lets what waits be done, then closes the connections.
    fn drop(&mut self) {
        self.writes = None;
        self.reads = None;
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

#[derive(Clone, Copy)]
enum ConnectionKind {
    Read,
    Write,
}

fn start(
    options: &PgConnectOptions,
    count: usize,
    kind: ConnectionKind,
    threads: &mut Vec<JoinHandle<()>>,
) -> Result<SyncSender<Box<dyn ErasedOperation>>> {
    let (queue, waiting) = sync_channel(QUEUE);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..count.max(1) {
        let worker = PostgresWorker { runtime: runtime()?, connection: None, options: options.clone(), kind };
        let waiting = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("store-postgres".to_owned())
            .spawn(move || worker.work(&waiting))
            .map_err(|error| Problem::new(Code::IoError, format!("Could not start a thread: {error}.")))?;
        threads.push(thread);
    }
    Ok(queue)
}

/// How to reach the database.
pub fn options(url: &str) -> Result<PgConnectOptions> {
    url.parse::<PgConnectOptions>()
        .map(|options| {
            options
                .application_name("capsid")
                // More than there are statements, so that each is prepared once for a connection.
                .statement_cache_capacity(1024)
                .log_statements(tracing::log::LevelFilter::Off)
                .disable_statement_logging()
        })
        .map_err(|_| {
            Problem::new(Code::InputInvalid, "The database URL cannot be read.")
                .fix("Write it as `postgres://user:password@host:5432/name`.")
        })
}

/// A runtime for one connection on one thread.
pub fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Problem::new(Code::IoError, format!("Could not start the database's runtime: {error}."))
    })
}

/// Connects, and gives up after ten seconds.
pub async fn connect(options: &PgConnectOptions) -> Result<PgConnection> {
    let connecting = tokio::time::timeout(Duration::from_secs(10), options.connect());
    let connected = connecting
        .await
        .map_err(|_| unreachable_server("no answer within 10 seconds"))?
        .map_err(|e| problem(&e));
    let mut connection = connected?;
    // A walk through the graph is guessed to be dear, and compiling it takes a hundred times as long as walking. A server
    // that knows no such setting compiles nothing.
    let _unknown = connection.execute("SET jit = off").await;
    Ok(connection)
}

fn unreachable_server(why: &str) -> Problem {
    Problem::new(Code::StoreUnreachable, format!("The database server cannot be reached: {why}."))
        .fix("Check the URL and that the server runs.")
}

struct PostgresWorker {
    runtime: Runtime,
    connection: Option<PgConnection>,
    options: PgConnectOptions,
    kind: ConnectionKind,
}

impl PostgresWorker {
    fn work(mut self, waiting: &Mutex<Receiver<Box<dyn ErasedOperation>>>) {
        loop {
            let next = match waiting.lock() {
                Ok(queue) => queue.recv(),
                Err(_) => return,
            };
            match next {
                Ok(task) => self.do_one(task),
                Err(_) => return,
            }
        }
    }

    fn do_one(&mut self, mut task: Box<dyn ErasedOperation>) {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(task.as_mut()) {
                Err(PostgresFailure::Conflict) if attempts < ATTEMPTS => {}
                Err(PostgresFailure::Conflict) => {
                    return task.finish(Err(Problem::new(
                        Code::StoreBusy,
                        "Too many hubs change the same rows at once.",
                    )
                    .fix("Try again in a second.")));
                }
                // A connection that was lost before anything was sent on it is simply opened again.
                Err(PostgresFailure::Lost) if attempts < 2 => self.connection = None,
                Err(PostgresFailure::Lost) => {
                    self.connection = None;
                    return task.finish(Err(unreachable_server("the connection was lost")));
                }
                Err(PostgresFailure::Other(problem)) => return task.finish(Err(problem)),
                Ok(()) => return task.finish(Ok(())),
            }
        }
    }

    fn attempt(&mut self, task: &mut dyn ErasedOperation) -> Result<(), PostgresFailure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.runtime.block_on(connect(&self.options)).map_err(PostgresFailure::Other)?,
        };
        let connection = self.connection.insert(connection);
        let begin = match self.kind {
            ConnectionKind::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            ConnectionKind::Write => "BEGIN",
        };
        self.runtime.block_on(connection.execute(begin)).map_err(|e| lost_or(&e))?;
        let mut tx = PostgresTx::new(connection, &self.runtime);
        let commits = task.run(&mut tx);
        let failure = tx.failure.take();
        let end = if commits && failure.is_none() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.runtime.block_on(connection.execute(end));
        if let Some(failure) = failure {
            return if ended.is_err() { Err(PostgresFailure::Lost) } else { Err(failure) };
        }
        match ended {
            Ok(_) => Ok(()),
            Err(error) if is_conflict(&error) => Err(PostgresFailure::Conflict),
            // Whether the commit arrived is not known, so it is not tried again.
            Err(error) => {
                self.connection = None;
                Err(PostgresFailure::Other(problem(&error)))
            }
        }
    }
}

/// Why a transaction did not come to its end.
pub enum PostgresFailure {
    /// It met another one; nothing was kept, and it may be done again.
    Conflict,
    /// The connection broke before anything was kept.
    Lost,
    /// Something that doing it again does not mend.
    Other(Problem),
}

fn is_conflict(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|e| e.code()).is_some_and(|code| code == "40001" || code == "40P01")
}

fn lost_or(error: &sqlx::Error) -> PostgresFailure {
    match error {
        _ if is_conflict(error) => PostgresFailure::Conflict,
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => PostgresFailure::Lost,
        sqlx::Error::Database(e) if e.code().is_some_and(|code| code.starts_with("57P")) => {
            PostgresFailure::Lost
        }
        _ => PostgresFailure::Other(problem(error)),
    }
}
