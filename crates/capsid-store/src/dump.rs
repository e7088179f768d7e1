//! Everything in a database as text, the same for both: two stores that were told the same give the same dump.
//!
//! What to read is taken from the steps of the schema, so a new table or column is never forgotten. Numbers that the
//! database counts up by itself are left out, because PostgreSQL skips some; so are the limits, which only hubs that
//! share a database keep there, and the search index, which each database has in its own form.

use crate::migrate;
use crate::tx::{Row, Tx};
use capsid_model::hash::hex;
use capsid_model::problem::Result;
use std::fmt::Write;
use std::sync::OnceLock;

/// One table and how its rows are read.
#[derive(Debug)]
struct Table {
    name: String,
    columns: Vec<(String, Kind)>,
    select: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Real,
    Text,
    Blob,
}

/// Writes every table, its rows in the order of their text. It holds all of it in memory.
pub fn dump(tx: &mut dyn Tx) -> Result<String> {
    let mut text = String::new();
    for table in tables() {
        let mut rows = tx.all(&table.select, &[], |row| table.line(row))?;
        rows.sort_unstable();
        let _to_a_string = writeln!(text, "{}: {} rows", table.name, rows.len());
        for row in rows {
            text.push_str(&row);
        }
    }
    Ok(text)
}

impl Table {
    fn line(&self, row: &dyn Row) -> Result<String> {
        let mut line = String::from(" ");
        for (n, (name, kind)) in self.columns.iter().enumerate() {
            let _to_a_string = match kind {
                Kind::Int => row.int_or(n)?.map(|value| write!(line, " {name}={value}")),
                Kind::Real => row.real_or(n)?.map(|value| write!(line, " {name}={value:?}")),
                Kind::Text => row.text_or(n)?.map(|value| write!(line, " {name}={value:?}")),
                Kind::Blob => row.blob_or(n)?.map(|value| write!(line, " {name}={}", hex(value))),
            };
        }
        line.push('\n');
        Ok(line)
    }
}

fn tables() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut tables = read(&migrate::common_text());
        tables.retain(|table| table.name != "limits");
        tables
    })
}

/// Finds the tables in the text of the schema: `CREATE TABLE name (`, then a column or a constraint on each line.
fn read(schema: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in schema.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("CREATE TABLE ").and_then(|rest| rest.strip_suffix(" (")) {
            tables.push(Table { name: name.to_owned(), columns: Vec::new(), select: String::new() });
        } else if let Some(change) = line.strip_prefix("ALTER TABLE ")
            && let Some((name, column)) = change.split_once(" ADD COLUMN ")
            && let Some(table) = tables.iter_mut().find(|table| table.name == name)
        {
            table.columns.extend(column_of(column));
        } else if let Some(table) = tables.last_mut() {
            table.columns.extend(column_of(line));
        }
    }
    for table in &mut tables {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
        table.select = format!("SELECT {} FROM {}", names.join(", "), table.name);
    }
    tables
}

/// The column that a line declares. Neither one that counts nor one that points to such.
fn column_of(line: &str) -> Option<(String, Kind)> {
    let (name, rest) = line.split_once(' ')?;
    let kind = match rest.split_once('}')?.0 {
        "{int" if rest.contains("(seq)") => return None,
        "{int" => Kind::Int,
        "{real" => Kind::Real,
        "{text" => Kind::Text,
        "{blob" => Kind::Blob,
        _ => return None,
    };
    Some((name.to_owned(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_from_the_schema() {
        let tables = read(
            "CREATE TABLE a (\n    seq {serial},\n    -- A {text} to be ignored.\n    x {int} NOT NULL,\n    \
             of {int} NOT NULL REFERENCES a (seq),\n    y {text},\n    UNIQUE (x, y)\n){strict};\n\
             CREATE INDEX i ON a (x);\nALTER TABLE a ADD COLUMN z {real};",
        );
        assert_eq!(tables.len(), 1);
        assert_eq!(tables[0].select, "SELECT x, y, z FROM a");
    }

    #[test]
    fn every_table_of_the_schema_is_dumped() {
        let made = migrate::common_text().matches("CREATE TABLE ").count();
        assert_eq!(tables().len(), made - 1, "all but `limits`");
        assert!(tables().iter().all(|table| !table.columns.is_empty()));
    }
}
