//! Rewriting a chain database with larger pages and no gaps, which the file system then gets back.
//!
//! The new file is made next to the old one, compared with it row by row, and takes its place while nobody else can have
//! the old one open.

use super::ChainReader;
use super::open::{prepare, problem, refuse_triggers, refuse_views};
use capsid_model::{Code, Problem, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// The size of a compacted file's pages: the fewest bytes for records of usual size.
const PAGE_SIZE: u32 = 16_384;

/// What came of compacting a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactOutcome {
    /// It has this many bytes now, or would have.
    Compacted {
        /// How many bytes it had.
        before: u64,
        /// How many it has.
        after: u64,
    },
    /// There was nothing to gain.
    Unchanged,
    /// Somebody else has it open, so it was left alone.
    InUse,
}

/// Compacts a database. With `dry_run` only says what it would come to; nothing of the file changes then.
pub fn compact(path: &Path, dry_run: bool) -> Result<CompactOutcome> {
    let fail = |error: rusqlite::Error| problem("compact", path, &error);
    let (reader, writer);
    let connection: &Connection = match dry_run {
        true => {
            reader = ChainReader::open(path)?;
            reader.parts().0
        }
        false => {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            writer = Connection::open_with_flags(path, flags).map_err(fail)?;
            prepare(&writer).map_err(fail)?;
            &writer
        }
    };
    refuse_views(path, connection)?;
    refuse_triggers(path, connection)?;
    if !dry_run && !own_alone(connection).map_err(fail)? {
        return Ok(CompactOutcome::InUse);
    }
    let before = std::fs::metadata(path).map_err(|error| Problem::io("read", path, &error))?.len();
    let folder = capsid_disk::files::parent_folder(path);
    let place = if dry_run { std::env::temp_dir() } else { folder.to_owned() };
    // Made by this user for this user alone; SQLite fills a file that is empty.
    let copy = tempfile::Builder::new().prefix(".capsid-").tempfile_in(&place);
    let copy = copy.map_err(|error| Problem::io("write", &place, &error))?;
    connection.pragma_update(None, "query_only", false).map_err(fail)?;
    connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(fail)?;
    let name = copy.path().to_string_lossy().into_owned();
    connection.execute("VACUUM INTO ?1", [name]).map_err(fail)?;
    let after =
        std::fs::metadata(copy.path()).map_err(|error| Problem::io("read", copy.path(), &error))?.len();
    if after >= before {
        return Ok(CompactOutcome::Unchanged);
    }
    if dry_run {
        return Ok(CompactOutcome::Compacted { before, after });
    }
    compare(path, connection, copy.path())?;
    copy.as_file().sync_all().map_err(|error| Problem::io("write", path, &error))?;
    copy.persist(path).map_err(|error| Problem::io("replace", path, &error.error))?;
    // A folder cannot be opened on Windows, where the rename is durable by itself.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all().map_err(|error| Problem::io("write", path, &error))?;
    }
    Ok(CompactOutcome::Compacted { before, after })
}

/// Locks the database until the connection closes; false when anybody else has it open. What waits in a log goes into
/// the file first.
fn own_alone(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let lock = || -> rusqlite::Result<bool> {
        connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
        let mode: String = connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
        connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")?;
        Ok(mode.eq_ignore_ascii_case("delete"))
    };
    match lock() {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ) =>
        {
            Ok(false)
        }
        other => other,
    }
}

/// Compares every row of every table.
fn compare(path: &Path, old: &Connection, copy: &Path) -> Result<()> {
    let fail = |error: rusqlite::Error| problem("compare the copy of", path, &error);
    let new = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(fail)?;
    let differ = |what: &str| {
        Problem::new(
            Code::Internal,
            format!("The compacted copy of `{}` differs from it in {what}.", path.display()),
        )
        .fix("The file was left as it is; check it with `capsid trail verify`.")
    };
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";
    if !are_equal(old, &new, schema).map_err(fail)? {
        return Err(differ("its tables"));
    }
    let tables = || -> rusqlite::Result<Vec<String>> {
        let mut query = old.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")?;
        query.query_map([], |row| row.get(0))?.collect()
    };
    for table in tables().map_err(fail)? {
        let rows = format!("SELECT * FROM \"{}\" ORDER BY 1, 2", table.replace('"', "\"\""));
        let rows = if table == "sqlite_sequence" {
            "SELECT * FROM sqlite_sequence ORDER BY 1".to_owned()
        } else {
            rows
        };
        if !are_equal(old, &new, &rows).map_err(fail)? {
            return Err(differ(&format!("the table `{table}`")));
        }
    }
    Ok(())
}

/// Whether both give the same rows.
fn are_equal(old: &Connection, new: &Connection, query: &str) -> rusqlite::Result<bool> {
    let (mut old, mut new) = (old.prepare(query)?, new.prepare(query)?);
    let columns = old.column_count();
    if new.column_count() != columns {
        return Ok(false);
    }
    let (mut old, mut new) = (old.query([])?, new.query([])?);
    loop {
        match (old.next()?, new.next()?) {
            (None, None) => return Ok(true),
            (Some(old), Some(new)) => {
                for column in 0..columns {
                    if old.get_ref(column)? != new.get_ref(column)? {
                        return Ok(false);
                    }
                }
            }
            _ => return Ok(false),
        }
    }
}
