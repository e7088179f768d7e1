//! Backups: one SQLite file with everything in it, whichever database it comes from and whichever it goes to.
//!
//! A backup is taken of one snapshot, beside a running hub. It appears under its name only when it is whole, on the disk
//! and was looked over. Restoring never writes over anything: the target has to be empty.

mod copy;
pub mod dump;
mod pages;

use crate::db::migrate;
use crate::db::private_files;
use crate::db::sqlite;
use crate::db::sqlite::{SqliteTx, StatementCache};
use crate::db::tables::tables;
use crate::db::tx::Tx;
use crate::store::{Store, StoreOptions};
use capsid_disk::lock::Lock;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Is told how much was done, and how much there is.
pub type BackupProgress = Box<dyn FnMut(u64, u64) + Send>;

/// Copies everything into a new file, beside a running hub.
pub fn backup(options: &StoreOptions, out: &Path, now: Time, mut progress: BackupProgress) -> Result<()> {
    if out.exists() {
        return Err(Problem::new(Code::InputInvalid, format!("`{}` is there already.", out.display()))
            .fix("Choose another name; a backup never writes over anything."));
    }
    let temporary = temporary_beside(out)?;
    let path = temporary.path().to_owned();
    match &options.database {
        None => {
            let source = open_read_only(&existing(options)?)?;
            migrate::sqlite_is_known(&source)?;
            pages::copy(&source, &path, &mut *progress)?;
            erase_issued_secrets(&path)?;
        }
        Some(_) => {
            let store = Store::open(&options.clone().shared(), now)?;
            migrate::sqlite(&path, true, now)?;
            store.read_now(move |from| {
                let target = open_target(&path)?;
                into_file(from, &target, &mut *progress)
            })?;
        }
    }
    verify_copy(temporary.path())?;
    replace_database(temporary, out)
}

/// Brings a backup back into an empty place.
pub fn restore(from: &Path, options: &StoreOptions, now: Time, mut progress: BackupProgress) -> Result<()> {
    let source = open_backup(from)?;
    if options.database.is_some() {
        migrate::sqlite_is_current(&source)?;
        drop(source);
        let store = Store::open(&StoreOptions { readers: 1, writers: 1, ..options.clone() }, now)?;
        let from = from.to_owned();
        return store.write_now(move |to| {
            must_be_empty(to)?;
            copy::all(
                &mut transaction(&open_backup(&from)?, &mut StatementCache::default()),
                to,
                &mut *progress,
            )
        });
    }
    let file = options.file();
    private_files::folder(&options.data)?;
    let lock = sqlite::lock_path(&file);
    private_files::file(&lock)?;
    let _lock = Lock::acquire(&lock, "the hub's database", Duration::ZERO)?;
    if file.exists() {
        return Err(not_empty(&format!("`{}`", file.display())));
    }
    let temporary = temporary_beside(&file)?;
    pages::copy(&source, temporary.path(), &mut *progress)?;
    verify_copy(temporary.path())?;
    replace_database(temporary, &file)
}

/// A backup holds no secret in plain text. A hub of an older version keeps those that nobody has shown.
fn erase_issued_secrets(path: &Path) -> Result<()> {
    let failed = |error: rusqlite::Error| sqlite::problem(&error);
    let target = Connection::open(path).map_err(failed)?;
    let erase = "PRAGMA synchronous = OFF; PRAGMA secure_delete = ON;
        UPDATE nodes SET issued_secret = NULL WHERE issued_secret IS NOT NULL;";
    target.execute_batch(erase).map_err(failed)
}

fn existing(options: &StoreOptions) -> Result<PathBuf> {
    let file = options.file();
    match file.exists() {
        true => Ok(file),
        false => {
            Err(Problem::new(Code::FileNotFound, format!("There is no hub in `{}`.", options.data.display()))
                .fix("Name the hub's folder with --data, or its database with --database."))
        }
    }
}

fn not_empty(what: &str) -> Problem {
    Problem::new(Code::InputInvalid, format!("{what} already holds a hub."))
        .fix("Restore into an empty folder or an empty database; nothing was changed.")
}

fn must_be_empty(to: &mut dyn Tx) -> Result<()> {
    for table in tables() {
        if to.exists(&table.any, &[])? {
            return Err(not_empty("The database"));
        }
    }
    Ok(())
}

/// A file that only this user may read, for a backup holds what everybody's secrets can be checked with.
fn temporary_beside(path: &Path) -> Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new()
        .prefix(".capsid-backup-")
        .tempfile_in(folder)
        .map_err(|error| Problem::io("write", path, &error))
}

/// Gives the file its name, unless somebody else took it meanwhile. Both are on the disk afterwards.
fn replace_database(temporary: NamedTempFile, path: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Problem::io("write", path, &error);
    let written = File::open(temporary.path()).and_then(|file| file.sync_all());
    written.map_err(failed)?;
    temporary.persist_noclobber(path).map_err(|error| failed(error.error))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

fn open_read_only(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| sqlite::problem(&e))?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(|e| sqlite::problem(&e))?;
    Ok(connection)
}

fn open_backup(path: &Path) -> Result<Connection> {
    if !path.is_file() {
        return Err(Problem::new(Code::FileNotFound, format!("There is no backup `{}`.", path.display()))
            .fix("Name a file that `capsid hub backup` wrote."));
    }
    let connection = open_read_only(path)?;
    migrate::sqlite_is_known(&connection).map_err(|problem| match problem.code {
        Code::StoreTooNew => problem,
        _ => Problem::new(Code::StoreDamaged, format!("`{}` is not a backup of a hub.", path.display()))
            .fix("Name a file that `capsid hub backup` wrote."),
    })?;
    Ok(connection)
}

/// A new file that is not read before it is whole: nothing needs to be on the disk until the end.
fn open_target(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path).map_err(|e| sqlite::problem(&e))?;
    let quick = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;";
    connection.execute_batch(quick).map_err(|e| sqlite::problem(&e))?;
    Ok(connection)
}

fn into_file(from: &mut dyn Tx, target: &Connection, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let failed = |error: rusqlite::Error| sqlite::problem(&error);
    target.execute_batch("BEGIN").map_err(failed)?;
    copy::all(from, &mut transaction(target, &mut StatementCache::default()), progress)?;
    target.execute_batch("COMMIT").map_err(failed)
}

fn transaction<'c>(connection: &'c Connection, statements: &'c mut StatementCache) -> SqliteTx<'c> {
    SqliteTx::new(connection, statements)
}

/// Opens a copy as a stranger would and checks its pages.
fn verify_copy(path: &Path) -> Result<()> {
    let connection = open_read_only(path)?;
    let verdict: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| sqlite::problem(&error))?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(crate::damaged(format!("The copy does not pass SQLite's own check: {verdict}.")))
}
