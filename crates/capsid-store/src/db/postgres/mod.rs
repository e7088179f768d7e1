//! PostgreSQL: a few threads, each with a connection of its own. Several hubs may share the server, so an operation
//! locks the rows that it decides on, and is done again when it met another one in a deadlock or its server went away.

mod connection;
mod error;
mod outage;
mod passfile;
mod replica;
mod row;
mod settings;
mod tls;
mod tx;
mod worker;

use crate::db::operation::ErasedOperation;
use crate::db::sqlite::submit;
use capsid_model::problem::{Code, Problem, Result};
use error::PostgresFailure;
use outage::Outage;
use replica::Replica;
use settings::PostgresSettings;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use worker::{ConnectionKind, PostgresWorker};

pub(crate) use connection::runtime;
pub(crate) use error::problem;

/// The most operations that wait; more are told to come again.
const QUEUE: usize = 4096;

/// A connection to the database that a URL names, as the hub makes its own. The runtime that this runs on drives it.
pub async fn connect(url: &str) -> Result<tokio_postgres::Client> {
    connection::connect(&PostgresSettings::parse(url)?).await.map_err(|failure| match failure {
        PostgresFailure::Lost(problem) | PostgresFailure::Other(problem) => problem,
        PostgresFailure::Conflict => error::unreachable_server("it is busy"),
    })
}

/// The threads of one database.
pub(crate) struct PostgresThreads {
    writes: Option<SyncSender<Box<dyn ErasedOperation>>>,
    reads: Option<SyncSender<Box<dyn ErasedOperation>>>,
    /// For reads that may be a second old.
    replica: Option<Replica>,
    threads: Vec<JoinHandle<()>>,
}

impl PostgresThreads {
    /// Starts the threads, each of which connects when it has something to do. The database has been migrated.
    pub fn open(url: &str, replica_url: Option<&str>, writers: usize, readers: usize) -> Result<Self> {
        let mut threads = Vec::new();
        let primary = Arc::new(PostgresSettings::parse(url)?);
        let standby = replica_url.map(PostgresSettings::parse_for_reads).transpose()?.map(Arc::new);
        let server = Server { settings: Arc::clone(&primary), outage: Arc::default(), fallback: None };
        let writes = start(&server, writers, ConnectionKind::Write, &mut threads)?;
        let reads = start(&server, readers, ConnectionKind::Read, &mut threads)?;
        let replica = match standby {
            Some(settings) => {
                let fallback = Some(reads.clone());
                let server = Server { settings: Arc::clone(&settings), outage: Arc::default(), fallback };
                let queue = start(&server, readers, ConnectionKind::Read, &mut threads)?;
                Some(Replica::watch(primary, settings, queue)?)
            }
            None => None,
        };
        Ok(Self { writes: Some(writes), reads: Some(reads), replica, threads })
    }

    /// Hands an operation to a connection that writes.
    pub fn write(&self, task: Box<dyn ErasedOperation>) {
        submit(self.writes.as_ref(), task);
    }

    /// Hands an operation to a connection that reads.
    pub fn read(&self, task: Box<dyn ErasedOperation>) {
        submit(self.reads.as_ref(), task);
    }

    /// Whether a standby was named.
    pub fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// Hands an operation that may see what was there a second ago to the standby, or else to the primary.
    pub fn read_replica(&self, task: Box<dyn ErasedOperation>) {
        match self.replica.as_ref().filter(|replica| replica.is_recent()) {
            Some(replica) => submit(Some(&replica.reads), task),
            None => self.read(task),
        }
    }
}

/// What all connections to one server share.
struct Server {
    settings: Arc<PostgresSettings>,
    outage: Arc<Outage>,
    /// Where operations go that the server cannot do.
    fallback: Option<SyncSender<Box<dyn ErasedOperation>>>,
}

impl Drop for PostgresThreads {
    /// Lets what waits be done, then closes the connections.
    fn drop(&mut self) {
        self.writes = None;
        self.replica = None;
        self.reads = None;
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

fn start(
    server: &Server,
    count: usize,
    kind: ConnectionKind,
    threads: &mut Vec<JoinHandle<()>>,
) -> Result<SyncSender<Box<dyn ErasedOperation>>> {
    let (queue, waiting) = sync_channel(QUEUE);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..count.max(1) {
        let worker = PostgresWorker {
            runtime: runtime()?,
            connection: None,
            settings: Arc::clone(&server.settings),
            outage: Arc::clone(&server.outage),
            fallback: server.fallback.clone(),
            kind,
        };
        let waiting = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("store-postgres".to_owned())
            .spawn(move || worker.work(&waiting))
            .map_err(|error| Problem::new(Code::IoError, format!("Could not start a thread: {error}.")))?;
        threads.push(thread);
    }
    Ok(queue)
}
