//! Opening a database to write it durably, and what an error of SQLite means.

use super::{CAPSULES, KEY_PLACES, KEYS, PLACES};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// Older versions can damage a file in write-ahead mode when two processes write and one of them checkpoints.
const OLDEST_SQLITE: i32 = 3_051_003;
/// The size of a new file's pages. A row of a usual record leaves much of a page of 4 KB unused, and each single append
/// writes every page that it touches, so those of a chain that grows are not as large as those of a compacted one.
const PAGE_SIZE: u32 = 8_192;
/// How often a file is opened again that was replaced meanwhile.
const REOPENED: usize = 3;
/// How long one process waits for another: hooks of one session fire at the same moment.
const PATIENCE: Duration = Duration::from_secs(20);
/// No record is longer than this, in bytes; a longer one is refused instead of filling the memory.
const MAX_VALUE_LEN: i32 = 256 << 20;

/// What a failed operation on the database at `path` means to the user.
pub(super) fn problem(action: &str, path: &Path, error: &Error) -> Problem {
    let (code, fix) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Code::StoreLocked, "Wait for the other process to finish, then run the command again.")
        }
        Some(ErrorCode::DiskFull) => (
            Code::DiskFull,
            "Free some space and run the command again; nothing that was sealed before is lost.",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            (Code::PermissionDenied, "Give this user access to the file and its folder.")
        }
        Some(ErrorCode::SystemIoFailure) => {
            (Code::IoError, "Look at the path and the system log, then run the command again.")
        }
        _ => (
            Code::ChainUnreadable,
            "Check that the file is a chain database; restore it from a copy if it is.",
        ),
    };
    Problem::new(code, format!("Could not {action} `{}`: {error}.", path.display())).fix(fix)
}

/// A chain is in a table and nothing else: a view can return something else at every read, or never end.
pub(super) fn refuse_views(path: &Path, connection: &Connection) -> Result<()> {
    const OTHERS: &str = "SELECT count(*) FROM sqlite_master WHERE name IN ('capsules', 'capsid_keys', 'capsid_finalised', 'capsid_pending') \
                          COLLATE NOCASE \
                          AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')";
    let others: i64 =
        connection.query_row(OTHERS, [], |row| row.get(0)).map_err(|error| problem("read", path, &error))?;
    if others == 0 { Ok(()) } else { Err(no_chain(path, "its records do not lie in a plain table")) }
}

/// A trigger could change every record while it is inserted.
pub(super) fn refuse_triggers(path: &Path, connection: &Connection) -> Result<()> {
    const TRIGGERS: &str = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'";
    let triggers: i64 = connection
        .query_row(TRIGGERS, [], |row| row.get(0))
        .map_err(|error| problem("open", path, &error))?;
    if triggers == 0 { Ok(()) } else { Err(no_chain(path, "it has triggers, so nothing is added to it")) }
}

pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(wait))?;
    connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_LEN)?;
    Ok(())
}

/// Waits for another process, for as long as [`PATIENCE`] says. SQLite's own steps grow to a tenth of a second, and a
/// hook's turn is over in a thousandth.
fn wait(times: i32) -> bool {
    let step = Duration::from_millis(u64::from(times.unsigned_abs() / 8 + 1).min(10));
    std::thread::sleep(step);
    Duration::from_millis(10) * times.unsigned_abs() < PATIENCE
}

pub(crate) fn no_chain(path: &Path, reason: &str) -> Problem {
    Problem::new(Code::ChainUnreadable, format!("`{}` holds no chain: {reason}.", path.display()))
        .fix("Name a chain database, a JSON chain, a bundle folder or a trail's home.")
}

/// Opens a database for writing, and makes it and its folders where they are not there yet, for its owner alone.
///
/// Write-ahead mode costs one sync of the disk per commit where a rollback journal costs three or four. Every SQLite
/// since 3.7 reads it, and the side files go when the last connection closes.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let message = format!("SQLite {} is too old to keep chains safely.", rusqlite::version());
        return Err(
            Problem::new(Code::Internal, message).fix("Build with the SQLite that comes with the program.")
        );
    }
    create(path)?;
    for _ in 0..REOPENED {
        let (connection, mode) = open_writable(path)?;
        match mode {
            // The file was compacted while this process waited for it: what is open is not there any more.
            Err(Error::SqliteFailure(failure, _))
                if failure.extended_code == ffi::SQLITE_READONLY_DBMOVED => {}
            mode => return configured(path, connection, mode),
        }
    }
    Err(Problem::new(Code::StoreLocked, format!("`{}` is being replaced again and again.", path.display()))
        .fix("Wait for the other process to finish, then run the command again."))
}

/// A connection, and the way in which the file keeps what is not finished, once it is set.
fn open_writable(path: &Path) -> Result<(Connection, rusqlite::Result<String>)> {
    let fail = |error: Error| problem("open", path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    prepare(&connection).map_err(fail)?;
    // Counts for a file that is still empty.
    connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(fail)?;
    refuse_views(path, &connection)?;
    refuse_triggers(path, &connection)?;
    create_tables(path, &connection)?;
    let mode = write_ahead(&connection);
    Ok((connection, mode))
}

fn configured(path: &Path, connection: Connection, mode: rusqlite::Result<String>) -> Result<Connection> {
    let fail = |error: Error| problem("open", path, &error);
    let mode = mode.map_err(fail)?;
    // Where the log is not to be had, the removal of the journal must reach the disk too.
    let level = if mode.eq_ignore_ascii_case("wal") { "FULL" } else { "EXTRA" };
    connection.pragma_update(None, "synchronous", level).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Switches to write-ahead mode. SQLite does not wait for others here by itself.
fn write_ahead(connection: &Connection) -> rusqlite::Result<String> {
    let start = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < PATIENCE =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            other => return other,
        }
    }
}

fn create_tables(path: &Path, connection: &Connection) -> Result<()> {
    const OURS: &str =
        "SELECT count(*) FROM sqlite_master WHERE name IN ('capsid_place', 'capsid_key_place')";
    let fail = |error: Error| problem("open", path, &error);
    let there: i64 = connection.query_row(OURS, [], |row| row.get(0)).map_err(fail)?;
    if there == 2 {
        return Ok(());
    }
    let create = || {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        connection.execute_batch(&[CAPSULES, PLACES, KEYS, KEY_PLACES, "COMMIT"].join(";\n"))
    };
    create().map_err(|error| {
        // The first error is the one to report.
        let _ = connection.execute_batch("ROLLBACK");
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => forked(path),
            Some(ErrorCode::Unknown) => no_chain(path, "its table is not one that can be written"),
            _ => fail(error),
        }
    })
}

fn forked(path: &Path) -> Problem {
    let message =
        format!("The chain in `{}` has two records at one place, so nothing is added to it.", path.display());
    Problem::new(Code::ChainBroken, message)
        .fix("See which with `capsid trail verify`, move the file aside, and seal the session again.")
}

fn create(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::create_private_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Problem::io("create", path, &error)),
        _ => Ok(()),
    }
}
