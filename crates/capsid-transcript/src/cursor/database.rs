//! Opens a database that belongs to a running program, and reads single values of it.

use capsid_model::{Code, Problem, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Databases up to this size are copied, so that reading them can disturb nobody.
const COPY_BYTES: u64 = 64 << 20;
/// Tries to copy a database that is written meanwhile.
const TRIES: usize = 5;
/// Longest bubble that is read.
const BUBBLE_BYTES: i64 = 8 << 20;
/// Longest description of a conversation that is read; old versions keep all bubbles in it.
const COMPOSER_BYTES: i64 = 128 << 20;
/// Conversations that are listed.
const MAX_CONVERSATIONS: i64 = 100_000;
/// How long a value is waited for while its database is written.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is stored under a key.
pub(super) enum CursorValue {
    Absent,
    /// More bytes than are read.
    TooLarge(i64),
    Bytes(Vec<u8>),
}

/// A database, or the copy of it.
pub(super) struct CursorDatabase {
    // Closed before its copy is removed.
    connection: Connection,
    path: PathBuf,
    tables: Vec<String>,
    _copy: Option<TempDir>,
}

/// Whether a file is a SQLite database.
pub(crate) fn is_database(path: &Path) -> bool {
    header(path).is_some_and(|header| header.starts_with(b"SQLite format 3\0"))
}

impl CursorDatabase {
    /// Opens a database for reading.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_copied_below(path, COPY_BYTES)
    }

    /// The same; one that has so many bytes or more is read where it is.
    pub(super) fn open_copied_below(path: &Path, limit: u64) -> Result<Self> {
        let meta = path.metadata().map_err(|error| Problem::io("read", path, &error))?;
        let size = meta.len() + sidecar_files(path, "-wal").metadata().map_or(0, |wal| wal.len());
        let (connection, copy) = if size < limit {
            let (folder, copied) = copy(path)?;
            // The copy is ours: an open transaction is rolled back in it.
            (Connection::open_with_flags(copied, OpenFlags::SQLITE_OPEN_READ_WRITE), Some(folder))
        } else {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            (Connection::open_with_flags(in_place(path), flags), None)
        };
        let connection = connection.map_err(|error| unreadable(path, &error))?;
        connection.busy_timeout(PATIENCE).map_err(|error| unreadable(path, &error))?;
        let tables = tables(&connection).map_err(|error| unreadable(path, &error))?;
        Ok(Self { connection, path: path.to_owned(), tables, _copy: copy })
    }

    /// The connection, for questions of other tables.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// A bubble of a conversation.
    pub(super) fn bubble(&self, conversation: &str, bubble: &str) -> Result<CursorValue> {
        self.value("cursorDiskKV", &format!("bubbleId:{conversation}:{bubble}"), BUBBLE_BYTES)
    }

    /// The description of a conversation.
    pub(super) fn composer(&self, key: &str) -> Result<Option<Vec<u8>>> {
        match self.value("cursorDiskKV", key, COMPOSER_BYTES)? {
            CursorValue::Absent => Ok(None),
            CursorValue::Bytes(bytes) => Ok(Some(bytes)),
            CursorValue::TooLarge(bytes) => {
                let message = format!("`{key}` in `{}` has {bytes} bytes.", self.path.display());
                Err(Problem::new(Code::TranscriptUnreadable, message)
                    .fix("Name the conversation's text transcript with `--transcript` instead."))
            }
        }
    }

    /// An item of the editor's own table.
    pub(super) fn item(&self, key: &str) -> Result<Option<Vec<u8>>> {
        match self.value("ItemTable", key, BUBBLE_BYTES)? {
            CursorValue::Bytes(bytes) => Ok(Some(bytes)),
            _ => Ok(None),
        }
    }

    /// Whether there is such a key.
    pub(super) fn has(&self, key: &str) -> Result<bool> {
        Ok(!matches!(self.value("cursorDiskKV", key, 0)?, CursorValue::Absent))
    }

    /// The ids of all conversations, in order.
    pub(super) fn conversations(&self) -> Result<Vec<String>> {
        if !self.has_table("cursorDiskKV") {
            return Ok(Vec::new());
        }
        let list = || {
            // A range, so that the index on the keys is used and no value is touched.
            let mut query = self.connection.prepare(
                "SELECT substr(key, 14) FROM cursorDiskKV \
                 WHERE key > 'composerData:' AND key < 'composerData;' ORDER BY key LIMIT ?1",
            )?;
            query.query_map([MAX_CONVERSATIONS], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        list().map_err(|error| unreadable(&self.path, &error))
    }

    /// Each value is its own short transaction, so that its writer never waits for us for long.
    fn value(&self, table: &str, key: &str, limit: i64) -> Result<CursorValue> {
        if !self.has_table(table) {
            return Ok(CursorValue::Absent);
        }
        let sql = format!(
            "SELECT octet_length(value), CASE WHEN octet_length(value) <= ?2 THEN value END \
             FROM {table} WHERE key = ?1"
        );
        let read = || {
            let mut query = self.connection.prepare_cached(&sql)?;
            let stored = |row: &rusqlite::Row<'_>| {
                Ok(match (row.get_ref(0)?, row.get_ref(1)?) {
                    (_, ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => CursorValue::Bytes(bytes.to_vec()),
                    (ValueRef::Integer(bytes), _) if bytes > limit => CursorValue::TooLarge(bytes),
                    _ => CursorValue::Absent,
                })
            };
            query.query_row(rusqlite::params![key, limit], stored).optional()
        };
        let row = read().map_err(|error| unreadable(&self.path, &error))?;
        Ok(row.unwrap_or(CursorValue::Absent))
    }

    fn has_table(&self, table: &str) -> bool {
        self.tables.iter().any(|name| name == table)
    }
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('cursorDiskKV', 'ItemTable')",
    )?;
    query.query_map([], |row| row.get(0))?.collect()
}

/// What to say about a database that does not answer.
pub(super) fn unreadable(path: &Path, error: &rusqlite::Error) -> Problem {
    let message = format!("The database `{}` cannot be read: {error}.", path.display());
    Problem::new(Code::TranscriptUnreadable, message)
        .fix("Nothing is lost: try again, and if it stays so, close Cursor and try once more.")
}

fn header(path: &Path) -> Option<[u8; 20]> {
    let mut header = [0; 20];
    let is_file = path.metadata().ok()?.is_file();
    is_file.then(|| File::open(path).ok()?.read_exact(&mut header).ok().map(|()| header))?
}

fn sidecar_files(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// How a large database is opened in place, without writing to any file next to it.
fn in_place(path: &Path) -> String {
    let has_log = sidecar_files(path, "-wal").metadata().is_ok_and(|wal| wal.len() > 0);
    let keeps_log = header(path).is_some_and(|header| header[18] == 2);
    // With a write-ahead log that is empty or gone nobody writes, and nothing need be locked or created.
    let mode = match (keeps_log, has_log) {
        (true, false) => "immutable=1",
        _ => "mode=ro",
    };
    format!("file:{}?{mode}", percent_encoded(&path.to_string_lossy()))
}

/// A path as SQLite's URIs want it.
fn percent_encoded(path: &str) -> String {
    let mut encoded = String::new();
    let path = path.replace('\\', "/");
    // A drive letter needs a slash before it.
    if path.as_bytes().get(1) == Some(&b':') {
        encoded.push('/');
    }
    for c in path.chars() {
        match c {
            '%' | '?' | '#' => encoded.push_str(&format!("%{:02X}", c as u32)),
            c => encoded.push(c),
        }
    }
    encoded
}

/// Copies a database with its logs into a folder that only we may read.
///
/// The log goes first: what is moved from it into the database while we copy is then in both and not in neither.
fn copy(path: &Path) -> Result<(TempDir, PathBuf)> {
    let fail = |error: std::io::Error| Problem::io("copy", path, &error);
    let folder = tempfile::Builder::new().prefix("capsid-").tempdir().map_err(fail)?;
    let target = folder.path().join("state.db");
    for _ in 0..TRIES {
        let before = stamps(path);
        for ending in ["-journal", "-wal"] {
            let (from, to) = (sidecar_files(path, ending), sidecar_files(&target, ending));
            let _ = std::fs::remove_file(&to);
            match std::fs::copy(&from, &to) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
                _ => {}
            }
        }
        std::fs::copy(path, &target).map_err(fail)?;
        if stamps(path) == before {
            set_writable(&folder, &target)?;
            return Ok((folder, target));
        }
    }
    let message = format!("The database `{}` is written all the time.", path.display());
    Err(Problem::new(Code::TranscriptUnreadable, message).fix("Nothing is lost: try again a little later."))
}

/// A copy has the mode of its original, which may be read-only.
fn set_writable(folder: &TempDir, target: &Path) -> Result<()> {
    for ending in ["", "-journal", "-wal"] {
        let path = sidecar_files(target, ending);
        let Ok(meta) = path.metadata() else { continue };
        let mut mode = meta.permissions();
        #[allow(clippy::permissions_set_readonly_false)]
        mode.set_readonly(false);
        std::fs::set_permissions(&path, mode)
            .map_err(|error| Problem::io("prepare", folder.path(), &error))?;
    }
    Ok(())
}

fn stamps(path: &Path) -> Vec<Option<(u64, Option<SystemTime>)>> {
    let stamp = |ending: &str| {
        let meta = sidecar_files(path, ending).metadata().ok()?;
        Some((meta.len(), meta.modified().ok()))
    };
    ["", "-journal", "-wal"].map(stamp).to_vec()
}
