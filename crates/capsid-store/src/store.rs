//! The open database, and how operations get into it.

use crate::db::migrate;
use crate::db::operation::{ErasedOperation, TypedOperation};
use crate::db::postgres::PostgresThreads;
use crate::db::private_files;
use crate::db::sqlite;
use crate::db::sqlite::{SqliteConnection, SqliteThreads};
use crate::db::tx::{Dialect, Tx};
use crate::index::{HubTx, Index};
use capsid_disk::lock::Lock;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_rules::evaluation::trust_policy::TrustPolicy;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// Where the database is and how it is used.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The folder of the SQLite file `hub.db`, used when there is no URL.
    pub data: PathBuf,
    /// `postgres://…`, or nothing for SQLite.
    pub database: Option<String>,
    /// A standby of that server, for reads that may be a second old.
    pub read_database: Option<String>,
    /// Refuse to open while another hub has the SQLite file. Off for tools that work beside a running hub.
    pub exclusive: bool,
    /// Bring the schema up to date while opening. Otherwise an old schema is an error.
    pub migrate: bool,
    pub readers: usize,
    /// How many connections write to PostgreSQL.
    pub writers: usize,
    /// Refuse writes to SQLite while its disk has less free space than this; 0 checks nothing.
    pub min_free_bytes: u64,
}

impl StoreOptions {
    /// SQLite in a folder, or PostgreSQL by a URL, with the usual settings of a hub.
    pub fn new(data: impl Into<PathBuf>, database: Option<String>) -> Self {
        Self {
            data: data.into(),
            database,
            read_database: None,
            exclusive: true,
            migrate: true,
            readers: 4,
            writers: 8,
            min_free_bytes: 0,
        }
    }

    /// The same for a tool that works beside a running hub: it shares the file and leaves the schema alone.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.exclusive = false;
        self.migrate = false;
        self.readers = 1;
        self.writers = 1;
        self
    }

    /// The SQLite file.
    pub fn file(&self) -> PathBuf {
        self.data.join("hub.db")
    }
}

enum Backend {
    Sqlite(SqliteThreads),
    Postgres(PostgresThreads),
}

/// An open database.
pub struct Store {
    /// Tells when the database or the index was changed. It goes first, so that the last connection to a file is one that
    /// may tidy it up.
    watch: Mutex<Option<StoreWatch>>,
    backend: Backend,
    trust: Arc<RwLock<TrustPolicy>>,
    /// What follows from the database; none in a tool beside a database that has none here.
    index: Option<Arc<Index>>,
    /// The file of SQLite.
    file: Option<PathBuf>,
}

/// A state of the database and of the index: what was read in a state is still so while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreState {
    database: i64,
    index: i64,
}

/// Connections that only look whether others have changed the files, those of other processes included.
struct StoreWatch {
    database: SqliteConnection,
    index: SqliteConnection,
}

impl Store {
    /// Connects to the database, making or migrating its tables where that is asked for. Blocks.
    pub(crate) fn connect(options: &StoreOptions, now: Time) -> Result<Self> {
        let backend = match &options.database {
            Some(url) => {
                migrate::postgres(url, options.migrate, now)?;
                let standby = options.read_database.as_deref();
                Backend::Postgres(PostgresThreads::open(url, standby, options.writers, options.readers)?)
            }
            None => Backend::Sqlite(open_sqlite(options, now)?),
        };
        let index = match (options.exclusive, &options.database) {
            (true, None) => Some(Index::of_locked_folder(&options.data)),
            (true, Some(url)) => Some(Index::of_shared_folder(&options.data, url)?),
            (false, url) => Index::beside_hub(&options.data, url.as_deref()),
        };
        let file = options.database.is_none().then(|| options.file());
        Ok(Self { backend, trust: Arc::default(), index, file, watch: Mutex::default() })
    }

    /// What follows from the database, where this process has it.
    pub(crate) fn index(&self) -> Option<&Arc<Index>> {
        self.index.as_ref()
    }

    /// The state of the database and the index. None on a server, where nothing tells it without a question, and in a
    /// process that does not write the index. Whoever gets the same answer before a read and later knows that nothing was
    /// committed in between, by whomever. Takes some microseconds.
    pub fn state(&self) -> Option<StoreState> {
        let index = self.index().filter(|index| index.is_writable())?;
        let file = self.file.as_ref()?;
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if watch.is_none() {
            let database = SqliteConnection::reader(file).ok()?;
            *watch = Some(StoreWatch { database, index: index.open_reader().ok()? });
        }
        let StoreWatch { database, index } = watch.as_ref()?;
        Some(StoreState { database: database.data_version().ok()?, index: index.data_version().ok()? })
    }

    /// Sets how evidence counts, for every operation from now on.
    pub fn set_trust(&self, policy: TrustPolicy) {
        *self.trust.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    /// Which database this is.
    pub fn dialect(&self) -> Dialect {
        match self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Runs an operation that changes something. It is on the disk when the answer is `Ok`, and undone as a whole
    /// when it is not. It may be run more than once, so it must have no effect but through the transaction.
    pub async fn write<T, E, F>(&self, op: F) -> Result<T, E>
    where
        F: FnMut(&mut dyn Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Problem> + Send + 'static,
    {
        let (task, arrives) = TypedOperation::new(self.in_hub_tx(op));
        self.submit_write(Box::new(task));
        arrives.await.unwrap_or_else(|_| Err(E::from(closed())))
    }

    /// Runs an operation that only reads, on one snapshot.
    pub async fn read<T, E, F>(&self, op: F) -> Result<T, E>
    where
        F: FnMut(&mut dyn Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Problem> + Send + 'static,
    {
        let (task, arrives) = TypedOperation::new(self.in_hub_tx(op));
        self.submit_read(Box::new(task));
        arrives.await.unwrap_or_else(|_| Err(E::from(closed())))
    }

    /// `read` for what may be a second old: from a standby, where there is one that is close enough.
    pub async fn read_replica<T, E, F>(&self, op: F) -> Result<T, E>
    where
        F: FnMut(&mut dyn Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Problem> + Send + 'static,
    {
        let (task, arrives) = TypedOperation::new(self.in_hub_tx(op));
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.read(Box::new(task)),
            Backend::Postgres(postgres) => postgres.read_replica(Box::new(task)),
        }
        arrives.await.unwrap_or_else(|_| Err(E::from(closed())))
    }

    /// Looks something up by its name, first on a standby. What that lacks, the primary may have.
    pub async fn find_replicated<T, E, F>(&self, op: F) -> Result<Option<T>, E>
    where
        F: FnMut(&mut dyn Tx) -> Result<Option<T>, E> + Clone + Send + 'static,
        T: Send + 'static,
        E: From<Problem> + Send + 'static,
    {
        match self.read_replica(op.clone()).await? {
            None if self.has_replica() => self.read(op).await,
            found => Ok(found),
        }
    }

    fn has_replica(&self) -> bool {
        matches!(&self.backend, Backend::Postgres(postgres) if postgres.has_replica())
    }

    /// `write` for a thread that may wait, such as a command.
    pub fn write_now<T, F>(&self, op: F) -> Result<T>
    where
        F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (task, arrives) = TypedOperation::new(self.in_hub_tx(op));
        self.submit_write(Box::new(task));
        arrives.blocking_recv().unwrap_or_else(|_| Err(closed()))
    }

    /// `read` for a thread that may wait, such as a command.
    pub fn read_now<T, F>(&self, op: F) -> Result<T>
    where
        F: FnMut(&mut dyn Tx) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (task, arrives) = TypedOperation::new(self.in_hub_tx(op));
        self.submit_read(Box::new(task));
        arrives.blocking_recv().unwrap_or_else(|_| Err(closed()))
    }

    /// Looks whether the file of the database is still at its path. While it is not, writes are refused.
    pub fn check_database_file(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.check_file(),
            Backend::Postgres(_) => true,
        }
    }

    /// The operation in transactions that know how evidence counts and have the index at hand.
    fn in_hub_tx<T, E, F>(&self, mut op: F) -> impl FnMut(&mut dyn Tx) -> Result<T, E> + use<T, E, F>
    where
        F: FnMut(&mut dyn Tx) -> Result<T, E>,
    {
        let (trust, index) = (Arc::clone(&self.trust), self.index.clone());
        move |tx| {
            let trust = *trust.read().unwrap_or_else(PoisonError::into_inner);
            op(&mut HubTx { tx, trust, index: index.clone(), snapshot: None })
        }
    }

    fn submit_write(&self, task: Box<dyn ErasedOperation>) {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.write(task),
            Backend::Postgres(postgres) => postgres.write(task),
        }
    }

    fn submit_read(&self, task: Box<dyn ErasedOperation>) {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.read(task),
            Backend::Postgres(postgres) => postgres.read(task),
        }
    }
}

fn closed() -> Problem {
    Problem::new(Code::StoreBusy, "The database was closed while the operation waited.").fix("Try again.")
}

fn open_sqlite(options: &StoreOptions, now: Time) -> Result<SqliteThreads> {
    let file = options.file();
    if !options.exclusive && !file.exists() {
        return Err(Problem::new(
            Code::FileNotFound,
            format!("There is no hub in `{}`.", options.data.display()),
        )
        .fix("Name the hub's folder with --data, or start one with `capsid up`."));
    }
    private_files::folder(&options.data)?;
    let lock = options.exclusive.then(|| acquire_lock(&file)).transpose()?;
    private_files::file(&file)?;
    migrate::sqlite(&file, options.migrate, now)?;
    SqliteThreads::open(&file, options.readers, options.min_free_bytes, lock)
}

fn acquire_lock(file: &Path) -> Result<Lock> {
    let path = sqlite::lock_path(file);
    private_files::file(&path)?;
    Lock::acquire(&path, "the hub's database", Duration::ZERO).map_err(|problem| {
        if problem.code != Code::StoreLocked {
            return problem;
        }
        Problem::new(Code::StoreLocked, format!("Another hub already uses `{}`.", file.display()))
            .fix("Stop it first, choose another folder with --data, or use PostgreSQL, which several hubs can share.")
    })
}
