//! Continues a chain that another program wrote: maps its records to keys.

use super::open::problem;
use capsid_model::Result;
use capsid_model::exact::{ExactJson, parse, parse_lossy};
use rusqlite::{Connection, OptionalExtension, params};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Derives the key of a record from its content.
pub(super) type RecordKeyFn = dyn Fn(&ExactJson) -> Option<String>;

/// A checkpoint file larger than this is none.
const MAX_CHECKPOINT_LEN: u64 = 256 << 20;

/// The path of a chain's checkpoint file: `<session>.checkpoint.json` next to `<session>.db`.
pub fn checkpoint_of(chain: &Path) -> PathBuf {
    chain.with_extension("checkpoint.json")
}

/// The keys of sealed items that a checkpoint file names; none where the file is missing or cannot be read. Each stands
/// for one record, so a chain that has fewer records lost some.
pub fn checkpoint_keys(checkpoint: &Path) -> Vec<String> {
    done(checkpoint)
}

/// The key that was found for a record from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedRecord {
    /// The key of the item.
    pub key: String,
    /// The sequence number of its record; none when that one is noted already.
    pub sequence: Option<i64>,
    /// Whether the item was not complete when it was sealed.
    pub open: bool,
    /// The sequence number of the record that completes it.
    pub late: Option<i64>,
}

/// The last record's sequence number and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChainHead {
    pub(super) sequence: i64,
    pub(super) hash: String,
}

pub(super) fn last(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<Option<ChainHead>> {
    const QUERY: &str = "SELECT sequence, hash FROM capsules WHERE tenant_id IS ?1 \
                         ORDER BY sequence DESC, rowid_pk DESC LIMIT 1";
    let mut query = connection.prepare_cached(QUERY)?;
    query.query_row([tenant], |row| Ok(ChainHead { sequence: row.get(0)?, hash: row.get(1)? })).optional()
}

pub(super) fn insert_key(
    connection: &Connection,
    tenant: Option<&str>,
    key: &str,
    sequence: i64,
    open: bool,
) -> rusqlite::Result<()> {
    const KEY: &str =
        "INSERT OR IGNORE INTO capsid_keys (tenant, key, sequence, open) VALUES (?1, ?2, ?3, ?4)";
    let row = params![tenant.unwrap_or_default(), key, sequence, open];
    connection.prepare_cached(KEY)?.execute(row).map(drop)
}

/// Notes that an item which was open has its second record.
pub(super) fn close_key(
    connection: &Connection,
    tenant: Option<&str>,
    key: &str,
    sequence: i64,
) -> rusqlite::Result<()> {
    const DONE: &str = "UPDATE capsid_keys SET open = 0 WHERE tenant = ?1 AND key = ?2";
    connection.prepare_cached(DONE)?.execute(params![tenant.unwrap_or_default(), key])?;
    insert_key(connection, tenant, &format!("{key}#late"), sequence, false)
}

/// Notes the keys of records that came from elsewhere, if the last record is one of them.
///
/// A key whose record is not known is noted at the head: it is somewhere before.
pub(super) fn adopt(
    path: &Path,
    connection: &Connection,
    tenant: Option<&str>,
    head: &ChainHead,
    checkpoint: &Path,
    key_of: Option<&RecordKeyFn>,
) -> Result<()> {
    let covered = covered(connection, tenant).map_err(|error| problem("read", path, &error))?;
    if covered >= Some(head.sequence) {
        return Ok(());
    }
    let mut keys: Vec<(String, i64)> = Vec::new();
    if let Some(key_of) = key_of {
        let made = derive(connection, tenant, covered.unwrap_or(-1), key_of);
        keys = made.map_err(|error| problem("read", path, &error))?;
    }
    keys.extend(done(checkpoint).into_iter().map(|key| (key, head.sequence)));
    let note = || -> rusqlite::Result<()> {
        keys.iter().try_for_each(|(key, sequence)| insert_key(connection, tenant, key, *sequence, false))
    };
    note().map_err(|error| problem("write", path, &error))
}

/// The last place that has a key.
pub(super) fn covered(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<Option<i64>> {
    let mut query = connection.prepare_cached("SELECT max(sequence) FROM capsid_keys WHERE tenant = ?1")?;
    query.query_row([tenant.unwrap_or_default()], |row| row.get(0))
}

fn derive(
    connection: &Connection,
    tenant: Option<&str>,
    after: i64,
    key_of: &RecordKeyFn,
) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut keys = Vec::new();
    visit_after(connection, tenant, after, &mut |sequence, content| {
        keys.extend(key_of(content).map(|key| (key, sequence)));
    })?;
    Ok(keys)
}

/// Visits the records after a sequence; one that cannot be read is skipped.
pub(super) fn visit_after(
    connection: &Connection,
    tenant: Option<&str>,
    after: i64,
    visit: &mut dyn FnMut(i64, &ExactJson),
) -> rusqlite::Result<()> {
    const QUERY: &str =
        "SELECT sequence, canonical FROM capsules WHERE tenant_id IS ?1 AND sequence > ?2 ORDER BY sequence";
    let mut query = connection.prepare_cached(QUERY)?;
    let mut rows = query.query(params![tenant, after])?;
    while let Some(row) = rows.next()? {
        let content = row.get_ref(1)?.as_bytes_or_null().ok().flatten();
        let content = content.and_then(|bytes| std::str::from_utf8(bytes).ok());
        if let Some(content) = content.and_then(|content| parse(content).ok()) {
            visit(row.get(0)?, &content);
        }
    }
    Ok(())
}

/// The keys in a checkpoint file. One that is missing or unreadable names none.
pub(super) fn done(checkpoint: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = match capsid_disk::files::open(checkpoint) {
        Ok(Some(file)) => file.take(MAX_CHECKPOINT_LEN).read_to_end(&mut bytes),
        _ => return Vec::new(),
    };
    let content = read.ok().and_then(|_| parse_lossy(&bytes).ok()).unwrap_or_default();
    let keys = content.get("done").and_then(ExactJson::as_array).unwrap_or_default();
    keys.iter().filter_map(|key| key.as_str().map(str::to_owned)).collect()
}
