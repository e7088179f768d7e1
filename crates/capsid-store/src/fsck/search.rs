//! The search index: whatever it should know is in it, at the place that its state and its score give.
//!
//! New assets enter the index a moment after they are published, so only those that it says it has reached are looked at.

use super::FsckReport;
use crate::assets::id::AssetId;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::search;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    match tx.dialect() {
        Dialect::Sqlite => sqlite(tx, report),
        Dialect::Postgres => postgres(tx, report),
    }
}

fn sqlite(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let indexed = "SELECT a.asset_id, a.seq, a.asset_type, a.status, a.gdi, r.rank FROM assets a
        LEFT JOIN ranks r ON r.seq = a.seq
        WHERE a.seq <= (SELECT i.seq FROM indexed i WHERE i.one = 1) AND length(a.asset_id) = 32 ORDER BY a.seq";
    type Columns = (AssetId, i64, String, String, i64, Option<i64>);
    tx.query_each(indexed, params![], |(id, seq, asset_type, status, gdi, rank): Columns| {
        // What is neither of these words is told elsewhere.
        let words = AssetType::parse(&asset_type).zip(AssetStatus::parse(&status));
        let due = words.map(|(asset_type, status)| search::rank(asset_type, status, gdi, seq));
        match rank {
            None => report.asset_differs("search_lacks_asset", id, "No search finds it."),
            Some(rank) if due.is_some_and(|due| due != rank) => {
                report.asset_differs("search_misplaces_asset", id, "A search finds it at the wrong place.");
            }
            Some(_) => {}
        }
        Ok(())
    })?;
    let without_terms = "SELECT a.asset_id FROM ranks r JOIN assets a ON a.seq = r.seq
        WHERE NOT (CASE r.rank >> 58 WHEN 0 THEN EXISTS (SELECT 1 FROM held_genes f WHERE f.rowid = r.rank & ((1 << 58) - 1))
            WHEN 1 THEN EXISTS (SELECT 1 FROM held_capsules f WHERE f.rowid = r.rank & ((1 << 58) - 1))
            WHEN 2 THEN EXISTS (SELECT 1 FROM held_events f WHERE f.rowid = r.rank & ((1 << 58) - 1))
            WHEN 8 THEN EXISTS (SELECT 1 FROM found_genes f WHERE f.rowid = r.rank & ((1 << 58) - 1))
            WHEN 9 THEN EXISTS (SELECT 1 FROM found_capsules f WHERE f.rowid = r.rank & ((1 << 58) - 1))
            WHEN 10 THEN EXISTS (SELECT 1 FROM found_events f WHERE f.rowid = r.rank & ((1 << 58) - 1)) ELSE 0 END) AND length(a.asset_id) = 32 ORDER BY r.seq";
    lacking(tx, without_terms, report)
}

/// Writers do not finish in the order they began, so one may have been passed over; that is made good later.
fn postgres(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let missing = "SELECT a.asset_id FROM assets a
        WHERE a.seq <= (SELECT i.seq FROM indexed i WHERE i.one = 1) - 1000 AND length(a.asset_id) = 32
            AND NOT EXISTS (SELECT 1 FROM found f WHERE f.seq = a.seq) ORDER BY a.seq";
    lacking(tx, missing, report)
}

fn lacking(tx: &mut dyn Tx, sql: &'static str, report: &mut FsckReport) -> Result<()> {
    tx.query_each(sql, params![], |id: AssetId| {
        report.asset_differs("search_lacks_asset", id, "No search finds it.");
        Ok(())
    })
}
