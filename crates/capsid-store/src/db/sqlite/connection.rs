//! One connection to the file, and the transactions it runs.

use super::tx::{SqliteTx, StatementCache, problem};
use crate::db::operation::ErasedOperation;
use crate::db::tx::Tx;
use capsid_model::problem::{Code, Problem, Result};
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::time::{Duration, Instant};

// Earlier versions can corrupt a file in WAL mode when two connections checkpoint at once.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003);

/// How a group of writes ended that ran without savepoints.
enum Attempt {
    /// All were answered; the commit took this long.
    Ended(Duration),
    /// One of them failed after it changed something. Nothing is kept, and these are to be run again.
    Undone(Vec<Box<dyn ErasedOperation>>),
}

/// A connection with the statements it has prepared.
pub struct SqliteConnection {
    inner: rusqlite::Connection,
    statements: StatementCache,
    /// Set when a commit failed in a way after which the file's state is not known. Nothing is written from then on.
    failed: Option<Problem>,
}

impl SqliteConnection {
    /// The one connection that writes.
    pub fn writer(path: &Path) -> Result<Self> {
        Ok(Self::new(open_for_migration(path)?))
    }

    /// The one connection that writes an index: what it holds follows from the database, so that a commit need not wait
    /// for the disk.
    pub fn index_writer(path: &Path) -> Result<Self> {
        let inner = open_for_migration(path)?;
        set(&inner, "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096;")?;
        Ok(Self::new(inner))
    }

    /// A connection that only reads.
    pub fn reader(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let inner = rusqlite::Connection::open_with_flags(path, flags).map_err(|e| problem(&e))?;
        // A statement is planned once, whatever values it gets.
        inner.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|e| problem(&e))?;
        set(&inner, "PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16000;")?;
        Ok(Self::new(inner))
    }

    /// The same for an index, a part of which is mapped into memory: by the usual four readers 256 MB in all.
    pub fn index_reader(path: &Path) -> Result<Self> {
        let reader = Self::reader(path)?;
        set(&reader.inner, "PRAGMA mmap_size = 67108864;")?;
        Ok(reader)
    }

    fn new(inner: rusqlite::Connection) -> Self {
        inner.set_prepared_statement_cache_capacity(1024);
        Self { inner, statements: StatementCache::default(), failed: None }
    }

    /// Runs a group of writes and commits them at once. Tells how long the commit took.
    ///
    /// They run without savepoints, which make SQLite copy each page before it changes. Where one of them fails after it
    /// changed something, all are undone and run again, each in a savepoint of its own.
    pub fn write_group(&mut self, group: Vec<Box<dyn ErasedOperation>>) -> Duration {
        if let Some(problem) = &self.failed {
            finish_all(group, &Err(problem.clone()));
            return Duration::ZERO;
        }
        match self.run_together(group) {
            Attempt::Ended(took) => took,
            Attempt::Undone(group) => self.run_apart(group),
        }
    }

    /// Runs a group without savepoints.
    fn run_together(&mut self, group: Vec<Box<dyn ErasedOperation>>) -> Attempt {
        if let Err(problem) = self.control("BEGIN IMMEDIATE") {
            finish_all(group, &Err(problem));
            return Attempt::Ended(Duration::ZERO);
        }
        let mut done = Vec::with_capacity(group.len());
        let mut group = group.into_iter();
        while let Some(mut task) = group.next() {
            let before = self.inner.total_changes();
            let commits = task.run(&mut SqliteTx::new(&self.inner, &mut self.statements));
            if let Some(problem) = self.undone() {
                task.finish(Err(problem.clone()));
                done.extend(group);
                self.fail_writes(&problem);
                finish_all(done, &Err(problem));
                return Attempt::Ended(Duration::ZERO);
            }
            let has_changed = self.inner.total_changes() != before;
            if !commits && !has_changed {
                task.finish(Ok(()));
                continue;
            }
            done.push(task);
            if !commits || (has_changed && self.uneven_ledger().is_some()) {
                done.extend(group);
                return self.undo(done);
            }
        }
        Attempt::Ended(self.commit(done))
    }

    /// Undoes a group that is to be run again.
    fn undo(&mut self, group: Vec<Box<dyn ErasedOperation>>) -> Attempt {
        match self.control("ROLLBACK") {
            Ok(()) => Attempt::Undone(group),
            Err(problem) => {
                self.fail_writes(&problem);
                finish_all(group, &Err(problem));
                Attempt::Ended(Duration::ZERO)
            }
        }
    }

    /// Runs a group with a savepoint for each write, so that one that fails undoes only itself.
    fn run_apart(&mut self, group: Vec<Box<dyn ErasedOperation>>) -> Duration {
        if let Err(problem) = self.control("BEGIN IMMEDIATE") {
            finish_all(group, &Err(problem));
            return Duration::ZERO;
        }
        let mut done = Vec::with_capacity(group.len());
        let mut group = group.into_iter();
        while let Some(task) = group.next() {
            done.extend(self.run_in_savepoint(task));
            if let Some(problem) = self.undone() {
                done.extend(group);
                self.fail_writes(&problem);
                finish_all(done, &Err(problem));
                return Duration::ZERO;
            }
        }
        self.commit(done)
    }

    /// Commits a group and answers whoever waits for it. Tells how long that took.
    fn commit(&mut self, group: Vec<Box<dyn ErasedOperation>>) -> Duration {
        let began = Instant::now();
        let committed = self.control("COMMIT");
        let took = began.elapsed();
        if let Err(problem) = &committed {
            self.fail_writes(problem);
        }
        finish_all(group, &committed);
        took
    }

    /// Why SQLite ended the transaction by itself, if it did: a full disk in the midst of a statement undoes everything,
    /// and a savepoint after that would be a transaction of its own.
    fn undone(&mut self) -> Option<Problem> {
        if !self.inner.is_autocommit() {
            return None;
        }
        let unknown = || Problem::new(Code::IoError, "The database undid a group of writes.");
        Some(self.statements.failure.take().unwrap_or_else(unknown))
    }

    /// Runs one write. It is given back when it waits for the commit, and answered here when it changed nothing.
    fn run_in_savepoint(&mut self, mut task: Box<dyn ErasedOperation>) -> Option<Box<dyn ErasedOperation>> {
        let outcome = self.control("SAVEPOINT one").and_then(|()| {
            let commits = task.run(&mut SqliteTx::new(&self.inner, &mut self.statements));
            let uneven = if commits { self.uneven_ledger() } else { None };
            if !commits || uneven.is_some() {
                self.control("ROLLBACK TO one")?;
            }
            self.control("RELEASE one")?;
            uneven.map_or(Ok(commits), Err)
        });
        match outcome {
            Ok(true) => Some(task),
            Ok(false) => {
                task.finish(Ok(()));
                None
            }
            Err(problem) => {
                task.finish(Err(problem));
                None
            }
        }
    }

    /// Why what was just written must not be kept: the accounts would no longer add up to zero. The commit would fail then,
    /// and take with it all the others of the group, so each write is looked at by itself.
    fn uneven_ledger(&self) -> Option<Problem> {
        if self.inner.is_autocommit() {
            return None;
        }
        let sums = self.inner.prepare_cached("SELECT l.value, g.value FROM ledger_sum l, granted_sum g");
        match sums
            .and_then(|mut sums| sums.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))))
        {
            Ok((0, 0)) => None,
            Ok((sum, granted)) => Some(Problem::new(
                Code::Internal,
                format!(
                    "All accounts together would hold {sum} milli-credits, {granted} of them granted, instead of 0; it \
                     was undone."
                ),
            )),
            Err(error) => Some(problem(&error)),
        }
    }

    /// Runs one read on a snapshot of its own.
    pub fn read_one(&mut self, mut task: Box<dyn ErasedOperation>) {
        let outcome = self.control("BEGIN").and_then(|()| {
            task.run(&mut SqliteTx::new(&self.inner, &mut self.statements));
            self.control("COMMIT")
        });
        if outcome.is_err() && !self.inner.is_autocommit() {
            let _left = self.control("ROLLBACK");
        }
        task.finish(outcome);
    }

    /// Another number than before once another connection, of any process, has committed something.
    pub fn data_version(&self) -> Result<i64> {
        let mut pragma = self.inner.prepare_cached("PRAGMA data_version").map_err(|e| problem(&e))?;
        pragma.query_row([], |row| row.get(0)).map_err(|e| problem(&e))
    }

    /// Begins a read transaction that lasts until [`end_read`](Self::end_read).
    pub fn begin_read(&self) -> Result<()> {
        self.control("BEGIN")
    }

    /// Ends a read transaction.
    pub fn end_read(&self) -> Result<()> {
        self.control("COMMIT")
    }

    /// Runs something in the transaction that is open.
    pub fn with_tx<T>(&mut self, op: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        op(&mut SqliteTx::new(&self.inner, &mut self.statements))
    }

    /// Runs something in a write transaction of its own, which is undone when it fails.
    pub fn write_now<T>(&mut self, op: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        self.control("BEGIN IMMEDIATE")?;
        let outcome = self.with_tx(op).and_then(|done| self.control("COMMIT").map(|()| done));
        if outcome.is_err() && !self.inner.is_autocommit() {
            self.control("ROLLBACK")?;
        }
        outcome
    }

    /// Leaves the file in one piece for whoever opens it next.
    pub fn close(self) {
        let _best_effort = set(&self.inner, "PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);");
    }

    fn control(&self, sql: &str) -> Result<()> {
        self.inner.prepare_cached(sql).and_then(|mut s| s.execute([])).map(|_| ()).map_err(|e| problem(&e))
    }

    /// After a failed commit the group is undone. When the disk was only full, the next one may succeed.
    fn fail_writes(&mut self, problem: &Problem) {
        if !self.inner.is_autocommit() {
            let _undone = self.control("ROLLBACK");
        }
        if problem.code != Code::DiskFull && problem.code != Code::StoreBusy {
            tracing::error!(
                code = problem.code.as_str(),
                "a commit failed; nothing more is written: {problem}"
            );
            self.failed = Some(problem.clone());
        }
    }
}

/// Answers whoever waits for these writes.
fn finish_all(group: Vec<Box<dyn ErasedOperation>>, committed: &Result<()>) {
    group.into_iter().for_each(|task| task.finish(committed.clone()));
}

/// A connection that may change the schema.
pub fn open_for_migration(path: &Path) -> Result<rusqlite::Connection> {
    let inner = rusqlite::Connection::open(path).map_err(|e| problem(&e))?;
    set(
        &inner,
        // The size of pages is that of a new file; it has no effect on one that is there.
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
         PRAGMA busy_timeout = 5000; PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 32768;
         PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY;",
    )?;
    inner.busy_timeout(Duration::from_secs(5)).map_err(|e| problem(&e))?;
    Ok(inner)
}

fn set(connection: &rusqlite::Connection, pragmas: &str) -> Result<()> {
    connection.execute_batch(pragmas).map_err(|e| problem(&e))
}
