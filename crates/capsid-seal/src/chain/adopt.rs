//! Going on with a chain that another program wrote: which of its records stand for what.

use super::open::problem;
use super::write::Head;
use capsid_model::exact::{Json, parse, parse_lossy};
use capsid_model::{Code, Problem, Result};
use rusqlite::{Connection, params};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Tells the key of a record from its content.
pub(super) type KeyOf = dyn Fn(&Json) -> Option<String>;

/// A checkpoint file larger than this is none.
const LONGEST_CHECKPOINT: u64 = 256 << 20;

/// Where the checkpoint file of a chain lies: `<session>.checkpoint.json` beside `<session>.db`.
pub fn checkpoint_of(chain: &Path) -> PathBuf {
    chain.with_extension("checkpoint.json")
}

/// How many records a checkpoint file names.
pub(crate) fn keys_in_checkpoint(checkpoint: &Path) -> usize {
    done(checkpoint).len()
}

/// Notes the keys of records that came from elsewhere, if the last record is one of them.
///
/// A key whose record is not known is noted at the head: it is somewhere before.
pub(super) fn adopt(
    path: &Path,
    connection: &Connection,
    tenant: Option<&str>,
    head: &Head,
    checkpoint: &Path,
    key_of: Option<&KeyOf>,
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
    if keys.is_empty() {
        return Err(unknown(path));
    }
    let note = || -> rusqlite::Result<()> {
        const KEY: &str = "INSERT OR IGNORE INTO capsid_keys (tenant, key, sequence) VALUES (?1, ?2, ?3)";
        let mut insert = connection.prepare_cached(KEY)?;
        for (key, sequence) in keys {
            insert.execute(params![tenant.unwrap_or_default(), key, sequence])?;
        }
        Ok(())
    };
    note().map_err(|error| problem("write", path, &error))
}

/// Sealing on would put everything into the chain a second time.
fn unknown(path: &Path) -> Problem {
    let shown = path.display();
    Problem::new(
        Code::SealRefused,
        format!("`{shown}` was sealed elsewhere and its checkpoint file is not there, so nobody can tell what is new."),
    )
    .fix("Bring the checkpoint file back, or move the chain aside to begin another; it still verifies.")
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
    key_of: &KeyOf,
) -> rusqlite::Result<Vec<(String, i64)>> {
    const QUERY: &str = "SELECT sequence, canonical FROM capsules WHERE tenant_id IS ?1 AND sequence > ?2";
    let mut query = connection.prepare_cached(QUERY)?;
    let mut rows = query.query(params![tenant, after])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let content: String = row.get(1)?;
        if let Some(key) = parse(&content).ok().and_then(|content| key_of(&content)) {
            keys.push((key, row.get(0)?));
        }
    }
    Ok(keys)
}

/// The keys in a checkpoint file. One that is missing or unreadable names none.
fn done(checkpoint: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = match capsid_disk::files::open(checkpoint) {
        Ok(Some(file)) => file.take(LONGEST_CHECKPOINT).read_to_end(&mut bytes),
        _ => return Vec::new(),
    };
    let content = read.ok().and_then(|_| parse_lossy(&bytes).ok()).unwrap_or_default();
    let keys = content.get("done").and_then(Json::as_array).unwrap_or_default();
    keys.iter().filter_map(|key| key.as_str().map(str::to_owned)).collect()
}
