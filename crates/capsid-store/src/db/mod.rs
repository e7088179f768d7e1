//! Both databases: transactions, rows, migrations and tables.

pub(crate) mod migrate;
pub(crate) mod operation;
pub mod postgres;
pub(crate) mod private_files;
pub mod raw_row;
pub mod row;
pub(crate) mod row_batch;
pub(crate) mod sqlite;
pub(crate) mod tables;
pub mod tx;

/// A day in milliseconds.
pub const DAY_MS: i64 = 24 * 3_600_000;
