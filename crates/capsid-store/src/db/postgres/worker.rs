//! One connection and the operations that it does, one after the other.

use super::connection::PostgresConnection;
use super::error::{PostgresFailure, failure, is_conflict, is_refused_commit, problem, unreachable_server};
use super::outage::Outage;
use super::settings::PostgresSettings;
use super::tx::PostgresTx;
use crate::db::operation::ErasedOperation;
use crate::db::sqlite::submit;
use capsid_model::problem::{Code, Problem};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How often an operation that met a deadlock is done again.
const ATTEMPTS: usize = 20;
/// Between two attempts to find a server that takes the operation.
const PAUSE: Duration = Duration::from_millis(100);
/// How long one statement may take where another server can do it as well.
const REPLICA_LIMIT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ConnectionKind {
    Read,
    Write,
}

impl ConnectionKind {
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write => "BEGIN",
        }
    }
}

/// A connection on a thread of its own.
pub struct PostgresWorker {
    pub runtime: Runtime,
    pub connection: Option<PostgresConnection>,
    pub settings: Arc<PostgresSettings>,
    pub outage: Arc<Outage>,
    /// Where operations go that this server cannot do.
    pub fallback: Option<SyncSender<Box<dyn ErasedOperation>>>,
    pub kind: ConnectionKind,
}

impl PostgresWorker {
    /// Does what waits, until nothing more can come.
    pub fn work(mut self, waiting: &Mutex<Receiver<Box<dyn ErasedOperation>>>) {
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
        let (mut conflicts, started) = (0, Instant::now());
        let ended = loop {
            if self.connection.is_none() && self.outage.is_known() {
                break Err(unreachable_server("no server takes operations"));
            }
            match self.attempt(task.as_mut()) {
                Ok(is_open) => {
                    self.outage.end();
                    if is_open {
                        return self.answer_reader(task);
                    }
                    break Ok(());
                }
                Err(_) if self.fallback.is_some() => {
                    self.connection = None;
                    return submit(self.fallback.as_ref(), task);
                }
                Err(PostgresFailure::Conflict) if conflicts < ATTEMPTS => conflicts += 1,
                Err(PostgresFailure::Conflict) => {
                    break Err(Problem::new(Code::StoreBusy, "Too many hubs change the same rows at once.")
                        .fix("Try again in a second."));
                }
                // Nothing was kept, so it is done again as long as a server may come back.
                Err(PostgresFailure::Lost(problem)) => {
                    self.connection = None;
                    if !self.outage.is_bearable(started) {
                        break Err(problem);
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(PostgresFailure::Other(problem)) => break Err(problem),
            }
        };
        task.finish(ended);
    }

    /// Answers before the transaction is ended, for the end of one that only read says nothing.
    fn answer_reader(&mut self, task: Box<dyn ErasedOperation>) {
        task.finish(Ok(()));
        if let Some(connection) = &self.connection
            && self.runtime.block_on(connection.end("COMMIT")).is_err()
        {
            self.connection = None;
        }
    }

    /// Does the operation in one transaction. Tells whether that one only read and is still open.
    fn attempt(&mut self, task: &mut dyn ErasedOperation) -> Result<bool, PostgresFailure> {
        let connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.runtime.block_on(PostgresConnection::open(&self.settings))?,
        };
        let connection = self.connection.insert(connection);
        let limit = self.fallback.as_ref().map(|_| REPLICA_LIMIT);
        let mut tx = PostgresTx::new(connection, &self.runtime, self.kind.begin(), limit);
        let commits = task.run(&mut tx);
        let (failed, has_begun) = (tx.failure.take(), tx.has_begun());
        if let Some(failure) = failed {
            // A server that does not answer would not answer this either.
            if matches!(failure, PostgresFailure::Lost(_)) {
                return Err(failure);
            }
            let undone = self.runtime.block_on(connection.end("ROLLBACK"));
            return Err(match failure {
                // What broke the connection matters more than the statement that noticed it.
                PostgresFailure::Other(problem) if undone.is_err() => PostgresFailure::Lost(problem),
                failure => failure,
            });
        }
        if !has_begun {
            return Ok(false);
        }
        if !commits {
            if self.runtime.block_on(connection.end("ROLLBACK")).is_err() {
                self.connection = None;
            }
            return Ok(false);
        }
        if self.kind == ConnectionKind::Read {
            return Ok(true);
        }
        match self.runtime.block_on(connection.end("COMMIT")) {
            Ok(()) => Ok(false),
            Err(error) if is_conflict(&error) => Err(PostgresFailure::Conflict),
            Err(error) if is_refused_commit(&error) => Err(PostgresFailure::Other(problem(&error))),
            // Whether the commit arrived is not known, so it is not tried again here. Whoever sends the same message again
            // gets the stored answer if it did.
            Err(error) => {
                self.connection = None;
                Err(PostgresFailure::Other(match failure(&error) {
                    PostgresFailure::Lost(_) => unreachable_server("the connection was lost during a commit"),
                    _ => problem(&error),
                }))
            }
        }
    }
}
