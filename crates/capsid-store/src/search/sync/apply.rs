//! Putting assets where they belong in the index.

use super::load::{LoadedEntry, SearchStep};
use crate::db::tx::Tx;
use crate::graph::sync::{SEARCH_POSITIONS, store_position};
use crate::params;
use crate::search::entry::words_of;
use crate::search::ranked;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::meaning::MeaningTerms;

/// How much is deleted before the search is made again: everything.
const CLEAR: [&str; 7] = [
    "INSERT INTO found (found) VALUES ('delete-all')",
    "INSERT INTO held (held) VALUES ('delete-all')",
    "DELETE FROM entries",
    "DELETE FROM meanings",
    "DELETE FROM search_positions",
    "DELETE FROM search_gaps",
    "UPDATE indexed SET assets = 0",
];

/// Empties the search, so that it is made again.
pub(super) fn clear(index: &mut dyn Tx) -> Result<()> {
    for sql in CLEAR {
        index.run(sql, params![])?;
    }
    Ok(())
}

/// Applies one step. An asset costs three rows, or none where its place is the same.
pub(super) fn apply_step(index: &mut dyn Tx, step: SearchStep, now: Time) -> Result<()> {
    let mut placed: Vec<(i64, LoadedEntry)> =
        step.entries.into_values().map(|entry| (entry.row.rank(), entry)).collect();
    // New rows lie beside each other then.
    placed.sort_unstable_by_key(|(rank, _)| *rank);
    let mut added = 0;
    for (rank, entry) in placed {
        added += i64::from(place(index, rank, entry)?);
    }
    index.run("UPDATE indexed SET assets = assets + $1", params![added])?;
    for (log, followed) in &step.followed {
        store_position(index, &SEARCH_POSITIONS, *log, followed, now)?;
    }
    Ok(())
}

/// Puts an asset at its rank, and tells whether it is new.
fn place(index: &mut dyn Tx, rank: i64, LoadedEntry { row, meaning }: LoadedEntry) -> Result<bool> {
    let before = ranked::rank_of(index, row.seq)?;
    let meaning = match (before, meaning) {
        // An asset that is new as well as ranked anew comes with its meaning later.
        (None, None) => return Ok(false),
        (Some(before), None) if before == rank => return Ok(false),
        (Some(_), None) => {
            let sql = "SELECT line FROM meanings WHERE seq = $1";
            MeaningTerms::read(&index.query_first::<String>(sql, params![row.seq])?.unwrap_or_default())
        }
        (_, Some(meaning)) => {
            index.run(
                "INSERT INTO meanings (seq, line, words) VALUES ($1, $2, $3)
                 ON CONFLICT (seq) DO UPDATE SET line = excluded.line, words = excluded.words",
                params![row.seq, &meaning.line(), &words_of(&row.card)],
            )?;
            // Whatever the entry says, nothing is there when the asset comes.
            ranked::remove(index, row.seq, rank)?;
            meaning
        }
    };
    if let Some(before) = before {
        ranked::remove(index, row.seq, before)?;
    }
    ranked::add(index, row.seq, rank, &row.terms(&meaning))?;
    Ok(before.is_none())
}
