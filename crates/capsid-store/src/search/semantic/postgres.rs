//! Gathering candidates in PostgreSQL: whatever has a rare term, and what has common ones among the best
//! assets.

use super::scope::{CandidateBatch, EACH, SemanticScope, candidates};
use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::search;
use crate::search::expression::TermExpression;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::AssetType;

/// Candidates by a list of their sequences.
pub const BY_SEQ: &str = candidates!("a.seq = ANY (CAST(string_to_array($2, ' ') AS BIGINT[]))");
/// Candidates by a list of their ids.
pub const BY_ID: &str = candidates!(
    "a.asset_id = ANY (ARRAY(SELECT decode(h.hex, 'hex') FROM unnest(string_to_array($2, ' ')) h (hex)))"
);

/// How many assets an expression may find for all of them to be looked at.
const GATHERED: i64 = 2_000;
/// How many it may find for some of them to be looked at, wherever they stand.
const SAMPLED: i64 = 50_000;
/// How many of the best assets are looked at for what is more common.
const WALKED: i64 = 1_000;

/// The best that each expression finds.
pub fn best(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &[TermExpression],
) -> Result<Vec<CandidateBatch>> {
    let mut terms = Vec::new();
    wanted.iter().for_each(|wanted| wanted.terms(&mut terms));
    let counts = search::counts(tx, &terms)?;
    let most =
        |wanted: &TermExpression| wanted.at_most(&|term| counts.get(term).copied().unwrap_or_default());
    let mut batches: Vec<CandidateBatch> = wanted
        .iter()
        .map(|wanted| CandidateBatch {
            seqs: Vec::new(),
            is_all: most(wanted) <= GATHERED,
            about: most(wanted) as f64,
        })
        .collect();
    gather(tx, scope, wanted, &mut batches)?;
    for (wanted, batch) in wanted.iter().zip(&mut batches) {
        if batch.about > SAMPLED as f64 {
            batch.seqs = scan_ranked(tx, scope, wanted)?;
        }
    }
    Ok(batches)
}

/// All that have what is rare, then the best of them. The inner limit keeps a wrong guess from becoming a
/// long search.
fn gather(
    tx: &mut dyn Tx,
    scope: &SemanticScope<'_>,
    wanted: &[TermExpression],
    batches: &mut [CandidateBatch],
) -> Result<()> {
    let texts: Vec<String> = wanted
        .iter()
        .zip(batches.iter())
        .map(|(wanted, batch)| match batch.about > 0.0 && batch.about <= SAMPLED as f64 {
            true => wanted.text(Dialect::Postgres),
            false => String::new(),
        })
        .collect();
    let types: Vec<&str> = scope.types.iter().map(|kind| kind.as_str()).collect();
    let most = EACH * types.len();
    let rows = tx.query_all::<(i64, i64)>(
        "SELECT q.n, s.seq FROM unnest(string_to_array($1, chr(10))) WITH ORDINALITY AS q (text, n)
         CROSS JOIN LATERAL (
            SELECT a.seq, a.gdi FROM (SELECT f.seq FROM found f WHERE f.terms @@ CAST(q.text AS tsquery) LIMIT $2) h
            JOIN assets a ON a.seq = h.seq
            WHERE a.status = $3 AND a.asset_type = ANY (string_to_array($4, ' ')) AND a.trust_tier <> 'delisted'
                AND a.created_at >= $5 AND a.created_at < $6
            ORDER BY a.gdi DESC, a.seq DESC LIMIT $7) s
         WHERE q.text <> '' ORDER BY q.n, s.gdi DESC, s.seq DESC",
        params![
            &texts.join("\n"),
            GATHERED,
            scope.wanted.status.as_str(),
            &types.join(" "),
            scope.wanted.since.unwrap_or(i64::MIN),
            scope.wanted.until.unwrap_or(i64::MAX),
            most as i64
        ])?;
    for (number, seq) in rows {
        if let Some(batch) = usize::try_from(number - 1).ok().and_then(|at| batches.get_mut(at)) {
            batch.seqs.push(seq);
        }
    }
    for batch in batches {
        batch.is_all &= batch.seqs.len() < most;
    }
    Ok(())
}

/// From the best asset down, a short way.
fn scan_ranked(tx: &mut dyn Tx, scope: &SemanticScope<'_>, wanted: &TermExpression) -> Result<Vec<i64>> {
    let text = wanted.text(Dialect::Postgres);
    let mut seqs = Vec::new();
    for kind in &scope.types {
        seqs.extend(scan_class(tx, scope, &text, *kind)?);
    }
    Ok(seqs)
}

fn scan_class(tx: &mut dyn Tx, scope: &SemanticScope<'_>, text: &str, kind: AssetType) -> Result<Vec<i64>> {
    tx.query_all::<i64>(
        "SELECT w.seq FROM (SELECT a.seq, a.gdi FROM assets a
            WHERE a.status = $2 AND a.asset_type = $3 AND a.trust_tier <> 'delisted'
                AND a.created_at >= $4 AND a.created_at < $5
            ORDER BY a.gdi DESC, a.seq DESC LIMIT $6) w
         WHERE COALESCE((SELECT f.terms @@ CAST($1 AS tsquery) FROM found f WHERE f.seq = w.seq), FALSE)
         ORDER BY w.gdi DESC, w.seq DESC LIMIT $7",
        params![
            text,
            scope.wanted.status.as_str(),
            kind.as_str(),
            scope.wanted.since.unwrap_or(i64::MIN),
            scope.wanted.until.unwrap_or(i64::MAX),
            WALKED,
            EACH as i64
        ],
    )
}
