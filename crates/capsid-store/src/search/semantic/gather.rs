//! Gathering candidates: the index is in the order of rank, so the best rows are the first that it gives.

use super::scope::{CandidateBatch, SemanticScope};
use crate::db::tx::Tx;
use crate::search::expression::TermExpression;
use crate::search::ranked::{SearchClass, count_above, rows, seq_of};
use capsid_model::problem::Result;
use capsid_rules::lifecycle::AssetType;

/// How far down assets are counted to tell how thickly a term lies among them, for each that a term names at most.
const COUNTED_EACH: i64 = 33;

/// The best that each expression finds. Reads at most 360 rows for each, and counts 12,000.
pub fn best(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &[TermExpression],
) -> Result<Vec<CandidateBatch>> {
    wanted.iter().map(|wanted| best_of_one(tx.index()?, scope, &scope.with(wanted.clone()))).collect()
}

fn best_of_one(
    index: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &TermExpression,
) -> Result<CandidateBatch> {
    let class = SearchClass::of_status(scope.wanted.status);
    let each = scope.each();
    let rows = rows(index, wanted, class, None, each)?;
    let about = match rows.last().filter(|_| rows.len() == each) {
        Some(last) => {
            // Which part of the assets from the best one down to the last row was found.
            let most = each as i64 * COUNTED_EACH;
            let passed = count_above(index, class, scope.wanted.asset_type, *last, most)?;
            let part = each as f64 / passed.max(each as i64) as f64;
            // Each type has its share of all assets.
            let types = if scope.wanted.asset_type.is_some() { AssetType::ALL.len() } else { 1 };
            part * scope.texts as f64 / types as f64
        }
        None => rows.len() as f64,
    };
    let is_all = rows.len() < each;
    Ok(CandidateBatch { seqs: rows.into_iter().map(seq_of).collect(), is_all, about })
}

/// The sequences of the best that an expression finds below a row, and the last row where there may be more.
pub fn rows_below(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &TermExpression,
    below: Option<i64>,
) -> Result<(Vec<i64>, Option<i64>)> {
    let class = SearchClass::of_status(scope.wanted.status);
    let rows = rows(tx.index()?, wanted, class, below, scope.each())?;
    let last = rows.last().copied().filter(|_| rows.len() == scope.each());
    Ok((rows.into_iter().map(seq_of).collect(), last))
}
