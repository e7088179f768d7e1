//! The tables as the schema's text tells them, so that whatever works on all of them never forgets a new one.
//!
//! The search index is not among them: each database has it in a form of its own, and it can be made again.

use crate::db::migrate;
use crate::db::tx::Param;
use std::sync::OnceLock;

/// How many rows are written with one statement.
pub const TOGETHER: usize = 32;

/// One table and how its rows are read and written.
#[derive(Debug)]
pub struct TableSchema {
    pub name: String,
    /// Its columns, in the order of the schema.
    pub columns: Vec<ColumnSchema>,
    /// Reads all rows in the order of their key.
    pub select: String,
    /// The same through a cursor that the server keeps.
    pub open_cursor: String,
    /// The next rows of that cursor.
    pub fetch_cursor: String,
    pub close_cursor: String,
    pub insert: String,
    /// Writes [`TOGETHER`] rows.
    pub insert_many: String,
    /// Finds a row, if there is one.
    pub any: String,
    /// How many rows there are.
    pub count: String,
    key: Vec<String>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSchema {
    pub name: String,
    pub kind: ColumnKind,
    /// Whether the database counts it up by itself, or it points to such a number.
    pub counted: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Int,
    /// A number with a fraction.
    Real,
    Text,
    Blob,
}

impl ColumnKind {
    /// A missing value.
    pub fn null(self) -> CellValue {
        match self {
            Self::Int => CellValue::Int(None),
            Self::Real => CellValue::Real(None),
            Self::Text => CellValue::Text(None),
            Self::Blob => CellValue::Blob(None),
        }
    }
}

/// A value of any column, on its way from one database to another.
#[derive(Debug, Clone)]
pub enum CellValue {
    Int(Option<i64>),
    /// A number with a fraction.
    Real(Option<f64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

impl CellValue {
    /// The value as a parameter.
    pub fn param(&self) -> Param<'_> {
        match self {
            Self::Int(value) => Param::Int(*value),
            Self::Real(value) => Param::Real(*value),
            Self::Text(value) => Param::Text(value.as_deref()),
            Self::Blob(value) => Param::Blob(value.as_deref()),
        }
    }
}

impl TableSchema {
    /// Whether the database counts its rows.
    pub fn is_counted(&self) -> bool {
        self.key.iter().any(|name| name == "seq") && self.key.len() == 1
    }

    fn write_statements(&mut self) {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let (name, names, width) = (&self.name, names.join(", "), self.columns.len());
        let row = |at: usize| {
            let marks: Vec<String> = (1..=width).map(|column| format!("${}", at * width + column)).collect();
            format!("({})", marks.join(", "))
        };
        let rows = |count: usize| (0..count).map(row).collect::<Vec<_>>().join(", ");
        self.select = format!("SELECT {names} FROM {name} ORDER BY {}", self.key.join(", "));
        self.open_cursor = format!("DECLARE copy_{name} NO SCROLL CURSOR FOR {}", self.select);
        self.fetch_cursor = format!("FETCH 256 FROM copy_{name}");
        self.close_cursor = format!("CLOSE copy_{name}");
        self.insert = format!("INSERT INTO {name} ({names}) VALUES {}", rows(1));
        self.insert_many = format!("INSERT INTO {name} ({names}) VALUES {}", rows(TOGETHER));
        self.any = format!("SELECT 1 FROM {name} LIMIT 1");
        self.count = format!("SELECT COUNT(*) FROM {name}");
    }
}

/// Every table that both databases have, those first that others point to.
pub fn tables() -> &'static [TableSchema] {
    static TABLES: OnceLock<Vec<TableSchema>> = OnceLock::new();
    TABLES.get_or_init(|| read(&migrate::common_text()))
}

/// Finds the tables in the text of the schema: `CREATE TABLE name (`, then a column or a constraint on each line.
pub fn read(schema: &str) -> Vec<TableSchema> {
    let mut tables: Vec<TableSchema> = Vec::new();
    for line in schema.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("CREATE TABLE ").and_then(|rest| rest.strip_suffix(" (")) {
            tables.push(empty(name));
        } else if let Some(name) = line.strip_prefix("DROP TABLE ").and_then(|rest| rest.strip_suffix(';')) {
            tables.retain(|table| table.name != name);
        } else if let Some(change) = line.strip_prefix("ALTER TABLE ")
            && let Some((name, column)) = change.split_once(" ADD COLUMN ")
            && let Some(table) = tables.iter_mut().find(|table| table.name == name)
        {
            table.columns.extend(column_of(column));
        } else if let Some(change) = line.strip_prefix("ALTER TABLE ")
            && let Some((name, column)) = change.split_once(" DROP COLUMN ")
            && let Some(table) = tables.iter_mut().find(|table| table.name == name)
        {
            table.columns.retain(|known| known.name != column.trim_end_matches(';'));
        } else if let Some(table) = tables.last_mut() {
            if let Some(key) = key_of(line).filter(|_| table.key.is_empty()) {
                table.key = key;
            }
            table.columns.extend(column_of(line));
        }
    }
    tables.iter_mut().for_each(TableSchema::write_statements);
    tables
}

fn empty(name: &str) -> TableSchema {
    TableSchema {
        name: name.to_owned(),
        columns: Vec::new(),
        select: String::new(),
        open_cursor: String::new(),
        fetch_cursor: String::new(),
        close_cursor: String::new(),
        insert: String::new(),
        insert_many: String::new(),
        any: String::new(),
        count: String::new(),
        key: Vec::new(),
    }
}

/// The key that a line declares, alone or together with a column.
fn key_of(line: &str) -> Option<Vec<String>> {
    if let Some(key) = line.strip_prefix("PRIMARY KEY (") {
        let names = key.split(')').next().unwrap_or_default();
        return Some(names.split(", ").map(str::to_owned).collect());
    }
    let is_key = !line.starts_with("--") && (line.contains("PRIMARY KEY") || line.contains("{serial}"));
    is_key.then(|| line.split(' ').next().map(str::to_owned)).flatten().map(|name| vec![name])
}

/// The column that a line declares.
fn column_of(line: &str) -> Option<ColumnSchema> {
    let (name, rest) = line.split_once(' ')?;
    let counted = rest.starts_with("{serial}") || rest.contains("(seq)");
    let kind = match rest.split_once('}')?.0 {
        "{int" | "{serial" => ColumnKind::Int,
        "{real" => ColumnKind::Real,
        "{text" => ColumnKind::Text,
        "{blob" => ColumnKind::Blob,
        _ => return None,
    };
    Some(ColumnSchema { name: name.to_owned(), kind, counted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_from_the_schema() {
        let tables = read(
            "CREATE TABLE a (\n    seq {serial},\n    -- A {text} to be ignored.\n    x {int} NOT NULL,\n    \
             of {int} NOT NULL REFERENCES a (seq),\n    y {text},\n    UNIQUE (x, y)\n){strict};\n\
             CREATE INDEX i ON a (x);\nALTER TABLE a ADD COLUMN z {real};\n\
             ALTER TABLE a ADD COLUMN w {real};\nALTER TABLE a DROP COLUMN w;\n\
             CREATE TABLE b (\n    k {text} NOT NULL,\n    l {int} NOT NULL,\n    PRIMARY KEY (k, l)\n){keyed};",
        );
        assert_eq!(tables.len(), 2);
        assert_eq!(tables[0].select, "SELECT seq, x, of, y, z FROM a ORDER BY seq");
        assert_eq!(tables[1].select, "SELECT k, l FROM b ORDER BY k, l");
        assert_eq!(tables[1].insert, "INSERT INTO b (k, l) VALUES ($1, $2)");
        assert!(tables[1].insert_many.ends_with("($63, $64)"));
        let counted: Vec<bool> = tables[0].columns.iter().map(|column| column.counted).collect();
        assert_eq!(counted, [true, false, true, false, false]);
        assert!(tables[0].is_counted() && !tables[1].is_counted());
    }

    #[test]
    fn every_table_of_the_schema_is_found_with_its_key() {
        let text = migrate::common_text();
        let count = |word: &str| text.matches(word).count();
        assert_eq!(tables().len(), count("CREATE TABLE ") - count("DROP TABLE "));
        assert!(tables().iter().all(|table| !table.columns.is_empty() && !table.key.is_empty()));
    }
}
