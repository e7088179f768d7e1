//! Display names: which of them look the same.

use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::store::Store;
use capsid_model::problem::Result;
use capsid_rules::identity::display_name::name_key;

/// How many names are read for one step.
const STEP: i64 = 500;

/// Keeps a name for this transaction: whoever asks for one that looks the same waits for its end. Only a server has others
/// that write at the same time.
pub fn lock_name(tx: &mut dyn Tx, key: &str) -> Result<()> {
    if tx.dialect() == Dialect::Postgres {
        let lock = "SELECT 1 FROM (SELECT pg_advisory_xact_lock(4702, hashtext($1))) AS held";
        tx.query_one::<i64>(lock, params![key])?;
    }
    Ok(())
}

/// Whether another owner than that of a node has a name with this key.
pub fn is_taken(tx: &mut dyn Tx, key: &str, node_id: &str, owner: Option<&str>) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM nodes WHERE name_key = $1 AND node_id <> $2
            AND (owner IS NULL OR CAST($3 AS TEXT) IS NULL OR owner <> CAST($3 AS TEXT)) LIMIT 1",
        params![key, node_id, owner],
    )
}

/// Works out what names are compared by that were given before names were compared.
pub fn fill_if_new(store: &Store) -> Result<()> {
    let missing = "SELECT 1 FROM nodes WHERE name IS NOT NULL AND name_key IS NULL LIMIT 1";
    while store.read_now(move |tx| tx.exists(missing, params![]))? {
        store.write_now(fill_some)?;
    }
    Ok(())
}

fn fill_some(tx: &mut dyn Tx) -> Result<()> {
    let names = tx.query_all::<(String, String)>(
        "SELECT node_id, name FROM nodes WHERE name IS NOT NULL AND name_key IS NULL LIMIT $1",
        params![STEP],
    )?;
    for (node_id, name) in &names {
        let key = name_key(name);
        tx.run("UPDATE nodes SET name_key = $2 WHERE node_id = $1", params![node_id, &key])?;
    }
    Ok(())
}
