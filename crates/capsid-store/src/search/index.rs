//! Keeping the index: new assets enter it, changed ones move in it.

use super::entry::IndexEntry;
use super::{postgres, sqlite};
use crate::assets::list;
use crate::db::row::select;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_rules::assets::traits;
use std::collections::HashMap;

/// How far back a missed asset is looked for: the writers of PostgreSQL do not finish in the order they began.
const LATE: i64 = 1_000;
/// The same for a search of what was missed for longer.
const VERY_LATE: i64 = 100_000;

/// Works out what assets of old mean and where they belong, and keeps it.
fn fill_meanings(tx: &mut dyn Tx, entries: &mut [IndexEntry]) -> Result<()> {
    let without: Vec<i64> =
        entries.iter().filter(|entry| entry.meaning.is_none()).map(|entry| entry.seq).collect();
    let bodies = list::bodies(tx, &without)?;
    let genes = list::bodies_of_genes(tx, &without)?;
    for entry in entries.iter_mut().filter(|entry| entry.meaning.is_none()) {
        // A body that is no object means nothing; `fsck` tells of it.
        let read = |bodies: &HashMap<i64, String>| serde_json::from_str(bodies.get(&entry.seq)?).ok();
        let (body, gene): (Object, Option<Object>) = (read(&bodies).unwrap_or_default(), read(&genes));
        let line = traits::meaning(&body, entry.asset_type, gene.as_ref()).line();
        let category = entry.category.take();
        let category = category.or_else(|| traits::category(&body, entry.asset_type, gene.as_ref()));
        tx.run(
            "UPDATE assets SET meaning = $2, environment = $3, category = $4 WHERE seq = $1",
            params![entry.seq, &line, &traits::environment(&body), &category],
        )?;
        entry.category = category;
        entry.meaning = Some(line);
    }
    Ok(())
}

/// Puts an asset where its state and its score belong. One that was never indexed is left for `index_pending`.
pub fn reposition(tx: &mut dyn Tx, seq: i64) -> Result<()> {
    if tx.dialect() == Dialect::Postgres {
        // The order comes from the assets themselves.
        return Ok(());
    }
    let Some(old) = sqlite::rank_of(tx, seq)? else { return Ok(()) };
    let entry =
        tx.query_first::<IndexEntry>(select!(IndexEntry, "FROM assets a WHERE a.seq = $1"), params![seq])?;
    match entry {
        Some(entry) => sqlite::move_to(tx, &entry, old),
        None => Ok(()),
    }
}

/// Indexes an asset anew, wherever it was. One that the index has not reached yet is left for `index_pending`.
pub fn index_again(tx: &mut dyn Tx, seq: i64) -> Result<()> {
    let reached = tx.count("SELECT seq FROM indexed WHERE one = 1 FOR UPDATE", params![])?;
    let entry =
        tx.query_first::<IndexEntry>(select!(IndexEntry, "FROM assets a WHERE a.seq = $1"), params![seq])?;
    let Some(mut entry) = entry.filter(|_| seq <= reached) else { return Ok(()) };
    fill_meanings(tx, std::slice::from_mut(&mut entry))?;
    match tx.dialect() {
        Dialect::Sqlite => {
            sqlite::remove(tx, &entry)?;
            sqlite::add(tx, &[entry])
        }
        Dialect::Postgres => {
            postgres::remove(tx, seq)?;
            postgres::add(tx, &[entry])
        }
    }
}

/// Indexes assets that are new, the oldest first, and tells how many.
pub fn index_pending(tx: &mut dyn Tx, limit: usize) -> Result<usize> {
    index_after(tx, LATE, limit)
}

/// Indexes assets that were published long ago and missed since, and tells how many.
pub fn index_missed(tx: &mut dyn Tx, limit: usize) -> Result<usize> {
    index_after(tx, VERY_LATE, limit)
}

fn index_after(tx: &mut dyn Tx, late: i64, limit: usize) -> Result<usize> {
    // Whoever holds this row is the only one that indexes.
    let reached = tx.count("SELECT seq FROM indexed WHERE one = 1 FOR UPDATE", params![])?;
    let mut entries = match tx.dialect() {
        Dialect::Sqlite => tx.query_all::<IndexEntry>(select!(IndexEntry, "FROM assets a WHERE a.seq > $1 ORDER BY a.seq LIMIT $2"), params![reached, limit as i64])?,
        Dialect::Postgres => tx.query_all::<IndexEntry>(select!(IndexEntry, "FROM assets a
             WHERE a.seq > $1 AND NOT EXISTS (SELECT 1 FROM found f WHERE f.seq = a.seq) ORDER BY a.seq LIMIT $2"), params![reached - late, limit as i64])?,
    };
    let Some(last) = entries.last().map(|entry| entry.seq) else { return Ok(0) };
    fill_meanings(tx, &mut entries)?;
    match tx.dialect() {
        Dialect::Sqlite => sqlite::add(tx, &entries)?,
        Dialect::Postgres => postgres::add(tx, &entries)?,
    }
    tx.run(
        "UPDATE indexed SET seq = $1, assets = assets + $2 WHERE one = 1",
        params![last.max(reached), entries.len() as i64],
    )?;
    Ok(entries.len())
}
