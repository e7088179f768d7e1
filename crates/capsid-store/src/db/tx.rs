//! One open transaction, whichever database it is in. Every operation of this crate is written against it, once.

use super::raw_row::RawRow;
use super::row::{FromRow, RowReader};
use crate::damaged;
use capsid_model::problem::{Code, Problem, Result};
use capsid_rules::evaluation::trust_policy::TrustPolicy;

/// The two databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    /// A server that several hubs may share.
    Postgres,
}

/// A value for a `$n` in a statement. A missing value still has a type, which PostgreSQL wants to know.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// A whole number, a moment in milliseconds, an amount in milli-credits, or 0 and 1 for no and yes.
    Int(Option<i64>),
    /// A number with a fraction.
    Real(Option<f64>),
    Text(Option<&'a str>),
    Blob(Option<&'a [u8]>),
    /// Whole numbers for `unnest($1)` and `= ANY($1)`. PostgreSQL alone has arrays; SQLite takes one row at a time.
    Ints(&'a [Option<i64>]),
    Reals(&'a [Option<f64>]),
    Texts(&'a [Option<&'a str>]),
    Blobs(&'a [Option<&'a [u8]>]),
}

/// An open transaction. What an operation did is kept when it returns `Ok`, and undone as a whole when it does not.
pub trait Tx {
    /// Which database this is, for the few statements that cannot be the same in both.
    fn dialect(&self) -> Dialect;
    /// How evidence counts on this hub.
    fn trust(&self) -> TrustPolicy {
        TrustPolicy::default()
    }
    /// A snapshot of what follows from the database, such as the knowledge graph.
    fn index(&mut self) -> Result<&mut dyn Tx> {
        Err(no_index())
    }
    /// Runs a statement and tells how many rows it changed.
    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64>;
    /// Runs a query and shows each row in turn.
    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()>;
    /// Runs a query and shows its first row, if there is one. Those after it are not asked for.
    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()>;
}

impl dyn Tx + '_ {
    /// All rows of a query.
    pub fn query_all<T: FromRow>(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.query_each(sql, params, |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Visits the rows of a query one after the other, without keeping them.
    pub fn query_each<T: FromRow>(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        mut visit: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        self.each(sql, params, &mut |row| visit(T::from_row(&RowReader::new(row))?))
    }

    /// The first row of a query, if there is one.
    pub fn query_first<T: FromRow>(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Option<T>> {
        let mut first = None;
        self.one(sql, params, &mut |row| {
            first = Some(T::from_row(&RowReader::new(row))?);
            Ok(())
        })?;
        Ok(first)
    }

    /// The first row of a query that always finds one.
    pub fn query_one<T: FromRow>(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<T> {
        self.query_first(sql, params)?
            .ok_or_else(|| damaged(format!("A row that must be there is not there, by `{sql}`.")))
    }

    /// The whole number that a query gives, such as `SELECT COUNT(*) ...`.
    pub fn count(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<i64> {
        self.query_one(sql, params)
    }

    /// Whether a query finds anything.
    pub fn exists(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<bool> {
        let mut exists = false;
        self.one(sql, params, &mut |_| {
            exists = true;
            Ok(())
        })?;
        Ok(exists)
    }
}

/// The refusal of whoever needs an index where there is none.
pub(crate) fn no_index() -> Problem {
    Problem::new(Code::FileNotFound, "There is no index beside this database.")
        .fix("Start the hub once; it makes `index.db` in its data folder.")
}

/// The values of a statement, in the order of `$1`, `$2`, …
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::db::tx::Param::from($value)),*] };
}

macro_rules! from {
    ($($kind:ty => $variant:ident, |$value:ident| $make:expr;)*) => {
        $(impl<'a> From<$kind> for Param<'a> {
            fn from($value: $kind) -> Self { Param::$variant($make) }
        })*
    };
}

from! {
    i64 => Int, |value| Some(value);
    i32 => Int, |value| Some(i64::from(value));
    u32 => Int, |value| Some(i64::from(value));
    bool => Int, |value| Some(i64::from(value));
    Option<i64> => Int, |value| value;
    capsid_model::time::Time => Int, |value| Some(value.0);
    Option<capsid_model::time::Time> => Int, |value| value.map(|time| time.0);
    f64 => Real, |value| Some(value);
    Option<f64> => Real, |value| value;
    &'a str => Text, |value| Some(value);
    &'a String => Text, |value| Some(value);
    Option<&'a str> => Text, |value| value;
    &'a Option<String> => Text, |value| value.as_deref();
    &'a [u8] => Blob, |value| Some(value);
    &'a Vec<u8> => Blob, |value| Some(value);
    &'a [u8; 32] => Blob, |value| Some(value);
    Option<&'a [u8]> => Blob, |value| value;
    &'a [Option<i64>] => Ints, |values| values;
    &'a Vec<Option<i64>> => Ints, |values| values;
    &'a [Option<f64>] => Reals, |values| values;
    &'a Vec<Option<f64>> => Reals, |values| values;
    &'a [Option<&'a str>] => Texts, |values| values;
    &'a Vec<Option<&'a str>> => Texts, |values| values;
    &'a [Option<&'a [u8]>] => Blobs, |values| values;
    &'a Vec<Option<&'a [u8]>> => Blobs, |values| values;
}
