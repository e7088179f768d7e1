//! The file itself: its pages, its indexes, and rows that point to rows. A server looks after these by itself.

use super::FsckReport;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    if tx.dialect() == Dialect::Postgres {
        return Ok(());
    }
    for fault in tx.query_all::<String>("PRAGMA integrity_check(100)", params![])? {
        if fault != "ok" {
            report.lost("file_damaged", "hub.db", format!("SQLite finds the file damaged: {fault}."));
        }
    }
    let orphans =
        tx.query_all::<(String, Option<i64>, String, i64)>("PRAGMA foreign_key_check", params![])?;
    for (table, _, parent, _) in orphans {
        let problem = format!("A row of `{table}` points to a row of `{parent}` that is not there.");
        report.lost("row_points_nowhere", table, problem);
    }
    Ok(())
}
