//! Where assets are in the index: the number of a row carries its rank, so the best rows come first.

use super::expression::TermExpression;
use super::load_hits;
use crate::assets::list::ListedAsset;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};

const TYPE_BITS: u32 = 2;
const SEQ_BITS: u32 = 44;
const STEP_SHIFT: u32 = TYPE_BITS + SEQ_BITS;
const STEP_BITS: u32 = 8;
const CLASS_SHIFT: u32 = STEP_SHIFT + STEP_BITS;
/// The best score.
const MAX_GDI: i64 = 10_000;
/// How often a search goes on after rows that are not to be shown.
const MAX_ROUNDS: usize = 8;

/// The step of a score: 256 of them, so that most new scores move nothing in the index. A search puts assets of one step
/// in the order of their sequence.
pub fn score_step(gdi: i64) -> i64 {
    gdi.clamp(0, MAX_GDI) * ((1 << STEP_BITS) - 1) / MAX_GDI
}

/// Class, step, sequence and type in one number.
pub fn rank(asset_type: AssetType, status: AssetStatus, gdi: i64, seq: i64) -> i64 {
    let seq = seq & ((1 << SEQ_BITS) - 1);
    (SearchClass::of_status(status) as i64) << CLASS_SHIFT
        | score_step(gdi) << STEP_SHIFT
        | seq << TYPE_BITS
        | type_number(asset_type)
}

fn type_number(asset_type: AssetType) -> i64 {
    match asset_type {
        AssetType::Gene => 0,
        AssetType::Capsule => 1,
        AssetType::EvolutionEvent => 2,
    }
}

/// Which of the two tables an asset is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchClass {
    /// What is not given out.
    Held = 0,
    /// What anyone may have.
    Found = 1,
}

impl SearchClass {
    pub fn of_status(status: AssetStatus) -> Self {
        if status.is_distributed() { Self::Found } else { Self::Held }
    }

    fn sql(self) -> &'static ClassSql {
        match self {
            Self::Held => &HELD,
            Self::Found => &FOUND,
        }
    }
}

/// The statements over the table of a class.
struct ClassSql {
    /// Reads at most as many rows as it is asked for, and the lists of the terms up to there.
    find: &'static str,
    add: &'static str,
    remove: &'static str,
    merge: &'static str,
    optimize: &'static str,
    segments: &'static str,
}

macro_rules! class_sql {
    ($table:literal) => {
        ClassSql {
            find: concat!(
                "SELECT rowid FROM ",
                $table,
                " WHERE ",
                $table,
                " MATCH $1 AND rowid <= $2 ORDER BY rowid DESC LIMIT $3"
            ),
            add: concat!("INSERT INTO ", $table, " (rowid, terms) VALUES ($1, $2)"),
            remove: concat!("DELETE FROM ", $table, " WHERE rowid = $1"),
            merge: concat!("INSERT INTO ", $table, " (", $table, ", rank) VALUES ('merge', $1)"),
            optimize: concat!("INSERT INTO ", $table, " (", $table, ") VALUES ('optimize')"),
            // A row for each segment: each look goes on behind the segment before.
            segments: concat!(
                "WITH RECURSIVE s (id) AS (SELECT MIN(segid) FROM ",
                $table,
                "_idx UNION ALL SELECT (SELECT MIN(i.segid) FROM ",
                $table,
                "_idx i WHERE i.segid > s.id) FROM s WHERE s.id IS NOT NULL)
                SELECT COUNT(id) FROM s"
            ),
        }
    };
}

const HELD: ClassSql = class_sql!("held");
const FOUND: ClassSql = class_sql!("found");

/// The class of a rank, and the number of its row there.
fn place_of(rank: i64) -> (SearchClass, i64) {
    let class = if rank >> CLASS_SHIFT == 0 { SearchClass::Held } else { SearchClass::Found };
    (class, rank & ((1 << CLASS_SHIFT) - 1))
}

/// The sequence that a row tells.
pub fn seq_of(row: i64) -> i64 {
    (row >> TYPE_BITS) & ((1 << SEQ_BITS) - 1)
}

/// The best assets that an expression finds. Reads the cards of at most eight times as many.
pub fn top(
    tx: &mut dyn Tx,
    wanted: &TermExpression,
    status: AssetStatus,
    limit: usize,
) -> Result<Vec<ListedAsset>> {
    let (mut below, mut assets) = (None, Vec::new());
    for _ in 0..MAX_ROUNDS {
        let rows = rows(tx.index()?, wanted, SearchClass::of_status(status), below, limit)?;
        let seqs: Vec<i64> = rows.iter().copied().map(seq_of).collect();
        assets.extend(load_hits(tx, &seqs, status)?);
        below = rows.last().copied().filter(|_| rows.len() == limit && assets.len() < limit);
        if below.is_none() {
            break;
        }
    }
    assets.truncate(limit);
    Ok(assets)
}

/// The rows of the best assets that an expression finds, below a row; from the first one on without it. An asset may be
/// in another state of the same class.
pub fn rows(
    index: &mut dyn Tx,
    wanted: &TermExpression,
    class: SearchClass,
    below: Option<i64>,
    limit: usize,
) -> Result<Vec<i64>> {
    let highest = below.unwrap_or(1 << CLASS_SHIFT) - 1;
    index.query_all::<i64>(class.sql().find, params![&wanted.text(), highest, limit as i64])
}

/// Reads at most as many rows as it is asked for.
const COUNT_ABOVE: &str =
    "SELECT COUNT(*) FROM (SELECT e.rank FROM entries e WHERE e.rank >= $1 AND e.rank < $2 LIMIT $3) c
    WHERE $4 IS NULL OR (c.rank & 3) = $4";

/// How many assets of a class, and of one type where one is given, are at a row or above it; at most so many.
pub fn count_above(
    index: &mut dyn Tx,
    class: SearchClass,
    asset_type: Option<AssetType>,
    row: i64,
    most: i64,
) -> Result<i64> {
    let base = (class as i64) << CLASS_SHIFT;
    index
        .count(COUNT_ABOVE, params![base | row, base + (1 << CLASS_SHIFT), most, asset_type.map(type_number)])
}

/// Where an asset is.
pub fn rank_of(index: &mut dyn Tx, seq: i64) -> Result<Option<i64>> {
    index.query_first::<i64>("SELECT rank FROM entries WHERE seq = $1", params![seq])
}

/// Puts an asset at its rank.
pub fn add(index: &mut dyn Tx, seq: i64, rank: i64, terms: &str) -> Result<()> {
    let (class, row) = place_of(rank);
    index.run(class.sql().add, params![row, terms])?;
    index.run("INSERT INTO entries (seq, rank) VALUES ($1, $2)", params![seq, rank])?;
    Ok(())
}

/// Takes an asset from its rank.
pub fn remove(index: &mut dyn Tx, seq: i64, rank: i64) -> Result<()> {
    let (class, row) = place_of(rank);
    index.run(class.sql().remove, params![row])?;
    index.run("DELETE FROM entries WHERE seq = $1", params![seq])?;
    Ok(())
}

/// The parts that a table consists of; a search looks into each of them.
pub fn segments(index: &mut dyn Tx, class: SearchClass) -> Result<i64> {
    index.count(class.sql().segments, params![])
}

/// Joins parts of about the same size, so many pages of them, and tells whether there were any.
pub fn merge(index: &mut dyn Tx, class: SearchClass, pages: i64) -> Result<bool> {
    let changes = "SELECT total_changes()";
    let before = index.count(changes, params![])?;
    index.run(class.sql().merge, params![pages])?;
    // The statement itself counts as one.
    Ok(index.count(changes, params![])? - before > 1)
}

/// Joins all parts of both tables.
pub fn optimize(index: &mut dyn Tx) -> Result<()> {
    for class in [SearchClass::Held, SearchClass::Found] {
        index.run(class.sql().optimize, params![])?;
    }
    Ok(())
}

/// What a search asks of the index, with how many values.
#[cfg(test)]
pub fn statements() -> [(&'static str, usize); 5] {
    [(FOUND.find, 3), (HELD.find, 3), (COUNT_ABOVE, 4), (FOUND.segments, 0), (HELD.segments, 0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_orders_by_class_then_score_then_sequence() {
        let event = AssetType::EvolutionEvent;
        let ranks = [
            rank(event, AssetStatus::Candidate, 9999, 9),
            rank(event, AssetStatus::Promoted, 5000, 1),
            rank(event, AssetStatus::Stale, 5000, 2),
            rank(event, AssetStatus::Promoted, 5040, 1),
            rank(event, AssetStatus::Promoted, 10_000, (1 << 44) - 1),
        ];
        assert!(ranks.is_sorted() && ranks.iter().all(|rank| *rank > 0), "{ranks:?}");
        assert_eq!(ranks.map(|rank| seq_of(place_of(rank).1)), [9, 1, 2, 1, (1 << 44) - 1]);
    }

    #[test]
    fn a_score_that_hardly_changes_keeps_its_step() {
        let steps: std::collections::BTreeSet<i64> = (-5..=10_005).map(score_step).collect();
        assert_eq!(steps, (0..256).collect());
        assert_eq!(score_step(5000), score_step(5010));
    }
}
