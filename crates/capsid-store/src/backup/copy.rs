//! From one kind of database to the other, table by table in the order of the keys.

use crate::db::raw_row::RawRow;
use crate::db::tables::{CellValue, ColumnKind, ColumnSchema, TOGETHER, TableSchema, tables};
use crate::db::tx::{Dialect, Param, Tx};
use crate::params;
use capsid_model::problem::Result;

/// Secrets that nobody has shown yet. They are not copied: a hello returns another one.
const ISSUED_SECRETS: [(&str, &str); 2] = [("nodes", "issued_secret"), ("nodes", "issued_sealed")];

/// What these were sealed with.
const ISSUE_KEYS: &str = "issue_keys";

/// Copies every row. The search index is not copied: the other database has it in another form.
pub fn all(from: &mut dyn Tx, to: &mut dyn Tx, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let mut total = 0;
    let copied = || tables().iter().filter(|table| table.name != ISSUE_KEYS);
    for table in copied() {
        total += from.count(&table.count, params![])?.unsigned_abs();
    }
    let mut done = 0;
    for table in copied() {
        one(from, to, table, &mut |rows| {
            done += rows;
            progress(done, total);
        })?;
        if table.is_counted() {
            count_on(from, to, table)?;
        }
    }
    Ok(())
}

fn one(
    from: &mut dyn Tx,
    to: &mut dyn Tx,
    table: &'static TableSchema,
    told: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut waiting: Vec<CellValue> = Vec::new();
    let full = TOGETHER * table.columns.len();
    stream(from, table, &mut |row| {
        for (at, column) in table.columns.iter().enumerate() {
            let is_erased = ISSUED_SECRETS.contains(&(table.name.as_str(), column.name.as_str()));
            waiting.push(if is_erased { column.kind.null() } else { read(row, at, column)? });
        }
        if waiting.len() == full {
            write(to, &table.insert_many, &waiting)?;
            told(TOGETHER as u64);
            waiting.clear();
        }
        Ok(())
    })?;
    for row in waiting.chunks(table.columns.len()) {
        write(to, &table.insert, row)?;
        told(1);
    }
    Ok(())
}

/// Shows every row without holding them all. SQLite does that by itself, PostgreSQL through a cursor.
fn stream(
    from: &mut dyn Tx,
    table: &'static TableSchema,
    visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
) -> Result<()> {
    if from.dialect() == Dialect::Sqlite {
        return from.each(&table.select, params![], visit);
    }
    from.run(&table.open_cursor, params![])?;
    loop {
        let mut any = false;
        from.each(&table.fetch_cursor, params![], &mut |row| {
            any = true;
            visit(row)
        })?;
        if !any {
            break;
        }
    }
    from.run(&table.close_cursor, params![]).map(|_| ())
}

fn read(row: &dyn RawRow, at: usize, column: &ColumnSchema) -> Result<CellValue> {
    Ok(match column.kind {
        ColumnKind::Int => CellValue::Int(row.int(at)?),
        ColumnKind::Real => CellValue::Real(row.real(at)?),
        ColumnKind::Text => CellValue::Text(row.text(at)?.map(str::to_owned)),
        ColumnKind::Blob => CellValue::Blob(row.blob(at)?.map(<[u8]>::to_vec)),
    })
}

fn write(to: &mut dyn Tx, sql: &'static str, cells: &[CellValue]) -> Result<()> {
    let params: Vec<Param<'_>> = cells.iter().map(CellValue::param).collect();
    to.run(sql, &params).map(|_| ())
}

/// Lets the next row have a number that no row ever had, though the last ones may have been deleted.
fn count_on(from: &mut dyn Tx, to: &mut dyn Tx, table: &TableSchema) -> Result<()> {
    let last = match from.dialect() {
        Dialect::Sqlite => {
            let last =
                from.query_first("SELECT seq FROM sqlite_sequence WHERE name = $1", params![&table.name])?;
            last.unwrap_or(0)
        }
        Dialect::Postgres => from.count(
            "SELECT COALESCE(pg_sequence_last_value(pg_get_serial_sequence($1, 'seq')::regclass), 0)",
            params![&table.name],
        )?,
    };
    if last == 0 {
        return Ok(());
    }
    match to.dialect() {
        Dialect::Sqlite => {
            to.run("DELETE FROM sqlite_sequence WHERE name = $1", params![&table.name])?;
            to.run("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", params![&table.name, last])?;
        }
        Dialect::Postgres => {
            to.count(
                "SELECT setval(pg_get_serial_sequence($1, 'seq')::regclass, $2)",
                params![&table.name, last],
            )?;
        }
    }
    Ok(())
}
