//! Records that wait for a signature: linked, hashed, and not in the chain yet.
//!
//! They are committed here first, then signed elsewhere, then moved into the chain in one transaction. A kill at any
//! point leaves the same texts, so asking again forks nothing.

use super::adopt::{ChainHead, close_key, insert_key, last};
use super::open::problem;
use super::seal_plan::RecordReason;
use super::write::{ChainPosition, insert_row};
use crate::record_signer::RecordSigner;
use crate::{RecordSeal, StoredRecord};
use capsid_model::{Code, Problem, Result};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::path::Path;

/// At most so many records, and about so many bytes, are signed by one request.
const MAX_TEXTS: i64 = 1000;
const MAX_BYTES: usize = 24 << 20;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS capsid_pending (
    tenant        TEXT NOT NULL,
    sequence      INTEGER NOT NULL,
    id            TEXT NOT NULL,
    previous_hash TEXT,
    hash          TEXT NOT NULL,
    signed_at     TEXT,
    canonical     TEXT NOT NULL,
    key           TEXT NOT NULL,
    open          INTEGER NOT NULL,
    late          INTEGER NOT NULL,
    PRIMARY KEY (tenant, sequence)
);
CREATE INDEX IF NOT EXISTS capsid_pending_key ON capsid_pending (tenant, key, sequence)";

/// The item that a record was made of.
pub(super) struct PendingItem<'a> {
    pub(super) key: &'a str,
    pub(super) open: bool,
    pub(super) reason: RecordReason,
}

struct PendingRow {
    position: i64,
    id: String,
    previous: Option<String>,
    hash: String,
    signed_at: Option<String>,
    canonical: String,
    key: String,
    open: bool,
    late: bool,
}

/// Makes the table.
pub(super) fn create_pending(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLE)
}

/// Whether a database has the table.
pub(super) fn has_pending_table(connection: &Connection) -> rusqlite::Result<bool> {
    const TABLES: &str =
        "SELECT count(*) FROM sqlite_master WHERE name = 'capsid_pending' AND type = 'table'";
    connection.prepare_cached(TABLES)?.query_row([], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// How many records wait.
pub(super) fn count_pending(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<u64> {
    if !has_pending_table(connection)? {
        return Ok(0);
    }
    let query = "SELECT count(*) FROM capsid_pending WHERE tenant = ?1";
    connection
        .query_row(query, [tenant.unwrap_or_default()], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
}

/// How many records wait, by tenant. The one chain of a file has no tenant.
pub(super) fn list_pending(connection: &Connection) -> rusqlite::Result<Vec<(Option<String>, u64)>> {
    if !has_pending_table(connection)? {
        return Ok(Vec::new());
    }
    let mut query =
        connection.prepare("SELECT tenant, count(*) FROM capsid_pending GROUP BY tenant ORDER BY tenant")?;
    let row = |row: &rusqlite::Row<'_>| {
        let tenant: String = row.get(0)?;
        Ok((Some(tenant).filter(|tenant| !tenant.is_empty()), row.get::<_, i64>(1)?.unsigned_abs()))
    };
    query.query_map([], row)?.collect()
}

/// The texts that wait, in order.
pub(super) fn pending_texts(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<Vec<String>> {
    if !has_pending_table(connection)? {
        return Ok(Vec::new());
    }
    let mut query =
        connection.prepare("SELECT canonical FROM capsid_pending WHERE tenant = ?1 ORDER BY sequence")?;
    query.query_map([tenant.unwrap_or_default()], |row| row.get(0))?.collect()
}

/// Whether an item waits; if so, whether it was complete.
pub(super) fn pending_state(
    connection: &Connection,
    tenant: Option<&str>,
    key: &str,
) -> rusqlite::Result<Option<bool>> {
    const QUERY: &str = "SELECT open <> 0 FROM capsid_pending WHERE tenant = ?1 AND key = ?2 \
                         ORDER BY sequence DESC LIMIT 1";
    let mut query = connection.prepare_cached(QUERY)?;
    query.query_row(params![tenant.unwrap_or_default(), key], |row| row.get(0)).optional()
}

/// The last record that waits.
pub(super) fn last_pending(
    connection: &Connection,
    tenant: Option<&str>,
) -> rusqlite::Result<Option<ChainHead>> {
    const QUERY: &str =
        "SELECT sequence, hash FROM capsid_pending WHERE tenant = ?1 ORDER BY sequence DESC LIMIT 1";
    let mut query = connection.prepare_cached(QUERY)?;
    let row = |row: &rusqlite::Row<'_>| Ok(ChainHead { sequence: row.get(0)?, hash: row.get(1)? });
    query.query_row([tenant.unwrap_or_default()], row).optional()
}

/// Adds a record behind `head`.
pub(super) fn insert_pending(
    connection: &Connection,
    tenant: Option<&str>,
    item: &PendingItem<'_>,
    stored: &StoredRecord,
    head: Option<&ChainHead>,
) -> rusqlite::Result<ChainHead> {
    const ROW: &str = "INSERT INTO capsid_pending (tenant, sequence, id, previous_hash, hash, signed_at, canonical, \
                       key, open, late) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let sequence = head.map_or(0, |head| head.sequence + 1);
    let id = stored.columns.as_ref().map_or("", |columns| &columns.id);
    connection.prepare_cached(ROW)?.execute(params![
        tenant.unwrap_or_default(),
        sequence,
        id,
        head.map(|head| &head.hash),
        stored.seal.hash,
        stored.seal.signed_at,
        stored.canonical,
        item.key,
        item.open,
        item.reason == RecordReason::Late,
    ])?;
    Ok(ChainHead { sequence, hash: stored.seal.hash.clone() })
}

/// Has what waits signed and moves it into the chain; how many still wait because nobody signs just now.
pub(super) fn sign_pending(
    path: &Path,
    connection: &mut Connection,
    tenant: Option<&str>,
    signer: &dyn RecordSigner,
) -> Result<u64> {
    let fail = |error: rusqlite::Error| problem("write", path, &error);
    if !has_pending_table(connection).map_err(fail)? {
        return Ok(0);
    }
    loop {
        let rows = first_rows(connection, tenant).map_err(fail)?;
        if rows.is_empty() {
            return Ok(0);
        }
        let texts: Vec<&str> = rows.iter().map(|row| row.canonical.as_str()).collect();
        let signed = match signer.sign_chain(&texts) {
            Ok(signed) if signed.signatures.len() == rows.len() => signed,
            Ok(_) => return Err(Problem::new(Code::Internal, "The signer gave too few signatures.")),
            Err(problem) if matches!(problem.code, Code::SignerUnreachable | Code::SignerBusy) => {
                return count_pending(connection, tenant).map_err(fail);
            }
            Err(problem) => return Err(problem),
        };
        let signed_by = signed.key.fingerprint();
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        for (row, signature) in rows.iter().zip(signed.signatures) {
            move_row(path, &transaction, tenant, row, &signature, &signed_by)?;
        }
        transaction.commit().map_err(fail)?;
    }
}

fn first_rows(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<Vec<PendingRow>> {
    const QUERY: &str = "SELECT sequence, id, previous_hash, hash, signed_at, canonical, key, open <> 0, late <> 0 \
                         FROM capsid_pending WHERE tenant = ?1 ORDER BY sequence LIMIT ?2";
    let mut query = connection.prepare_cached(QUERY)?;
    let mut found = query.query(params![tenant.unwrap_or_default(), MAX_TEXTS])?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(row) = found.next()? {
        let row = PendingRow {
            position: row.get(0)?,
            id: row.get(1)?,
            previous: row.get(2)?,
            hash: row.get(3)?,
            signed_at: row.get(4)?,
            canonical: row.get(5)?,
            key: row.get(6)?,
            open: row.get(7)?,
            late: row.get(8)?,
        };
        bytes += row.canonical.len();
        if bytes > MAX_BYTES && !rows.is_empty() {
            break;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Moves one record into the chain, unless another process did.
fn move_row(
    path: &Path,
    connection: &Connection,
    tenant: Option<&str>,
    row: &PendingRow,
    signature: &str,
    signed_by: &str,
) -> Result<()> {
    const TAKE: &str = "DELETE FROM capsid_pending WHERE tenant = ?1 AND sequence = ?2 AND hash = ?3";
    let fail = |error: rusqlite::Error| problem("write", path, &error);
    let moved = || -> rusqlite::Result<bool> {
        let taken = params![tenant.unwrap_or_default(), row.position, row.hash];
        if connection.prepare_cached(TAKE)?.execute(taken)? == 0 {
            return Ok(true);
        }
        let head = last(connection, tenant)?;
        let next = head.as_ref().map_or((0, None), |head| (head.sequence + 1, Some(&head.hash)));
        if next != (row.position, row.previous.as_ref()) {
            return Ok(false);
        }
        let seal = RecordSeal {
            hash: row.hash.clone(),
            signature: signature.to_owned(),
            signature_pq: String::new(),
            signed_at: row.signed_at.clone(),
            signed_by: signed_by.to_owned(),
        };
        let position = ChainPosition { tenant, sequence: row.position, previous: row.previous.as_deref() };
        insert_row(connection, &position, &row.id, &row.canonical, &seal)?;
        match row.late {
            true => close_key(connection, tenant, &row.key, row.position)?,
            false => insert_key(connection, tenant, &row.key, row.position, row.open)?,
        }
        Ok(true)
    };
    match moved().map_err(fail)? {
        true => Ok(()),
        false => {
            let message =
                format!("A record that waits in `{}` does not follow the chain any more.", path.display());
            Err(Problem::new(Code::ChainBroken, message)
                .fix("Put the chain back from a copy, then run the command again."))
        }
    }
}
