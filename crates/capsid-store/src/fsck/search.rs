//! The search in the index: every asset is in it, at the place that its state and its score give, and means what its text
//! says.

use super::FsckReport;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use crate::search;
use crate::search::{MeaningSource, SearchHeads};
use capsid_model::problem::{Code, Result};
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use std::collections::{HashMap, HashSet};

/// How many assets are looked at together.
const PAGE: i64 = 1_000;

/// `seq, asset_id, asset_type, status, gdi`.
type PlacedAsset = (i64, AssetId, String, String, i64);

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    match is_current(tx) {
        Ok(true) => compare(tx, report),
        Ok(false) => {
            report.not_compared.push("The search was not compared: the hub still brings changes into it.");
            Ok(())
        }
        Err(problem) if problem.code == Code::FileNotFound => {
            report.not_compared.push("The search was not compared: there is no index in this data folder.");
            Ok(())
        }
        Err(problem) => Err(problem),
    }
}

fn is_current(tx: &mut dyn Tx) -> Result<bool> {
    let heads = SearchHeads::load(tx)?;
    Ok(heads.lag(tx.index()?)?.waiting == 0)
}

fn compare(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let mut after = 0;
    loop {
        let page = tx.query_all::<PlacedAsset>(
            "SELECT a.seq, a.asset_id, a.asset_type, a.status, a.gdi FROM assets a
             WHERE a.seq > $1 AND length(a.asset_id) = 32 ORDER BY a.seq LIMIT $2",
            params![after, PAGE],
        )?;
        let Some((last, ..)) = page.last() else { return Ok(()) };
        compare_places(tx, (after + 1, *last), &page, report)?;
        compare_meanings(tx, &page, report)?;
        if *last <= after {
            return Err(crate::damaged("The numbers of the assets come in the wrong order."));
        }
        after = *last;
    }
}

fn compare_places(
    tx: &mut dyn Tx,
    (first, last): (i64, i64),
    page: &[PlacedAsset],
    report: &mut FsckReport,
) -> Result<()> {
    let index = tx.index()?;
    let ranks = index.query_all::<(i64, i64)>(
        "SELECT e.seq, e.rank FROM entries e WHERE e.seq >= $1 AND e.seq <= $2",
        params![first, last],
    )?;
    let ranks: HashMap<i64, i64> = ranks.into_iter().collect();
    // Entries whose row lacks its terms: one look into a table for each.
    let lacking = index.query_all::<i64>(
        "SELECT e.seq FROM entries e WHERE e.seq >= $1 AND e.seq <= $2
            AND NOT (CASE e.rank >> 54 WHEN 0 THEN EXISTS (SELECT 1 FROM held h WHERE h.rowid = e.rank & ((1 << 54) - 1))
                ELSE EXISTS (SELECT 1 FROM found f WHERE f.rowid = e.rank & ((1 << 54) - 1)) END)",
        params![first, last],
    )?;
    let lacking: HashSet<i64> = lacking.into_iter().collect();
    for (seq, id, asset_type, status, gdi) in page {
        // What is neither of these words is told elsewhere.
        let words = AssetType::parse(asset_type).zip(AssetStatus::parse(status));
        let due = words.map(|(asset_type, status)| search::ranked::rank(asset_type, status, *gdi, *seq));
        match ranks.get(seq) {
            Some(rank) if due.is_some_and(|due| due != *rank) => {
                report.asset_differs("search_misplaces_asset", *id, "A search finds it at the wrong place.");
            }
            Some(_) if !lacking.contains(seq) => {}
            _ => report.asset_differs("search_lacks_asset", *id, "No search finds it."),
        }
    }
    Ok(())
}

fn compare_meanings(tx: &mut dyn Tx, page: &[PlacedAsset], report: &mut FsckReport) -> Result<()> {
    let seqs: Vec<i64> = page.iter().map(|(seq, ..)| *seq).collect();
    let kept = tx.index()?.query_all::<(i64, String)>(
        "SELECT m.seq, m.line FROM meanings m WHERE m.seq IN (SELECT j.value FROM json_each($1) j)",
        params![&serde_json::json!(seqs).to_string()],
    )?;
    let kept: HashMap<i64, String> = kept.into_iter().collect();
    let ids: HashMap<i64, AssetId> = page.iter().map(|(seq, id, ..)| (*seq, *id)).collect();
    for some in seqs.chunks(100) {
        for source in search::meaning_sources(tx, some)? {
            let due = MeaningSource::meaning(&source).line();
            if let Some(id) = ids.get(&source.seq).filter(|_| kept.get(&source.seq) != Some(&due)) {
                report.asset_differs("meaning_wrong", *id, "`meaning` does not follow from the body.");
            }
        }
    }
    Ok(())
}
