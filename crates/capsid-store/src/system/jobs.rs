//! What is done from time to time. Several hubs may share a database; whichever comes first does it, once.

use crate::db::row::Json;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// A clock that is this much behind another hub's is not taken for one that was set back.
const SLACK_MS: i64 = 60_000;

/// Whether a job is due and nobody else took it; it is due again after the interval. An interval of 0 means never.
pub fn claim(tx: &mut dyn Tx, name: &str, now: Time, interval_ms: i64) -> Result<bool> {
    if interval_ms <= 0 {
        return Ok(false);
    }
    tx.run("INSERT INTO jobs (name, due_at) VALUES ($1, 0) ON CONFLICT DO NOTHING", params![name])?;
    let next = now.0.saturating_add(interval_ms);
    // What is due further away than an interval was set by a clock that was wrong, or before the interval was changed.
    let claimed = tx.run(
        "UPDATE jobs SET due_at = $3, last_run_at = $2 WHERE name = $1 AND (due_at <= $2 OR due_at > $4)",
        params![name, now, next, next.saturating_add(SLACK_MS)],
    )?;
    Ok(claimed == 1)
}

/// Whether a job may be due, without taking it. Only reads.
pub fn is_due(tx: &mut dyn Tx, name: &str, now: Time, interval_ms: i64) -> Result<bool> {
    if interval_ms <= 0 {
        return Ok(false);
    }
    let due = tx.query_first::<i64>("SELECT due_at FROM jobs WHERE name = $1", params![name])?;
    let latest = now.0.saturating_add(interval_ms).saturating_add(SLACK_MS);
    Ok(due.is_none_or(|due| due <= now.0 || due > latest))
}

/// Keeps others from taking a job until then. One that waits for somebody else holds it for as long as that may take.
pub fn lease_job(tx: &mut dyn Tx, name: &str, until: Time) -> Result<()> {
    tx.run("UPDATE jobs SET due_at = $2 WHERE name = $1", params![name, until])?;
    Ok(())
}

/// Where a job stopped last time; empty when it came to the end, or never ran.
pub fn place(tx: &mut dyn Tx, name: &str) -> Result<String> {
    let outcome = tx.query_first::<Option<Json<JobOutcome>>>(
        "SELECT last_outcome FROM jobs WHERE name = $1",
        params![name],
    )?;
    Ok(outcome.flatten().map(|Json(outcome)| outcome.place).unwrap_or_default())
}

/// Notes how far a job came and how much it did.
pub fn finish(tx: &mut dyn Tx, name: &str, place: &str, done: u64, now: Time) -> Result<()> {
    let outcome = JobOutcome { place: place.to_owned(), done };
    let text = serde_json::to_string(&outcome).unwrap_or_default();
    tx.run(
        "INSERT INTO jobs (name, due_at, last_run_at, last_outcome) VALUES ($1, 0, $3, $2)
         ON CONFLICT (name) DO UPDATE SET last_outcome = excluded.last_outcome, last_run_at = excluded.last_run_at",
        params![name, &text, now],
    )?;
    Ok(())
}

#[derive(serde::Serialize, serde::Deserialize)]
struct JobOutcome {
    place: String,
    /// How many things were changed.
    done: u64,
}
