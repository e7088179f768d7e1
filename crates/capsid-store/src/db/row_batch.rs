//! One statement for many rows: PostgreSQL gets a list of the values of each column, for each statement costs it a lot;
//! SQLite runs a prepared statement for one row after the other, for that costs it nothing.

use super::row::FromRow;
use super::tx::{Dialect, Param, Tx};
use capsid_model::problem::{Code, Problem, Result};

/// A statement for many rows, as each database takes it.
#[derive(Debug, Clone, Copy)]
pub struct RowsSql {
    /// For one row of values.
    pub sqlite: &'static str,
    /// For a list of the values of each column.
    pub postgres: &'static str,
}

/// Adds rows, unless they are there. `$marks` are `$1` and so on, one for each column.
macro_rules! insert_rows {
    ($table:literal, $columns:literal, $marks:literal) => {
        $crate::db::row_batch::RowsSql {
            sqlite: concat!(
                "INSERT INTO ",
                $table,
                " (",
                $columns,
                ") VALUES (",
                $marks,
                ") ON CONFLICT DO NOTHING"
            ),
            postgres: concat!(
                "INSERT INTO ",
                $table,
                " (",
                $columns,
                ") SELECT * FROM unnest(",
                $marks,
                ") ON CONFLICT DO NOTHING"
            ),
        }
    };
}
pub(crate) use insert_rows;

/// Rows of values, each with a value of the same type for each column.
#[derive(Debug, Default)]
pub struct RowBatch<'a> {
    rows: Vec<Vec<Param<'a>>>,
}

impl<'a> RowBatch<'a> {
    /// Adds a row.
    pub fn push(&mut self, row: &[Param<'a>]) {
        self.rows.push(row.to_vec());
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Runs a statement for all rows and tells how many rows it changed.
    pub fn run(&self, tx: &mut dyn Tx, sql: RowsSql) -> Result<u64> {
        if self.rows.is_empty() {
            return Ok(0);
        }
        match tx.dialect() {
            Dialect::Sqlite => {
                self.rows.iter().try_fold(0, |changed, row| Ok(changed + tx.run(sql.sqlite, row)?))
            }
            Dialect::Postgres => {
                let columns = self.columns()?;
                let lists: Vec<Param<'_>> = columns.iter().map(ColumnValues::list).collect();
                tx.run(sql.postgres, &lists)
            }
        }
    }

    /// Runs a query for all rows and visits what it finds.
    pub fn query_each<T: FromRow>(
        &self,
        tx: &mut dyn Tx,
        sql: RowsSql,
        mut visit: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        match tx.dialect() {
            Dialect::Sqlite => {
                self.rows.iter().try_for_each(|row| tx.query_each(sql.sqlite, row, &mut visit))
            }
            Dialect::Postgres => {
                let columns = self.columns()?;
                let lists: Vec<Param<'_>> = columns.iter().map(ColumnValues::list).collect();
                tx.query_each(sql.postgres, &lists, visit)
            }
        }
    }

    fn columns(&self) -> Result<Vec<ColumnValues<'a>>> {
        let width = self.rows.first().map_or(0, Vec::len);
        (0..width).map(|at| self.column(at)).collect()
    }

    fn column(&self, at: usize) -> Result<ColumnValues<'a>> {
        let values = || self.rows.iter().filter_map(|row| row.get(at).copied());
        Ok(match values().next() {
            Some(Param::Int(_)) => ColumnValues::Ints(collect(values(), |value| match value {
                Param::Int(value) => Some(value),
                _ => None,
            })?),
            Some(Param::Real(_)) => ColumnValues::Reals(collect(values(), |value| match value {
                Param::Real(value) => Some(value),
                _ => None,
            })?),
            Some(Param::Text(_)) => ColumnValues::Texts(collect(values(), |value| match value {
                Param::Text(value) => Some(value),
                _ => None,
            })?),
            Some(Param::Blob(_)) => ColumnValues::Blobs(collect(values(), |value| match value {
                Param::Blob(value) => Some(value),
                _ => None,
            })?),
            _ => return Err(mixed()),
        })
    }
}

/// The values of one column.
enum ColumnValues<'a> {
    Ints(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<&'a str>>),
    Blobs(Vec<Option<&'a [u8]>>),
}

impl ColumnValues<'_> {
    fn list(&self) -> Param<'_> {
        match self {
            Self::Ints(values) => Param::Ints(values),
            Self::Reals(values) => Param::Reals(values),
            Self::Texts(values) => Param::Texts(values),
            Self::Blobs(values) => Param::Blobs(values),
        }
    }
}

fn collect<'a, T>(
    values: impl Iterator<Item = Param<'a>>,
    value: impl Fn(Param<'a>) -> Option<Option<T>>,
) -> Result<Vec<Option<T>>> {
    values.map(|param| value(param).ok_or_else(mixed)).collect()
}

fn mixed() -> Problem {
    Problem::new(Code::Internal, "The rows of a batch have values of different types.")
}
