//! How an asset was used on which day.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use std::collections::BTreeMap;

/// A day.
pub const DAY_MS: i64 = 86_400_000;

/// What happened on a day, as far as nodes of other owners did it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageDayRow {
    /// How often it was fetched.
    pub fetches: i64,
    /// How many nodes fetched it for the first time.
    pub reuses: i64,
    /// How many reports say that it passed.
    pub reports_ok: i64,
    /// How many say that it failed.
    pub reports_failed: i64,
}

/// The days from one on, counted since 1970, on which anything happened to an asset.
pub fn since(tx: &mut dyn Tx, id: &AssetId, first: i64) -> Result<BTreeMap<i64, UsageDayRow>> {
    let mut days: BTreeMap<i64, UsageDayRow> = BTreeMap::new();
    tx.each(
        "SELECT day, calls FROM fetch_days WHERE asset_id = $1 AND day >= $2",
        params![id, first],
        &mut |row| {
            days.entry(row.int(0)?).or_default().fetches = row.int(1)?;
            Ok(())
        },
    )?;
    tx.each(
        "SELECT first_at / 86400000, COUNT(*) FROM fetches
         WHERE asset_id = $1 AND counts = 1 AND first_at >= $2 GROUP BY first_at / 86400000",
        params![id, first * DAY_MS],
        &mut |row| {
            days.entry(row.int(0)?).or_default().reuses = row.int(1)?;
            Ok(())
        },
    )?;
    tx.each(
        "SELECT created_at / 86400000, COUNT(*), CAST(COALESCE(SUM(overall_ok), 0) AS BIGINT) FROM reports
         WHERE asset_id = $1 AND label <> 'self' AND created_at >= $2 GROUP BY created_at / 86400000",
        params![id, first * DAY_MS],
        &mut |row| {
            let day = days.entry(row.int(0)?).or_default();
            day.reports_ok = row.int(2)?;
            day.reports_failed = row.int(1)? - day.reports_ok;
            Ok(())
        },
    )?;
    Ok(days)
}
