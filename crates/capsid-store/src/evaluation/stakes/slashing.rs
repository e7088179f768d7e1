//! The price of a wrong report: where an arbiter has decided, a report that says otherwise costs a part of its sender's
//! stake.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::{penalties, stakes, weighted_reports};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// The penalty points that come with it.
const POINTS: f64 = 5.0;

/// Slashes the stakes of those whose reports on an asset contradict an arbiter's outcome, each once.
pub fn slash_contradicting(
    tx: &mut dyn Tx,
    id: &AssetId,
    passed: bool,
    percent: i64,
    now: Time,
) -> Result<u64> {
    if percent == 0 {
        return Ok(0);
    }
    let mut slashed = 0;
    for report in weighted_reports::load_others(tx, id)? {
        if report.vote.ok == passed || report.vote.weight <= 0.0 {
            continue;
        }
        let reference = format!("slash:{id}:{}", report.node_id);
        slashed += u64::from(stakes::slash(tx, &report.node_id, percent, &reference, now)? > 0);
        if !report.outlier {
            tx.run("UPDATE reports SET outlier = 1 WHERE seq = $1", params![report.seq])?;
            penalties::penalise(tx, &report.node_id, POINTS, "outlier", &id.to_string(), now)?;
        }
    }
    Ok(slashed)
}
