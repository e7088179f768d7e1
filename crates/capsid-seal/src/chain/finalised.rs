//! The mark of a finalised chain: which record of the meta-chain names it, kept next to its own records.
//!
//! A meta-chain that is gone or cut, and a chain that lost its end, contradict the mark.

use super::open::problem;
use super::read::ChainReader;
use super::write::ChainWriter;
use capsid_model::Result;
use rusqlite::{Connection, params};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS capsid_finalised (
    tenant        TEXT NOT NULL,
    meta_sequence INTEGER NOT NULL,
    meta_hash     TEXT NOT NULL,
    count         INTEGER NOT NULL,
    head          TEXT NOT NULL,
    PRIMARY KEY (tenant, meta_sequence)
) WITHOUT ROWID";

/// One state of a chain that the meta-chain recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalisedMark {
    /// The position of the record in the meta-chain.
    pub meta_sequence: u64,
    /// The hash of that record.
    pub meta_hash: String,
    /// How many records the chain had.
    pub count: u64,
    /// The hash of the last one.
    pub head: String,
}

impl ChainWriter {
    /// Marks a state as recorded. Doing so twice changes nothing.
    pub fn mark_finalised(&mut self, tenant: Option<&str>, mark: &FinalisedMark) -> Result<()> {
        const MARK: &str = "INSERT OR REPLACE INTO capsid_finalised (tenant, meta_sequence, meta_hash, count, head) \
                            VALUES (?1, ?2, ?3, ?4, ?5)";
        let (connection, path) = self.parts_mut();
        let write = || -> rusqlite::Result<()> {
            connection.execute_batch(TABLE)?;
            let row = params![
                tenant.unwrap_or_default(),
                to_integer(mark.meta_sequence),
                mark.meta_hash,
                to_integer(mark.count),
                mark.head
            ];
            connection.execute(MARK, row).map(drop)
        };
        write().map_err(|error| problem("write", path, &error))
    }
}

impl ChainReader {
    /// The states that the meta-chain recorded, oldest first.
    pub fn finalised(&self, tenant: Option<&str>) -> Result<Vec<FinalisedMark>> {
        let (connection, path) = self.parts();
        marks(connection, tenant).map_err(|error| problem("read", path, &error))
    }
}

/// The marks of a chain; none where no chain of the database was ever finalised.
pub(super) fn marks(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<Vec<FinalisedMark>> {
    const TABLES: &str =
        "SELECT count(*) FROM sqlite_master WHERE name = 'capsid_finalised' AND type = 'table'";
    const MARKS: &str = "SELECT meta_sequence, meta_hash, count, head FROM capsid_finalised WHERE tenant = ?1 \
                         ORDER BY meta_sequence";
    if connection.query_row(TABLES, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(Vec::new());
    }
    let mut query = connection.prepare_cached(MARKS)?;
    let mark = |row: &rusqlite::Row<'_>| {
        Ok(FinalisedMark {
            meta_sequence: row.get::<_, i64>(0)?.unsigned_abs(),
            meta_hash: row.get(1)?,
            count: row.get::<_, i64>(2)?.unsigned_abs(),
            head: row.get(3)?,
        })
    };
    query.query_map([tenant.unwrap_or_default()], mark)?.collect()
}

/// Forgets the marks of records that are gone, for an owner who accepts the rest as it is.
pub(super) fn forget_marks(connection: &Connection, tenant: Option<&str>) -> rusqlite::Result<()> {
    const FORGET: &str = "DELETE FROM capsid_finalised WHERE tenant = ?1 AND count > \
                          (SELECT coalesce(max(sequence), -1) + 1 FROM capsules WHERE tenant_id IS ?2)";
    match marks(connection, tenant)?.is_empty() {
        true => Ok(()),
        false => connection.execute(FORGET, params![tenant.unwrap_or_default(), tenant]).map(drop),
    }
}

fn to_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
