//! A transaction in PostgreSQL.

use super::{PostgresFailure, lost_or};
use crate::db::raw_row::RawRow;
use crate::db::tx::{Dialect, Param, Tx};
use capsid_model::problem::{Code, Problem, Result};
use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::{Arguments, Executor};
use tokio::runtime::Runtime;

/// An open transaction.
pub struct PostgresTx<'c> {
    connection: &'c mut PgConnection,
    runtime: &'c Runtime,
    /// The first failure of the server. The transaction is void from then on.
    pub failure: Option<PostgresFailure>,
}

impl<'c> PostgresTx<'c> {
    /// The transaction that is open on this connection.
    pub fn new(connection: &'c mut PgConnection, runtime: &'c Runtime) -> Self {
        Self { connection, runtime, failure: None }
    }

    fn map_error<T>(&mut self, outcome: Result<T, sqlx::Error>) -> Result<T> {
        outcome.map_err(|error| {
            let failure = problem(&error);
            self.failure.get_or_insert(lost_or(&error));
            failure
        })
    }
}

impl Tx for PostgresTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        let query = sqlx::query_with(sql, arguments(params)?);
        let outcome = self.runtime.block_on(self.connection.execute(query));
        Ok(self.map_error(outcome)?.rows_affected())
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        let query = sqlx::query_with(sql, arguments(params)?);
        let mut refused = Ok(());
        let visited = self.runtime.block_on(async {
            let mut rows = self.connection.fetch(query);
            while let Some(row) = rows.try_next().await? {
                if refused.is_ok() {
                    refused = visit(&PostgresRow(&row));
                }
            }
            Ok(())
        });
        self.map_error(visited)?;
        refused
    }

    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        let query = sqlx::query_with(sql, arguments(params)?);
        let row = self.runtime.block_on(self.connection.fetch_optional(query));
        self.map_error(row)?.map_or(Ok(()), |row| visit(&PostgresRow(&row)))
    }
}

fn arguments(params: &[Param<'_>]) -> Result<PgArguments> {
    let mut arguments = PgArguments::default();
    for param in params {
        let added = match *param {
            Param::Int(value) => arguments.add(value),
            Param::Real(value) => arguments.add(value),
            Param::Text(value) => arguments.add(value),
            Param::Blob(value) => arguments.add(value),
            Param::Ints(values) => arguments.add(values),
            Param::Reals(values) => arguments.add(values),
            Param::Texts(values) => arguments.add(values),
            Param::Blobs(values) => arguments.add(values),
        };
        added.map_err(|error| Problem::new(Code::Internal, format!("A value cannot be sent: {error}.")))?;
    }
    Ok(arguments)
}

struct PostgresRow<'r>(&'r PgRow);

impl<'r> PostgresRow<'r> {
    fn get<T>(&self, column: usize) -> Result<Option<T>>
    where
        T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        sqlx::Row::try_get(self.0, column).map_err(|error| problem(&error))
    }

    /// The server's name of a column's type. It gives small numbers where SQLite knows only one kind.
    fn kind(&self, column: usize) -> &'r str {
        let info = sqlx::Row::columns(self.0).get(column);
        info.map_or("", |column| sqlx::TypeInfo::name(sqlx::Column::type_info(column)))
    }
}

impl RawRow for PostgresRow<'_> {
    fn name(&self, column: usize) -> &str {
        sqlx::Row::columns(self.0).get(column).map_or("", sqlx::Column::name)
    }
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.kind(column) {
            "INT4" => Ok(self.get::<i32>(column)?.map(i64::from)),
            "BOOL" => Ok(self.get::<bool>(column)?.map(i64::from)),
            _ => self.get(column),
        }
    }
    fn real(&self, column: usize) -> Result<Option<f64>> {
        match self.kind(column) {
            "INT4" | "INT8" => Ok(self.int(column)?.map(|value| value as f64)),
            _ => self.get(column),
        }
    }
    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.get(column)
    }
    fn blob(&self, column: usize) -> Result<Option<&[u8]>> {
        self.get(column)
    }
}

/// What went wrong, with the code that fits it.
pub fn problem(error: &sqlx::Error) -> Problem {
    let state = error.as_database_error().and_then(|e| e.code()).unwrap_or_default();
    let (code, fix) = match error {
        sqlx::Error::Database(_) if state == "53100" => {
            (Code::DiskFull, "Free some space on the database server; nothing that was acknowledged is lost.")
        }
        sqlx::Error::Database(_)
            if state.starts_with("53") || state.starts_with("40") || state == "55P03" =>
        {
            (Code::StoreBusy, "Try again in a moment.")
        }
        sqlx::Error::Database(_) if state.starts_with("58") => {
            (Code::IoError, "Look at the disk and the log of the database server.")
        }
        sqlx::Error::Database(_) if state.starts_with("XX00") && state != "XX000" => {
            (Code::StoreDamaged, "Restore a backup of the database server.")
        }
        // A server that became a copy of another one, or whose operator stopped writes.
        sqlx::Error::Database(_) if state == "25006" => {
            (Code::StoreUnreachable, "Name the server that takes writes in the URL; try again in a moment.")
        }
        sqlx::Error::Database(_) if state.starts_with("28") || state == "3D000" => {
            (Code::StoreUnreachable, "Check the user, the password and the database name in the URL.")
        }
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => {
            (Code::StoreUnreachable, "Check the URL and that the server runs.")
        }
        sqlx::Error::Database(_) if state.starts_with("57P") => {
            (Code::StoreUnreachable, "The server is shutting down or starting; try again in a moment.")
        }
        _ => (Code::Internal, "Please report this as a bug."),
    };
    Problem::new(code, format!("The database failed: {error}.")).fix(fix)
}
