//! A transaction in SQLite.

use crate::db::raw_row::RawRow;
use crate::db::tx::{Dialect, Param, Tx};
use capsid_model::problem::{Code, Problem, Result};
use rusqlite::ErrorCode;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use std::collections::HashMap;

/// Statements as SQLite wants them, by the text they are written in.
#[derive(Default)]
pub struct StatementCache {
    texts: HashMap<(usize, usize), String>,
    /// The last failure of a statement.
    pub failure: Option<Problem>,
}

impl StatementCache {
    fn translated(&mut self, sql: &'static str) -> &str {
        self.texts.entry((sql.as_ptr() as usize, sql.len())).or_insert_with(|| translate(sql))
    }

    fn map_error<T>(&mut self, outcome: rusqlite::Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            let failure = problem(&error);
            self.failure = Some(failure.clone());
            failure
        })
    }
}

/// `$1` becomes `?1`. Rows need no locks where one thread writes.
fn translate(sql: &str) -> String {
    sql.replace('$', "?")
        .replace(" FOR UPDATE SKIP LOCKED", "")
        .replace(" FOR UPDATE", "")
        .replace(" FOR SHARE", "")
}

/// An open transaction.
pub struct SqliteTx<'c> {
    connection: &'c rusqlite::Connection,
    statements: &'c mut StatementCache,
}

impl<'c> SqliteTx<'c> {
    /// The transaction that is open on this connection.
    pub fn new(connection: &'c rusqlite::Connection, statements: &'c mut StatementCache) -> Self {
        Self { connection, statements }
    }
}

impl Tx for SqliteTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        let sql = self.statements.translated(sql);
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| {
            statement.execute(rusqlite::params_from_iter(params)).map(|changed| changed as u64)
        });
        self.statements.map_error(done)
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.visit(sql, params, usize::MAX, visit)
    }

    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.visit(sql, params, 1, visit)
    }
}

impl SqliteTx<'_> {
    fn visit(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        limit: usize,
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        let sql = self.statements.translated(sql);
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| problem(&e))?;
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(|e| problem(&e))?;
        for _ in 0..limit {
            let Some(row) = rows.next().map_err(|e| problem(&e))? else { break };
            visit(&SqliteRow(row))?;
        }
        Ok(())
    }
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match *self {
            Param::Int(Some(value)) => ToSqlOutput::Owned(Value::Integer(value)),
            Param::Real(Some(value)) => ToSqlOutput::Owned(Value::Real(value)),
            Param::Text(Some(value)) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Param::Blob(Some(value)) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            Param::Int(None) | Param::Real(None) | Param::Text(None) | Param::Blob(None) => {
                ToSqlOutput::Owned(Value::Null)
            }
            Param::Ints(_) | Param::Reals(_) | Param::Texts(_) | Param::Blobs(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no arrays".into()));
            }
        })
    }
}

struct SqliteRow<'r>(&'r rusqlite::Row<'r>);

impl SqliteRow<'_> {
    fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        self.0.get_ref(column).map_err(|e| problem(&e))
    }
}

impl RawRow for SqliteRow<'_> {
    fn name(&self, column: usize) -> &str {
        self.0.as_ref().column_name(column).unwrap_or_default()
    }
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.value(column)?.as_i64_or_null().map_err(|_| wrong_type(column))
    }
    fn real(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column)? {
            ValueRef::Integer(value) => Ok(Some(value as f64)),
            value => value.as_f64_or_null().map_err(|_| wrong_type(column)),
        }
    }
    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.value(column)?.as_str_or_null().map_err(|_| wrong_type(column))
    }
    fn blob(&self, column: usize) -> Result<Option<&[u8]>> {
        self.value(column)?.as_blob_or_null().map_err(|_| wrong_type(column))
    }
}

fn wrong_type(column: usize) -> Problem {
    Problem::new(Code::StoreDamaged, format!("Column {column} of a row does not hold what it should."))
}

/// What went wrong, with the code that fits it.
pub fn problem(error: &rusqlite::Error) -> Problem {
    to_problem(error, &std::io::Error::last_os_error())
}

/// The same with what the system said last. SQLite knows a full disk only by a write that finds no room. Some disks take the
/// write and refuse when it is to be made durable, and a quota has an error of its own.
fn to_problem(error: &rusqlite::Error, reason: &std::io::Error) -> Problem {
    let (code, fix) = match error.sqlite_error_code() {
        // The index of the log is a file as well, and a full disk cannot make it longer.
        Some(_) if is_extended(error, rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            (Code::DiskFull, "Free some space; nothing that was acknowledged is lost.")
        }
        Some(ErrorCode::DiskFull) => {
            (Code::DiskFull, "Free some space; nothing that was acknowledged is lost.")
        }
        Some(ErrorCode::SystemIoFailure) if is_disk_call(error) && is_full(reason) => {
            (Code::DiskFull, "Free some space; nothing that was acknowledged is lost.")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Code::StoreBusy, "Another process writes to this file. Try again in a moment.")
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            (Code::StoreDamaged, "Restore a backup with `capsid hub restore`; the file was left as it is.")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            (Code::PermissionDenied, "Give this user access to the data folder.")
        }
        Some(ErrorCode::SystemIoFailure) => {
            (Code::IoError, "Look at the disk and the system log, then start the hub again.")
        }
        _ => (Code::Internal, "Please report this as a bug."),
    };
    Problem::new(code, format!("The database failed: {error}.")).fix(fix)
}

/// Whether a call failed that makes a file longer or durable. What was to be committed is undone then, and the next commit
/// writes its pages anew.
fn is_disk_call(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    let calls = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_DIR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMMAP,
    ];
    calls.into_iter().any(|code| is_extended(error, code))
}

fn is_full(reason: &std::io::Error) -> bool {
    matches!(reason.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

fn is_extended(error: &rusqlite::Error, code: i32) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn a_disk_without_room_for_the_index_of_the_log_is_full_and_not_broken() {
        let code = |code: i32| problem_after(code, std::io::ErrorKind::Other);
        assert_eq!(code(ffi::SQLITE_IOERR_SHMSIZE), Code::DiskFull);
        assert_eq!(code(ffi::SQLITE_FULL), Code::DiskFull);
        assert_eq!(code(ffi::SQLITE_IOERR_FSYNC), Code::IoError);
    }

    #[test]
    fn a_sync_that_finds_no_room_says_that_the_disk_is_full() {
        for kind in [std::io::ErrorKind::StorageFull, std::io::ErrorKind::QuotaExceeded] {
            assert_eq!(problem_after(ffi::SQLITE_IOERR_FSYNC, kind), Code::DiskFull);
            assert_eq!(problem_after(ffi::SQLITE_IOERR_WRITE, kind), Code::DiskFull);
            assert_eq!(problem_after(ffi::SQLITE_IOERR_READ, kind), Code::IoError, "a read needs no room");
        }
    }

    fn problem_after(code: i32, reason: std::io::ErrorKind) -> Code {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        to_problem(&error, &std::io::Error::from(reason)).code
    }
}
