//! Opening a database to read it, so that no byte of it and of the files next to it changes.
//!
//! | state of the file | how it is opened |
//! |---|---|
//! | rollback mode, no journal | read-only |
//! | rollback mode, a journal that a writer left half way | a private copy, which is rolled back |
//! | write-ahead mode, no log, or an empty one | as an immutable file |
//! | write-ahead mode, log and index | read-only, with a read-only index |
//! | write-ahead mode, a log without index; on Windows every log | a private copy |
//!
//! SQLite itself would write in most of these: it rolls back, makes an index, or moves the log into the file.

use super::open::{no_chain, prepare, problem};
use capsid_model::{Problem, Result};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A database that is only read. The connection goes before the copy that it may be to.
#[derive(Debug)]
pub(super) struct ReadOnlyDatabase {
    pub(super) connection: Connection,
    pub(super) copy: Option<TempDir>,
    /// Whether a writer stopped half way, so that the copy was rolled back.
    pub(super) is_recovered: bool,
}

/// Opens a database for reading. Nothing is created next to it, and nothing of it changes.
pub(super) fn open_read_only(path: &Path) -> Result<ReadOnlyDatabase> {
    let is_log_used = || std::fs::metadata(sidecar_path(path, "-wal")).is_ok_and(|log| log.len() > 0);
    match uses_write_ahead_log(path)? {
        false => match readable(path, OpenFlags::SQLITE_OPEN_READ_ONLY, "") {
            Err(error) if is_write_needed(&error) => open_copy(path, "-journal", true),
            opened => direct(path, opened),
        },
        true if !is_log_used() => {
            direct(path, readable(path, OpenFlags::SQLITE_OPEN_READ_ONLY, "?immutable=1"))
        }
        true if cfg!(windows) || !sidecar_path(path, "-shm").exists() => open_copy(path, "-wal", false),
        true => match readable(path, OpenFlags::SQLITE_OPEN_READ_ONLY, "?readonly_shm=1") {
            Err(error) if is_write_needed(&error) => open_copy(path, "-wal", false),
            opened => direct(path, opened),
        },
    }
}

fn direct(path: &Path, opened: rusqlite::Result<Connection>) -> Result<ReadOnlyDatabase> {
    let connection = opened.map_err(|error| problem("read", path, &error))?;
    Ok(ReadOnlyDatabase { connection, copy: None, is_recovered: false })
}

/// Whether only a connection that may write can go on: to roll back, or to make the index of a log.
fn is_write_needed(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Opens a copy in a folder of this user alone, which is removed with the connection.
fn open_copy(path: &Path, suffix: &str, is_recovered: bool) -> Result<ReadOnlyDatabase> {
    let temporary = std::env::temp_dir();
    let folder = tempfile::Builder::new().prefix("capsid-read-").tempdir();
    let folder = folder.map_err(|error| Problem::io("make a folder in", &temporary, &error))?;
    let copy = folder.path().join("chain.db");
    for (from, to) in
        [(path.to_owned(), copy.clone()), (sidecar_path(path, suffix), sidecar_path(&copy, suffix))]
    {
        std::fs::copy(&from, &to)
            .map_err(|error| Problem::io("copy to a temporary folder", &from, &error))?;
    }
    let connection = readable(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE, "")
        .map_err(|error| problem("read", path, &error))?;
    Ok(ReadOnlyDatabase { connection, copy: Some(folder), is_recovered })
}

/// A connection on which a first read worked.
fn readable(path: &Path, mode: OpenFlags, query: &str) -> rusqlite::Result<Connection> {
    let flags = mode | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, query), flags)?;
    prepare(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    // Nothing that the file defines may be executed.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// SQLite's own name for a file; the characters that mean something in it are written as numbers.
fn uri(path: &Path, query: &str) -> PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.~".contains(c) || !c.is_ascii();
    let Some(text) = path.to_str() else { return path.to_owned() };
    let mut name = String::from("file:");
    if cfg!(windows) && text.chars().nth(1) == Some(':') {
        name.push('/');
    }
    for c in text.chars() {
        match c {
            '\\' if cfg!(windows) => name.push('/'),
            '\\' => name.push_str("%5c"),
            c if plain(c) => name.push(c),
            c => name.push_str(&format!("%{:02x}", u32::from(c))),
        }
    }
    name.push_str(query);
    PathBuf::from(name)
}

/// Whether the file's head names a write-ahead log. Also reports a file that is no database.
fn uses_write_ahead_log(path: &Path) -> Result<bool> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        return Err(no_chain(path, "it is not a file"));
    }
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(20).read_to_end(&mut head)).map_err(fail)?;
    match head.as_slice() {
        [] => Ok(false),
        head if head.len() == 20 && head.starts_with(b"SQLite format 3\0") => {
            Ok(head[18] == 2 || head[19] == 2)
        }
        _ => Err(no_chain(path, "it is not an SQLite database")),
    }
}

fn sidecar_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
