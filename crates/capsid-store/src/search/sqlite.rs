//! The index in SQLite: the number of a row carries its rank.

use super::entry::IndexEntry;
use super::expression::TermExpression;
use super::load_hits;
use crate::assets::list::ListedAsset;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};

const SEQ_BITS: u32 = 44;
const SCORE_BITS: u32 = 14;
const CLASS_SHIFT: u32 = SEQ_BITS + SCORE_BITS;
/// How often a search goes on after rows that are not to be shown.
const MAX_ROUNDS: usize = 8;

/// Class, score and sequence in one number.
pub fn rank(asset_type: AssetType, status: AssetStatus, gdi: i64, seq: i64) -> i64 {
    let score = gdi.clamp(0, (1 << SCORE_BITS) - 1);
    let seq = seq & ((1 << SEQ_BITS) - 1);
    (class(asset_type, status) << CLASS_SHIFT) | (score << SEQ_BITS) | seq
}

fn rank_of_entry(entry: &IndexEntry) -> i64 {
    rank(entry.asset_type, entry.status, entry.gdi, entry.seq)
}

/// Assets of one type that anyone may have lie side by side, and so do the others.
fn class(asset_type: AssetType, status: AssetStatus) -> i64 {
    let kind = match asset_type {
        AssetType::Gene => 0,
        AssetType::Capsule => 1,
        AssetType::EvolutionEvent => 2,
    };
    kind + if status.is_distributed() { 8 } else { 0 }
}

/// The statements over the table of each class.
struct SearchSql {
    find: &'static str,
    add: &'static str,
    remove: &'static str,
}

macro_rules! texts {
    ($table:literal) => {
        SearchSql {
            find: concat!(
                "SELECT rowid FROM ",
                $table,
                " WHERE ",
                $table,
                " MATCH $1 AND rowid <= $2 ORDER BY rowid DESC LIMIT $3"
            ),
            add: concat!("INSERT INTO ", $table, " (rowid, terms) VALUES ($1, $2)"),
            remove: concat!("DELETE FROM ", $table, " WHERE rowid = $1"),
        }
    };
}

/// The statements of a class.
fn texts(class: i64) -> SearchSql {
    match class {
        0 => texts!("held_genes"),
        1 => texts!("held_capsules"),
        2 => texts!("held_events"),
        8 => texts!("found_genes"),
        9 => texts!("found_capsules"),
        _ => texts!("found_events"),
    }
}

/// The class of a rank, and the number of its row there.
fn place_of(rank: i64) -> (i64, i64) {
    (rank >> CLASS_SHIFT, rank & ((1 << CLASS_SHIFT) - 1))
}

/// The best assets that an expression finds.
pub fn top(
    tx: &mut dyn Tx,
    wanted: &TermExpression,
    asset_type: AssetType,
    status: AssetStatus,
    limit: usize,
) -> Result<Vec<ListedAsset>> {
    let text = wanted.text(Dialect::Sqlite);
    let texts = texts(class(asset_type, status));
    let mut highest = (1 << CLASS_SHIFT) - 1;
    let mut assets = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let ranks = tx.query_all::<i64>(texts.find, params![&text, highest, limit as i64])?;
        let seqs: Vec<i64> = ranks.iter().map(|rank| rank & ((1 << SEQ_BITS) - 1)).collect();
        assets.extend(load_hits(tx, &seqs, status)?);
        let Some(last) = ranks.last().filter(|_| ranks.len() == limit && assets.len() < limit) else { break };
        highest = last - 1;
    }
    assets.truncate(limit);
    Ok(assets)
}

/// The rows of the best assets that an expression finds, below a row; from the first one on without it. A row tells the
/// score and the sequence of its asset, which may be in another state of the same class.
pub fn rows(
    tx: &mut dyn Tx,
    wanted: &TermExpression,
    class: (AssetType, AssetStatus),
    below: Option<i64>,
    limit: usize,
) -> Result<Vec<i64>> {
    let text = wanted.text(Dialect::Sqlite);
    let highest = below.unwrap_or(1 << CLASS_SHIFT) - 1;
    let texts = texts(self::class(class.0, class.1));
    tx.query_all::<i64>(texts.find, params![&text, highest, limit as i64])
}

/// The score and the sequence that a row tells.
pub fn score_and_seq(row: i64) -> (i64, i64) {
    (row >> SEQ_BITS, row & ((1 << SEQ_BITS) - 1))
}

/// Where an asset is in the index.
pub fn rank_of(tx: &mut dyn Tx, seq: i64) -> Result<Option<i64>> {
    tx.query_first::<i64>("SELECT rank FROM ranks WHERE seq = $1", params![seq])
}

/// Moves an asset that is at `old`.
pub fn move_to(tx: &mut dyn Tx, entry: &IndexEntry, old: i64) -> Result<()> {
    let new = rank_of_entry(entry);
    if new == old {
        return Ok(());
    }
    let (class, row) = place_of(old);
    tx.run(texts(class).remove, params![row])?;
    put(tx, new, entry)?;
    tx.run("UPDATE ranks SET rank = $2 WHERE seq = $1", params![entry.seq, new])?;
    Ok(())
}

fn put(tx: &mut dyn Tx, rank: i64, entry: &IndexEntry) -> Result<()> {
    let (class, row) = place_of(rank);
    tx.run(texts(class).add, params![row, &entry.terms()])?;
    Ok(())
}

/// Takes an asset out of the index, from where it is and from where it should be.
pub fn remove(tx: &mut dyn Tx, entry: &IndexEntry) -> Result<()> {
    for rank in rank_of(tx, entry.seq)?.into_iter().chain([rank_of_entry(entry)]) {
        let (class, row) = place_of(rank);
        tx.run(texts(class).remove, params![row])?;
    }
    tx.run("DELETE FROM ranks WHERE seq = $1", params![entry.seq])?;
    Ok(())
}

/// Adds assets, in the order that the index has.
pub fn add(tx: &mut dyn Tx, entries: &[IndexEntry]) -> Result<()> {
    let mut ranked: Vec<(i64, &IndexEntry)> =
        entries.iter().map(|entry| (rank_of_entry(entry), entry)).collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    for (rank, entry) in ranked {
        tx.run("INSERT INTO ranks (seq, rank) VALUES ($1, $2)", params![entry.seq, rank])?;
        put(tx, rank, entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: i64, gdi: i64, status: AssetStatus) -> IndexEntry {
        let (node_id, card) = (String::new(), String::new());
        let (category, meaning) = (None, None);
        IndexEntry {
            seq,
            asset_type: AssetType::EvolutionEvent,
            status,
            gdi,
            node_id,
            card,
            category,
            meaning,
        }
    }

    #[test]
    fn a_rank_orders_by_class_then_score_then_sequence() {
        let ranks = [
            rank_of_entry(&entry(9, 9999, AssetStatus::Candidate)),
            rank_of_entry(&entry(1, 5000, AssetStatus::Promoted)),
            rank_of_entry(&entry(2, 5000, AssetStatus::Stale)),
            rank_of_entry(&entry(1, 5001, AssetStatus::Promoted)),
            rank_of_entry(&entry((1 << 44) - 1, 10_000, AssetStatus::Promoted)),
        ];
        assert!(ranks.is_sorted() && ranks.iter().all(|rank| *rank > 0), "{ranks:?}");
    }
}
