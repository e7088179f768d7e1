//! A snapshot of the index, for as long as one operation reads it.

use super::Index;
use crate::db::raw_row::RawRow;
use crate::db::sqlite::SqliteConnection;
use crate::db::tx::{Dialect, Param, Tx};
use capsid_model::problem::Result;
use std::sync::Arc;

/// A read transaction on a connection that goes back to the index afterwards.
pub struct IndexSnapshot {
    index: Arc<Index>,
    /// Always there until the end.
    connection: Option<SqliteConnection>,
}

impl IndexSnapshot {
    pub(super) fn begin(index: Arc<Index>, connection: SqliteConnection) -> Result<Self> {
        connection.begin_read()?;
        Ok(Self { index, connection: Some(connection) })
    }

    fn read<T>(&mut self, op: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        match &mut self.connection {
            Some(connection) => connection.with_tx(op),
            None => Err(crate::damaged("A snapshot of the index was used after its end.")),
        }
    }
}

impl Drop for IndexSnapshot {
    fn drop(&mut self) {
        // A connection that cannot end its transaction is closed with it.
        if let Some(connection) = self.connection.take().filter(|connection| connection.end_read().is_ok()) {
            self.index.give_back(connection);
        }
    }
}

impl Tx for IndexSnapshot {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.read(|tx| tx.run(sql, params))
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.read(|tx| tx.each(sql, params, visit))
    }

    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.read(|tx| tx.one(sql, params, visit))
    }
}
