//! A row as the database gives it.

use capsid_model::problem::Result;

/// One row as the database gives it, with columns counted from 0 that may all be missing. Operations read rows as values
/// ([`super::row::FromRow`]); only what copies or checks whole tables looks at them like this.
pub trait RawRow {
    /// What the database calls a column.
    fn name(&self, column: usize) -> &str;
    /// A whole number that may be missing.
    fn int(&self, column: usize) -> Result<Option<i64>>;
    /// A number with a fraction that may be missing.
    fn real(&self, column: usize) -> Result<Option<f64>>;
    /// A text that may be missing.
    fn text(&self, column: usize) -> Result<Option<&str>>;
    /// Bytes that may be missing.
    fn blob(&self, column: usize) -> Result<Option<&[u8]>>;
}
