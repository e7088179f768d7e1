//! Which items were sealed already.

use super::pending::pending_state;
use super::seal_plan::PendingRecord;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// Whether an item is sealed already, or waits for its signature; if so, whether it was incomplete.
pub(super) fn state(
    connection: &Connection,
    tenant: Option<&str>,
    key: &str,
    waits: bool,
) -> rusqlite::Result<Option<bool>> {
    let mut query =
        connection.prepare_cached("SELECT open <> 0 FROM capsid_keys WHERE tenant = ?1 AND key = ?2")?;
    let sealed = query.query_row(params![tenant.unwrap_or_default(), key], |row| row.get(0)).optional()?;
    let waiting = if waits { pending_state(connection, tenant, key)? } else { None };
    Ok(waiting.or(sealed))
}

/// The same for a group: those that are known, by their keys. One query for all of them.
pub(super) fn states<T>(
    connection: &Connection,
    tenant: Option<&str>,
    group: &[PendingRecord<T>],
    waits: bool,
) -> rusqlite::Result<HashMap<String, bool>> {
    const QUERY: &str = "SELECT key, open <> 0 FROM capsid_keys \
                         WHERE tenant = ?1 AND key IN (SELECT value FROM json_each(?2))";
    // A text ends at this character inside of SQLite's JSON.
    let is_plain = !waits && group.iter().all(|item| !item.key.contains('\0'));
    if !is_plain {
        let known = group.iter().filter_map(|item| {
            let state = state(connection, tenant, &item.key, waits).transpose()?;
            Some(state.map(|open| (item.key.clone(), open)))
        });
        return known.collect();
    }
    let keys: Vec<&str> = group.iter().map(|item| item.key.as_str()).collect();
    let keys = serde_json::Value::from(keys).to_string();
    let mut query = connection.prepare_cached(QUERY)?;
    query
        .query_map(params![tenant.unwrap_or_default(), keys], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
