//! The index: a file beside the database that holds what follows from it, such as the knowledge graph.
//!
//! It is an SQLite file on every hub, whichever database the hub has, and it belongs to one process. A worker follows the
//! database and writes here; operations read a snapshot with [`Tx::index`](crate::db::tx::Tx::index). It may be deleted at
//! any time: an index that is missing, damaged, of another form or newer than the database is made again.

mod hub_tx;
mod snapshot;

use crate::db::private_files;
use crate::db::sqlite::{self, SqliteConnection};
use crate::db::tx::{Tx, no_index};
use capsid_disk::lock::Lock;
use capsid_model::hash::sha256_hex;
use capsid_model::problem::{Code, Problem, Result};
pub(crate) use hub_tx::HubTx;
use rusqlite::Connection;
pub(crate) use snapshot::IndexSnapshot;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SCHEMA: &str =
    concat!(include_str!("schema.sql"), include_str!("graph.sql"), include_str!("search.sql"));
/// How many hubs may have an index in one folder.
const MAX_INDEXES: usize = 16;

/// An index. Its file is opened when it is first used, so that a hub starts on a full disk as well.
pub struct Index {
    path: PathBuf,
    /// Another number for another schema or another database.
    form: i32,
    /// Whether this process writes it.
    is_writable: bool,
    /// The one connection that writes, once there is one.
    writer: Mutex<Option<SqliteConnection>>,
    /// Connections that nobody reads with just now.
    readers: Mutex<Vec<SqliteConnection>>,
    /// Held as long as the index is open for writing, where the database's own lock does not do that.
    _lock: Option<Lock>,
}

impl Index {
    /// The index of the one hub that has the database in this folder open.
    pub fn of_locked_folder(folder: &Path) -> Arc<Self> {
        Arc::new(Self::new(folder.join(file_name(1)), None, true, None))
    }

    /// An index of this process's own in a folder, for a database on a server. Hubs that share a folder have one each.
    pub fn of_shared_folder(folder: &Path, url: &str) -> Result<Arc<Self>> {
        private_files::folder(folder)?;
        for number in 1..=MAX_INDEXES {
            let path = folder.join(file_name(number));
            let lock_path = sqlite::lock_path(&path);
            private_files::file(&lock_path)?;
            match Lock::acquire(&lock_path, "the hub's index", Duration::ZERO) {
                Ok(lock) => return Ok(Arc::new(Self::new(path, Some(url), true, Some(lock)))),
                Err(problem) if problem.code == Code::StoreLocked => {}
                Err(problem) => return Err(problem),
            }
        }
        Err(Problem::new(
            Code::StoreLocked,
            format!("{MAX_INDEXES} hubs already have an index in `{}`.", folder.display()),
        )
        .fix("Choose another folder with --data."))
    }

    /// The index in a folder for reading, beside the hub that writes it.
    pub fn beside_hub(folder: &Path, url: Option<&str>) -> Option<Arc<Self>> {
        let path = folder.join(file_name(1));
        path.exists().then(|| Arc::new(Self::new(path, url, false, None)))
    }

    fn new(path: PathBuf, url: Option<&str>, is_writable: bool, lock: Option<Lock>) -> Self {
        Self {
            path,
            form: form(url),
            is_writable,
            writer: Mutex::default(),
            readers: Mutex::default(),
            _lock: lock,
        }
    }

    /// Whether this process writes the index.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// A snapshot to read.
    pub(crate) fn snapshot(self: &Arc<Self>) -> Result<IndexSnapshot> {
        let kept = lock(&self.readers).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.open_reader()?,
        };
        IndexSnapshot::begin(Arc::clone(self), connection)
    }

    /// A connection that reads.
    pub(crate) fn open_reader(&self) -> Result<SqliteConnection> {
        if self.is_writable {
            self.with_writer(|_| Ok(()))?;
        } else if !has_form(&self.path, self.form)? {
            return Err(no_index());
        }
        SqliteConnection::index_reader(&self.path)
    }

    /// Changes the index in one transaction. Blocks.
    pub(crate) fn write<T>(&self, op: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        if !self.is_writable {
            return Err(Problem::new(Code::StoreLocked, "The index belongs to the hub that runs.")
                .fix("Stop the hub first."));
        }
        self.with_writer(|writer| writer.write_now(op))
    }

    fn with_writer<T>(&self, op: impl FnOnce(&mut SqliteConnection) -> Result<T>) -> Result<T> {
        let mut writer = lock(&self.writer);
        match &mut *writer {
            Some(open) => op(open),
            None => {
                if !(self.path.exists() && has_form(&self.path, self.form).unwrap_or(false)) {
                    create(&self.path, self.form)?;
                }
                op(writer.insert(SqliteConnection::index_writer(&self.path)?))
            }
        }
    }

    fn give_back(&self, connection: SqliteConnection) {
        lock(&self.readers).push(connection);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_name(number: usize) -> String {
    if number == 1 { "index.db".to_owned() } else { format!("index-{number}.db") }
}

/// A number that is another one for another schema or another database. The password of a database may change.
fn form(url: Option<&str>) -> i32 {
    let database = url.map_or("sqlite", |url| url.rsplit_once('@').map_or(url, |(_, place)| place));
    let hash = sha256_hex(format!("{SCHEMA}\n{database}").as_bytes());
    hash.get(..7).and_then(|start| i32::from_str_radix(start, 16).ok()).unwrap_or_default()
}

fn has_form(path: &Path, form: i32) -> Result<bool> {
    let connection = Connection::open(path).map_err(|error| sqlite::problem(&error))?;
    let number = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i32>(0));
    Ok(number.map_err(|error| sqlite::problem(&error))? == form)
}

/// Makes an empty index, in place of what was there.
fn create(path: &Path, form: i32) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let file = PathBuf::from(name);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Problem::io("remove", &file, &error));
            }
            _ => {}
        }
    }
    private_files::file(path)?;
    let failed = |error: rusqlite::Error| sqlite::problem(&error);
    let connection = Connection::open(path).map_err(failed)?;
    connection
        .execute_batch(&format!(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; BEGIN; {SCHEMA} PRAGMA user_version = {form}; COMMIT;"
        ))
        .map_err(failed)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::params;

    fn open(folder: &Path) -> Arc<Index> {
        Index::of_shared_folder(folder, "postgres://a:b@localhost/hub").unwrap()
    }

    fn positions(index: &Arc<Index>) -> i64 {
        let mut snapshot = index.snapshot().unwrap();
        (&mut snapshot as &mut dyn Tx).count("SELECT COUNT(*) FROM positions", params![]).unwrap()
    }

    fn set_position(index: &Index) {
        let sql = "INSERT INTO positions (log, seq, mark) VALUES ('assets', 1, '')";
        index.write(|tx| tx.run(sql, params![]).map(drop)).unwrap();
    }

    #[test]
    fn an_index_is_kept_until_it_is_of_another_form() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        set_position(&index);
        drop(index);
        let index = open(folder.path());
        assert_eq!(positions(&index), 1);
        index.write(|tx| tx.run("PRAGMA user_version = 7", params![]).map(drop)).unwrap();
        drop(index);
        assert_eq!(positions(&open(folder.path())), 0, "made again");
    }

    #[test]
    fn an_index_of_another_database_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let of = |url: &str| Index::of_shared_folder(folder.path(), url).unwrap();
        set_position(&of("postgres://a:b@localhost/hub"));
        assert_eq!(positions(&of("postgres://a:c@localhost/hub")), 1, "another password");
        assert_eq!(positions(&of("postgres://a:c@localhost/other")), 0);
        assert_eq!(positions(&Index::of_locked_folder(folder.path())), 0);
    }

    #[test]
    fn a_file_that_is_no_database_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("index.db"), "not a database, and longer than a header of one is")
            .unwrap();
        assert_eq!(positions(&open(folder.path())), 0);
    }

    #[test]
    fn hubs_in_one_folder_have_an_index_each() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (open(folder.path()), open(folder.path()));
        set_position(&one);
        assert_eq!((positions(&one), positions(&other)), (1, 0));
    }

    #[test]
    fn a_snapshot_does_not_see_what_is_written_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path());
        let mut snapshot = index.snapshot().unwrap();
        let mut count =
            || (&mut snapshot as &mut dyn Tx).count("SELECT COUNT(*) FROM positions", params![]).unwrap();
        assert_eq!(count(), 0);
        set_position(&index);
        assert_eq!(count(), 0);
        assert_eq!(positions(&index), 1);
    }
}
