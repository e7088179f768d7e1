//! Both databases: transactions, rows, migrations and tables.

pub(crate) mod migrate;
pub(crate) mod postgres;
pub(crate) mod private;
pub(crate) mod sqlite;
pub(crate) mod tables;
pub(crate) mod task;
pub mod tx;
