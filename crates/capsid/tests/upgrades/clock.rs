//! Moves the times in a copy of a hub's database, so that the hub looks as if it had been stopped 2 to 26 hours ago. Otherwise tests
//! would depend on the day: sessions end, tasks expire, and answers are kept for a day.

use capsid_model::{Clock, SystemClock};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// After this time reports are final and assignments have expired.
const LEAST_AGE_MS: i64 = 2 * HOUR_MS;
/// When jobs are due. What is due later than two minutes from now is taken for the mistake of a clock, and done at once.
const JOBS_MS: i64 = 110_000;
/// Smaller numbers are no times: 2001 in milliseconds.
const FIRST_MS: i64 = 1_000_000_000_000;

/// The names of columns that hold a time in milliseconds, beside those that end in `_at` and `_until`.
const TIMES: [&str; 5] = ["at", "commitment_deadline", "reminded_for", "decide_by", "arrival"];

/// Lists tables and columns on SQLite, each on a line with a bar between them.
pub const SQLITE_COLUMNS: &str =
    "SELECT m.name || '|' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND upper(c.type) IN ('INTEGER', 'INT')";

/// The same on PostgreSQL.
pub const POSTGRES_COLUMNS: &str = "SELECT table_name || '|' || column_name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'bigint'";

/// Statements that move all times in a database whose newest message was answered at `last`.
///
/// Whole days keep what is counted by days right. The rest of a day must not matter either: answered messages, which are
/// kept for a day, and the last sign of each node are moved to this moment, and neither jobs nor calls are due
/// while a test runs.
pub fn move_to_now(columns: &str, last: i64) -> String {
    let now = SystemClock.now().0;
    let days = (now - last - LEAST_AGE_MS).div_euclid(DAY_MS);
    let mut statements = String::from("BEGIN;\n");
    for line in columns.lines() {
        let (table, column) = line.split_once('|').unwrap();
        let is_time = column.ends_with("_at") || column.ends_with("_until") || TIMES.contains(&column);
        // The audit is append-only, and nothing is decided by its times.
        if is_time && table != "audit" {
            let shift = days * DAY_MS;
            statements +=
                &format!("UPDATE {table} SET {column} = {column} + {shift} WHERE {column} > {FIRST_MS};\n");
        } else if column == "day" {
            statements += &format!("UPDATE {table} SET day = day + {days};\n");
        }
    }
    let (jobs, later) = (now + JOBS_MS, now + HOUR_MS);
    statements
        + &format!(
            "UPDATE messages SET created_at = {now};
             UPDATE nodes SET last_seen_at = {now};
             UPDATE jobs SET due_at = {jobs};
             UPDATE webhooks SET probe_at = {later} WHERE probe_at IS NOT NULL;
             UPDATE deliveries SET next_at = {later} WHERE state <> 'delivered';
             COMMIT;\n"
        )
}
