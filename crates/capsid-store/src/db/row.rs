//! Rows as values. A column is read as the type it is meant to have: NULL where a value is required, or a text that
//! names nothing, is damage and never a default.

use super::raw_row::RawRow;
use crate::damaged;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use serde::de::DeserializeOwned;
use std::cell::Cell;

/// One row while it is read, column after column.
pub struct RowReader<'r> {
    row: &'r dyn RawRow,
    next: Cell<usize>,
    name: Cell<Option<&'static str>>,
}

impl<'r> RowReader<'r> {
    pub(crate) fn new(row: &'r dyn RawRow) -> Self {
        Self { row, next: Cell::new(0), name: Cell::new(None) }
    }

    /// The next value, for whose column `name` stands in a message.
    pub fn read<T: FromRow>(&self, name: &'static str) -> Result<T> {
        self.name.set(Some(name));
        T::from_row(self)
    }

    /// The next column, as the database calls it where nobody else gave it a name.
    fn column<T: FromColumn>(&self) -> Result<T> {
        let index = self.next.get();
        self.next.set(index + 1);
        T::from_column(self, index, self.name.take().unwrap_or_else(|| self.row.name(index)))
    }
}

/// A value that is made of one row.
pub trait FromRow: Sized {
    fn from_row(row: &RowReader<'_>) -> Result<Self>;
}

/// A value that is made of one column. For most types NULL is an error; `Option` makes `None` of it.
pub trait FromColumn: Sized {
    fn from_column(row: &RowReader<'_>, index: usize, name: &str) -> Result<Self>;
}

/// A column that holds JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

fn missing(name: &str) -> capsid_model::problem::Problem {
    damaged(format!("The column `{name}` of a row is empty and must not be."))
}

/// A value of a column that cannot be what it says.
pub(crate) fn unreadable(name: &str, value: &dyn std::fmt::Debug) -> capsid_model::problem::Problem {
    let value: String = format!("{value:?}").chars().take(80).collect();
    damaged(format!("The column `{name}` of a row holds {value}, which it cannot."))
}

macro_rules! columns {
    ($($kind:ty, $method:ident, |$value:ident, $name:ident| $make:expr;)*) => {
        $(impl FromColumn for $kind {
            fn from_column(row: &RowReader<'_>, index: usize, $name: &str) -> Result<Self> {
                let $value = row.row.$method(index)?.ok_or_else(|| missing($name))?;
                $make
            }
        }
        impl FromColumn for Option<$kind> {
            fn from_column(row: &RowReader<'_>, index: usize, $name: &str) -> Result<Self> {
                row.row.$method(index)?.map(|$value| -> Result<$kind> { $make }).transpose()
            }
        })*
    };
}

columns! {
    i64, int, |value, _name| Ok(value);
    f64, real, |value, _name| Ok(value);
    bool, int, |value, _name| Ok(value != 0);
    Time, int, |value, _name| Ok(Time(value));
    String, text, |value, _name| Ok(value.to_owned());
    Vec<u8>, blob, |value, _name| Ok(value.to_vec());
    u16, int, |value, name| u16::try_from(value).map_err(|_| unreadable(name, &value));
    u64, int, |value, name| u64::try_from(value).map_err(|_| unreadable(name, &value));
}

impl<T: DeserializeOwned> FromColumn for Json<T> {
    fn from_column(row: &RowReader<'_>, index: usize, name: &str) -> Result<Self> {
        let text = row.row.text(index)?.ok_or_else(|| missing(name))?;
        serde_json::from_str(text).map(Self).map_err(|_| unreadable(name, &text))
    }
}

impl<T: DeserializeOwned> FromColumn for Option<Json<T>> {
    fn from_column(row: &RowReader<'_>, index: usize, name: &str) -> Result<Self> {
        row.row.text(index)?.is_some().then(|| Json::from_column(row, index, name)).transpose()
    }
}

/// Columns that hold one of the texts of a `text_enum!`.
macro_rules! column_enums {
    ($($kind:ty),* $(,)?) => {
        $(impl $crate::db::row::FromColumn for $kind {
            fn from_column(
                row: &$crate::db::row::RowReader<'_>,
                index: usize,
                name: &str,
            ) -> capsid_model::problem::Result<Self> {
                let text = String::from_column(row, index, name)?;
                let known = Self::ALL.iter().copied().find(|value| value.as_str() == text);
                known.ok_or_else(|| $crate::db::row::unreadable(name, &text))
            }
        }
        impl $crate::db::row::FromColumn for Option<$kind> {
            fn from_column(
                row: &$crate::db::row::RowReader<'_>,
                index: usize,
                name: &str,
            ) -> capsid_model::problem::Result<Self> {
                let text = Option::<String>::from_column(row, index, name)?;
                text.is_some().then(|| <$kind>::from_column(row, index, name)).transpose()
            }
        })*
    };
}
pub(crate) use column_enums;

column_enums!(
    capsid_rules::evaluation::evidence_grade::EvidenceGrade,
    capsid_rules::evaluation::proof::ProofLevel,
    capsid_rules::identity::secrets::SecretState,
    capsid_rules::lifecycle::AssetStatus,
    capsid_rules::lifecycle::AssetType,
    capsid_rules::work::bounties::BountyStatus,
    capsid_rules::work::tasks::SubtaskRole,
    capsid_rules::work::tasks::TaskStatus,
);

/// A query of one column gives its values.
impl<T: FromColumn> FromRow for T {
    fn from_row(row: &RowReader<'_>) -> Result<Self> {
        row.column()
    }
}

/// A row that may be damaged, for checks that have to go on. It takes all the columns that are left.
pub struct Attempt<T>(pub Result<T>);

impl<T: FromRow> FromRow for Attempt<T> {
    fn from_row(row: &RowReader<'_>) -> Result<Self> {
        Ok(Self(T::from_row(row)))
    }
}

macro_rules! tuples {
    ($($($kind:ident),+;)*) => {
        $(impl<$($kind: FromRow),+> FromRow for ($($kind,)+) {
            fn from_row(row: &RowReader<'_>) -> Result<Self> {
                Ok(($($kind::from_row(row)?,)+))
            }
        })*
    };
}

tuples! {
    A, B;
    A, B, C;
    A, B, C, D;
    A, B, C, D, E;
    A, B, C, D, E, F;
    A, B, C, D, E, F, G;
    A, B, C, D, E, F, G, H;
}

/// A struct whose fields are columns, each with its SQL: `pub node_id: String = "n.node_id"`. A field that is a row
/// itself has the columns of that: `pub entry: AuditEntry = AuditEntry::COLUMNS`.
macro_rules! row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $kind:ty = $column:expr),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $kind),+
        }
        impl $name {
            /// The columns in the order of the fields, for `select!`.
            #[allow(dead_code, reason = "a text that differs by database names them itself")]
            pub(crate) const COLUMNS: &'static str = $crate::db::row::joined!(", ", $($column),+);
        }
        impl $crate::db::row::FromRow for $name {
            fn from_row(row: &$crate::db::row::RowReader<'_>) -> capsid_model::problem::Result<Self> {
                Ok(Self { $($field: row.read($column)?),+ })
            }
        }
    };
}
pub(crate) use row;

/// `SELECT`, the columns of a `row!`, and the rest of the statement, as one text that is joined when it is compiled.
macro_rules! select {
    ($row:ty, $rest:expr) => {
        $crate::db::row::joined!(" ", "SELECT", <$row>::COLUMNS, $rest)
    };
}
pub(crate) use select;

/// Constant texts with something between them, as one constant text.
macro_rules! joined {
    ($between:literal, $($part:expr),+) => {{
        const PARTS: &[&str] = &[$($part),+];
        const BYTES: [u8; $crate::db::row::length(PARTS, $between)] = $crate::db::row::join(PARTS, $between);
        const TEXT: &str = match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => "",
        };
        TEXT
    }};
}
pub(crate) use joined;

/// How many bytes the parts have together.
pub(crate) const fn length(parts: &[&str], between: &str) -> usize {
    let (mut length, mut part) = (0, 0);
    while part < parts.len() {
        length += parts[part].len() + if part > 0 { between.len() } else { 0 };
        part += 1;
    }
    length
}

/// The bytes of the parts, one after the other.
pub(crate) const fn join<const LENGTH: usize>(parts: &[&str], between: &str) -> [u8; LENGTH] {
    let mut joined = [0; LENGTH];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        if part > 0 {
            at = append(&mut joined, at, between.as_bytes());
        }
        at = append(&mut joined, at, parts[part].as_bytes());
        part += 1;
    }
    joined
}

const fn append(joined: &mut [u8], mut at: usize, bytes: &[u8]) -> usize {
    let mut next = 0;
    while next < bytes.len() {
        joined[at] = bytes[next];
        (next, at) = (next + 1, at + 1);
    }
    at
}
