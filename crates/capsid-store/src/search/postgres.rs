//! The index in PostgreSQL: rare terms are gathered, common ones are met on the way down from the best asset.

use super::entry::IndexEntry;
use super::expression::TermExpression;
use super::load_hits;
use crate::assets::list::ListedAsset;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use std::collections::{BTreeMap, HashMap};

/// How many assets a walk looks at before it gives up.
const MAX_WALK: i64 = 20_000;

/// The best assets that an expression finds.
pub fn top(
    tx: &mut dyn Tx,
    wanted: &TermExpression,
    asset_type: AssetType,
    status: AssetStatus,
    limit: usize,
) -> Result<Vec<ListedAsset>> {
    let most = at_most(tx, wanted)?;
    if most == 0 {
        return Ok(Vec::new());
    }
    let assets = tx.count("SELECT assets FROM indexed WHERE one = 1", params![])?.max(1);
    let text = wanted.text(Dialect::Postgres);
    let steps = (limit as i64).saturating_mul(assets) / most;
    if steps < most && steps < MAX_WALK {
        let seqs = scan_ranked(tx, &text, asset_type, status, limit)?;
        if seqs.len() == limit || is_short(tx, asset_type, status)? {
            return load_hits(tx, &seqs, status);
        }
    }
    let seqs = gather(tx, &text, asset_type, status, limit)?;
    load_hits(tx, &seqs, status)
}

/// How many assets an expression can find at most.
fn at_most(tx: &mut dyn Tx, wanted: &TermExpression) -> Result<i64> {
    let mut terms = Vec::new();
    wanted.terms(&mut terms);
    let counts = counts(tx, &terms)?;
    Ok(wanted.at_most(&|term| counts.get(term).copied().unwrap_or_default()))
}

/// How many assets have each term.
pub fn counts(tx: &mut dyn Tx, terms: &[&str]) -> Result<HashMap<String, i64>> {
    let counted = tx.query_all::<(String, i64)>(
        "SELECT term, assets FROM term_counts WHERE term = ANY (string_to_array($1, ' '))",
        params![&terms.join(" ")],
    )?;
    Ok(counted.into_iter().collect())
}

/// From the best asset down. The inner question is asked of one row at a time, so that the walk ends early.
fn scan_ranked(
    tx: &mut dyn Tx,
    text: &str,
    asset_type: AssetType,
    status: AssetStatus,
    limit: usize,
) -> Result<Vec<i64>> {
    tx.query_all::<i64>(
        "SELECT w.seq FROM (SELECT a.seq, a.gdi FROM assets a
            WHERE a.status = $2 AND a.asset_type = $3 AND a.trust_tier <> 'delisted'
            ORDER BY a.gdi DESC, a.seq DESC LIMIT $5) w
         WHERE COALESCE((SELECT f.terms @@ CAST($1 AS tsquery) FROM found f WHERE f.seq = w.seq), FALSE)
         ORDER BY w.gdi DESC, w.seq DESC LIMIT $4",
        params![text, status.as_str(), asset_type.as_str(), limit as i64, MAX_WALK],
    )
}

/// Whether a walk sees all there is.
fn is_short(tx: &mut dyn Tx, asset_type: AssetType, status: AssetStatus) -> Result<bool> {
    let counted = tx.count(
        "SELECT COUNT(*) FROM (SELECT 1 FROM assets WHERE status = $1 AND asset_type = $2 LIMIT $3) c",
        params![status.as_str(), asset_type.as_str(), MAX_WALK],
    )?;
    Ok(counted < MAX_WALK)
}

/// All that have the terms, then the best of them.
fn gather(
    tx: &mut dyn Tx,
    text: &str,
    asset_type: AssetType,
    status: AssetStatus,
    limit: usize,
) -> Result<Vec<i64>> {
    tx.query_all::<i64>(
        "WITH hits AS MATERIALIZED (SELECT seq FROM found WHERE terms @@ CAST($1 AS tsquery))
         SELECT a.seq FROM hits h JOIN assets a ON a.seq = h.seq
         WHERE a.status = $2 AND a.asset_type = $3 AND a.trust_tier <> 'delisted'
         ORDER BY a.gdi DESC, a.seq DESC LIMIT $4",
        params![text, status.as_str(), asset_type.as_str(), limit as i64],
    )
}

/// Takes an asset out of the index, if it is in it. A term that it had twice stays counted once: counts are upper bounds.
pub fn remove(tx: &mut dyn Tx, seq: i64) -> Result<()> {
    tx.run(
        "UPDATE term_counts SET assets = assets - 1
         WHERE term IN (SELECT unnest(tsvector_to_array(f.terms)) FROM found f WHERE f.seq = $1)",
        params![seq],
    )?;
    tx.run("DELETE FROM found WHERE seq = $1", params![seq])?;
    Ok(())
}

/// Adds assets, and counts their terms. Terms hold neither spaces nor line ends, so texts carry lists of them.
pub fn add(tx: &mut dyn Tx, entries: &[IndexEntry]) -> Result<()> {
    let terms: Vec<String> = entries.iter().map(IndexEntry::terms).collect();
    let seqs: Vec<String> = entries.iter().map(|entry| entry.seq.to_string()).collect();
    tx.run(
        "INSERT INTO found (seq, terms)
         SELECT s.seq, array_to_tsvector(string_to_array(s.terms, ' '))
         FROM unnest(CAST(string_to_array($1, ' ') AS BIGINT[]), string_to_array($2, chr(10))) AS s (seq, terms)",
        params![&seqs.join(" "), &terms.join("\n")],
    )?;
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for term in terms.iter().flat_map(|terms| terms.split(' ')) {
        *counts.entry(term).or_default() += 1;
    }
    let words: Vec<&str> = counts.keys().copied().collect();
    let numbers: Vec<String> = counts.values().map(i64::to_string).collect();
    tx.run(
        "INSERT INTO term_counts (term, assets)
         SELECT s.term, s.assets
         FROM unnest(string_to_array($1, ' '), CAST(string_to_array($2, ' ') AS BIGINT[])) AS s (term, assets)
         ON CONFLICT (term) DO UPDATE SET assets = term_counts.assets + excluded.assets",
        params![&words.join(" "), &numbers.join(" ")],
    )?;
    Ok(())
}
