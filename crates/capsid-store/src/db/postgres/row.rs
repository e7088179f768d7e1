//! Rows and values of the server.

use super::error::problem;
use crate::db::raw_row::RawRow;
use crate::db::tx::Param;
use capsid_model::problem::Result;
use std::error::Error;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, WrongType, to_sql_checked};

impl ToSql for Param<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Int(value) => value.to_sql(kind, out),
            Self::Real(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
            Self::Blob(value) => value.to_sql(kind, out),
            Self::Ints(values) => values.to_sql(kind, out),
            Self::Reals(values) => values.to_sql(kind, out),
            Self::Texts(values) => values.to_sql(kind, out),
            Self::Blobs(values) => values.to_sql(kind, out),
        }
    }

    /// A statement is prepared with the types of its values.
    fn accepts(_kind: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value that may be missing, and then has whatever type the server thinks of.
struct Nullable<T>(Option<T>);

impl<'r, T: FromSql<'r>> FromSql<'r> for Nullable<T> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        if !T::accepts(kind) {
            return Err(Box::new(WrongType::new::<T>(kind.clone())));
        }
        Ok(Self(Some(T::from_sql(kind, raw)?)))
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }
}

/// A row of an answer.
pub struct PostgresRow<'r>(pub &'r tokio_postgres::Row);

impl<'r> PostgresRow<'r> {
    fn get<T: FromSql<'r>>(&self, column: usize) -> Result<Option<T>> {
        self.0.try_get::<_, Nullable<T>>(column).map(|value| value.0).map_err(|error| problem(&error))
    }

    /// The server has small numbers where SQLite knows only one kind.
    fn kind(&self, column: usize) -> &Type {
        self.0.columns().get(column).map_or(&Type::UNKNOWN, |column| column.type_())
    }
}

impl RawRow for PostgresRow<'_> {
    fn name(&self, column: usize) -> &str {
        self.0.columns().get(column).map_or("", |column| column.name())
    }
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match *self.kind(column) {
            Type::INT4 => Ok(self.get::<i32>(column)?.map(i64::from)),
            Type::BOOL => Ok(self.get::<bool>(column)?.map(i64::from)),
            _ => self.get(column),
        }
    }
    fn real(&self, column: usize) -> Result<Option<f64>> {
        match *self.kind(column) {
            Type::INT4 | Type::INT8 => Ok(self.int(column)?.map(|value| value as f64)),
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
