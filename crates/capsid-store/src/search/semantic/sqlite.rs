//! Gathering candidates in SQLite: the index lies in the order of rank, so the best rows are the first that
//! it gives.

use super::scope::{CandidateBatch, EACH, SemanticScope, candidates};
use crate::db::tx::Tx;
use crate::params;
use crate::search::expression::TermExpression;
use crate::search::sqlite::{rows, score_and_seq};
use capsid_model::problem::Result;
use capsid_rules::lifecycle::AssetType;

/// Candidates by a list of their sequences.
pub const BY_SEQ: &str = candidates!("a.seq IN (SELECT value FROM json_each($2))");
/// Candidates by a list of their ids.
pub const BY_ID: &str = candidates!("a.asset_id IN (SELECT unhex(value) FROM json_each($2))");

/// How far down assets are counted to tell how thickly a term lies among them.
const COUNTED: i64 = 4_000;

/// The best that each expression finds.
pub fn best(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &[TermExpression],
) -> Result<Vec<CandidateBatch>> {
    wanted.iter().map(|wanted| best_of_one(tx, scope, wanted)).collect()
}

fn best_of_one(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &TermExpression,
) -> Result<CandidateBatch> {
    let mut batch = CandidateBatch { is_all: true, ..CandidateBatch::default() };
    for kind in &scope.types {
        let ranks = rows(tx, wanted, (*kind, scope.wanted.status), None, EACH)?;
        batch.about += match ranks.last().filter(|_| ranks.len() == EACH) {
            Some(last) => {
                batch.is_all = false;
                // Each type has its share of all assets.
                thickness(tx, scope, *kind, *last)? * scope.texts as f64 / scope.types.len() as f64
            }
            None => ranks.len() as f64,
        };
        batch.seqs.extend(ranks.iter().map(|row| score_and_seq(*row).1));
    }
    Ok(batch)
}

/// Which part of the assets from the best one down to a row was found, when that row is the last of a full
/// batch.
fn thickness(tx: &mut dyn Tx, scope: &SemanticScope<'_>, kind: AssetType, last: i64) -> Result<f64> {
    let (gdi, seq) = score_and_seq(last);
    let passed = tx.count(
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM assets
            WHERE status = $1 AND asset_type = $2 AND (gdi, seq) >= ($3, $4) LIMIT $5) c",
        params![scope.wanted.status.as_str(), kind.as_str(), gdi, seq, COUNTED],
    )?;
    Ok(EACH as f64 / passed.max(EACH as i64) as f64)
}

/// The sequences of the best that an expression finds below a row, and the last row where there may be more.
pub fn rows_below(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &TermExpression,
    kind: AssetType,
    below: Option<i64>,
) -> Result<(Vec<i64>, Option<i64>)> {
    let rows = rows(tx, wanted, (kind, scope.wanted.status), below, EACH)?;
    let last = rows.last().copied().filter(|_| rows.len() == EACH);
    Ok((rows.into_iter().map(|row| score_and_seq(row).1).collect(), last))
}
