//! How an asset was used on which day.

use crate::assets::id::AssetId;
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use std::collections::BTreeMap;

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
    let fetched = tx.query_all(
        "SELECT day, calls FROM fetch_days WHERE asset_id = $1 AND day >= $2",
        params![id, first],
    )?;
    for (day, fetches) in fetched {
        days.entry(day).or_default().fetches = fetches;
    }
    let reused = tx.query_all(
        "SELECT first_at / 86400000, COUNT(*) FROM fetches
         WHERE asset_id = $1 AND counts = 1 AND first_at >= $2 GROUP BY first_at / 86400000",
        params![id, first * DAY_MS],
    )?;
    for (day, reuses) in reused {
        days.entry(day).or_default().reuses = reuses;
    }
    let reported = tx.query_all::<(i64, i64, i64)>(
        "SELECT created_at / 86400000, COUNT(*), CAST(COALESCE(SUM(overall_ok), 0) AS BIGINT) FROM reports
         WHERE asset_id = $1 AND label <> 'self' AND created_at >= $2 GROUP BY created_at / 86400000",
        params![id, first * DAY_MS],
    )?;
    for (day, reports, passed) in reported {
        let day = days.entry(day).or_default();
        (day.reports_ok, day.reports_failed) = (passed, reports - passed);
    }
    Ok(days)
}
