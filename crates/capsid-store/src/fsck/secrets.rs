//! Secrets: nobody can read them, except for a moment those that were just issued.

use super::FsckReport;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Longer than any issue window, and than the job takes that erases secrets.
const LONGEST_WINDOW_MS: i64 = 15 * 60_000;

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let plain = "SELECT node_id FROM nodes WHERE issued_secret IS NOT NULL ORDER BY node_id";
    tx.query_each(plain, params![], |node_id: String| {
        report.node_differs("plain_secret", &node_id, "The secret is kept in plain text.");
        Ok(())
    })
}

/// Looks for issued secrets that should be erased by now. Hubs that share a database also share the key to these; with
/// SQLite it is in the memory of the hub, and what is left of them is of no use.
pub fn check_issued(tx: &mut dyn Tx, report: &mut FsckReport, now: Time) -> Result<()> {
    if tx.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    let issued =
        "SELECT node_id FROM nodes WHERE issued_sealed IS NOT NULL AND issued_at <= $1 ORDER BY node_id";
    tx.query_each(issued, params![now.0 - LONGEST_WINDOW_MS], |node_id: String| {
        let problem = "The secret that was issued can still be read, long after its issue window.";
        report.node_differs("plain_secret", &node_id, problem);
        Ok(())
    })
}
