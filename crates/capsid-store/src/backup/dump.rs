//! Everything in a database as text, the same for both: two stores that were told the same give the same dump.
//!
//! Numbers that the database counts up by itself are left out, because PostgreSQL skips some; so are the limits and
//! the key of issued secrets, which only hubs that share a database keep there, the search index, which each database has in its own form, and the bands
//! of sketches, which name these by such a number.

use crate::db::raw_row::RawRow;
use crate::db::tables::{ColumnKind, TableSchema, tables};
use crate::db::tx::Tx;
use capsid_model::hash::hex;
use capsid_model::problem::Result;
use std::fmt::Write;

/// Writes every table, its rows in the order of their text. It holds all of it in memory.
pub fn dump(tx: &mut dyn Tx) -> Result<String> {
    let mut text = String::new();
    let left_out = ["limits", "issue_keys", "sketch_bands"];
    for table in tables().iter().filter(|table| !left_out.contains(&table.name.as_str())) {
        let mut rows = Vec::new();
        tx.each(&table.select, &[], &mut |row| {
            rows.push(line(table, row)?);
            Ok(())
        })?;
        rows.sort_unstable();
        let _to_a_string = writeln!(text, "{}: {} rows", table.name, rows.len());
        for row in rows {
            text.push_str(&row);
        }
    }
    Ok(text)
}

fn line(table: &TableSchema, row: &dyn RawRow) -> Result<String> {
    let mut line = String::from(" ");
    for (n, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.counted) {
        let name = &column.name;
        let _to_a_string = match column.kind {
            ColumnKind::Int => row.int(n)?.map(|value| write!(line, " {name}={value}")),
            ColumnKind::Real => row.real(n)?.map(|value| write!(line, " {name}={value:?}")),
            ColumnKind::Text => row.text(n)?.map(|value| write!(line, " {name}={value:?}")),
            ColumnKind::Blob => row.blob(n)?.map(|value| write!(line, " {name}={}", hex(value))),
        };
    }
    line.push('\n');
    Ok(line)
}
