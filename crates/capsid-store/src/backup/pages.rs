//! From SQLite to SQLite, page by page.

use crate::db::sqlite;
use capsid_model::problem::Result;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::path::Path;

const TOGETHER: i32 = 1024;

/// Copies a snapshot into a file. The file needs no others beside it afterwards.
pub fn copy(source: &Connection, target: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let failed = |error: rusqlite::Error| sqlite::problem(&error);
    let mut target = Connection::open(target).map_err(failed)?;
    target.execute_batch("PRAGMA synchronous = OFF;").map_err(failed)?;
    // Held until the end, so that writers beside us do not make the copy begin again.
    source.execute_batch("BEGIN; SELECT COUNT(*) FROM migrations;").map_err(failed)?;
    {
        let backup = Backup::new(source, &mut target).map_err(failed)?;
        loop {
            let step = backup.step(TOGETHER).map_err(failed)?;
            let pages = backup.progress();
            let (total, left) = (pages.pagecount.unsigned_abs(), pages.remaining.unsigned_abs());
            progress(u64::from(total - left.min(total)), u64::from(total));
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                _ => std::thread::sleep(std::time::Duration::from_millis(5)),
            }
        }
    }
    source.execute_batch("COMMIT").map_err(failed)?;
    target.execute_batch("PRAGMA journal_mode = DELETE;").map_err(failed)
}
