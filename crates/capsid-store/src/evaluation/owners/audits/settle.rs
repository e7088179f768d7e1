//! What an answer to an audit brings: the least reward of a report where it was right, and the price of a report against an
//! arbiter where it was wrong.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::rewards::{self, NewReward, RewardRates};
use crate::evaluation::{penalties, stakes};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How long an answer waits, as other reports do: nobody sees by the time that it was an audit.
const WAIT_MS: i64 = 3_600_000;
/// The penalty points of a wrong answer.
const POINTS: f64 = 5.0;
/// How many answers are settled in one transaction.
const STEP: i64 = 50;

/// Settles some answers whose time has come, and tells how many those were.
pub fn settle_next(tx: &mut dyn Tx, rates: &RewardRates, now: Time) -> Result<u64> {
    let due = tx.query_all::<(AssetId, String, bool, String)>(
        "SELECT audit_id, node_id, CASE WHEN overall_ok = passes THEN 1 ELSE 0 END, grade FROM audits
         WHERE settled_at IS NULL AND reported_at <= $1 ORDER BY reported_at, audit_id LIMIT $2 FOR UPDATE",
        params![now.0 - WAIT_MS, STEP],
    )?;
    for (audit_id, node_id, is_right, grade) in &due {
        tx.run("UPDATE audits SET settled_at = $2 WHERE audit_id = $1", params![audit_id, now])?;
        if !matches!(grade.as_str(), "assigned" | "reproduced") {
            continue;
        }
        let reference = format!("report:{audit_id}:{node_id}");
        if *is_right {
            let amount = rates.report_min;
            let reward =
                NewReward { node_id, source: "validation", reference: &reference, asset: None, amount };
            rewards::pay_reward(tx, rates, reward, now)?;
        } else {
            let reference = format!("slash:{audit_id}:{node_id}");
            stakes::slash(tx, node_id, rates.slash_percent, &reference, now)?;
            penalties::penalise(tx, node_id, POINTS, "outlier", &audit_id.to_string(), now)?;
        }
    }
    Ok(due.len() as u64)
}
