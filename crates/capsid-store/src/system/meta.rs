//! What the hub knows of itself.

use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// A value that is kept under a name; the first one that is proposed stays.
pub fn get_or_set(tx: &mut dyn Tx, key: &str, proposed: &str) -> Result<String> {
    tx.run("INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", params![key, proposed])?;
    tx.query_one("SELECT value FROM meta WHERE key = $1", params![key])
}

/// The value that is kept under a name.
pub fn find(tx: &mut dyn Tx, key: &str) -> Result<Option<String>> {
    tx.query_first("SELECT value FROM meta WHERE key = $1", params![key])
}

/// The key that hubs which share a database seal issued secrets with; the first one that is proposed stays.
pub fn issue_key(tx: &mut dyn Tx, proposed: &[u8; 32]) -> Result<Vec<u8>> {
    tx.run(
        "INSERT INTO issue_keys (name, key) VALUES ('issued', $1) ON CONFLICT DO NOTHING",
        params![proposed],
    )?;
    tx.query_one("SELECT key FROM issue_keys WHERE name = 'issued'", params![])
}

/// Writes something that changes every time, which shows that something can be written.
pub fn touch(tx: &mut dyn Tx, now: Time) -> Result<()> {
    tx.run(
        "INSERT INTO meta (key, value) VALUES ('health', $1)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        params![&now.iso()],
    )?;
    Ok(())
}

/// Whether the database has exactly the steps that this program knows.
pub fn has_current_schema(tx: &mut dyn Tx) -> Result<bool> {
    let applied = tx.query_all::<String>("SELECT name FROM migrations", params![])?;
    Ok(crate::db::migrate::names() == applied.iter().map(String::as_str).collect())
}
