//! Penalty points: for a report against the outcome, and for bundles that had to be quarantined. They fade with time.

use crate::assets;
use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::evaluation::{scoring, weighted_reports};
use crate::nodes::{self, NodeRow};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::reputation::{decayed_until, penalised, strike};

const STRIKE: &str = "strike";
/// No rule looks further back.
const LOOK_BACK_MS: i64 = 90 * DAY_MS;

/// Gives a node a strike for a bundle that was quarantined when it was published. A near copy of what the node or its
/// owner published before is clumsy, not wrong, and costs nothing; nor does a copy of something that nobody proved, for
/// the copy may well be the original.
pub fn penalize_quarantine(
    tx: &mut dyn Tx,
    node: &NodeRow,
    capsule: &AssetId,
    reason: &str,
    copy_of: Option<&AssetId>,
    now: Time,
) -> Result<()> {
    if let Some(original) = copy_of
        && let Some(original) = assets::get(tx, original)?
        && (original.promoted_at.is_none() || weighted_reports::is_own(tx, &original, node)?)
    {
        return Ok(());
    }
    let earlier = earlier(tx, &node.node_id, now)?;
    let Some(strike) = strike(&earlier, now.0) else { return Ok(()) };
    tx.run(
        "UPDATE nodes SET strikes = strikes + 1, last_strike_at = $2 WHERE node_id = $1",
        params![&node.node_id, now],
    )?;
    penalise(tx, &node.node_id, strike.points, STRIKE, &format!("{reason}: {capsule}"), now)
}

/// When the node got its strikes, of those that still matter. An operator who takes a flag away takes all before.
fn earlier(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<Vec<i64>> {
    tx.query_all::<i64>(
        "SELECT at FROM audit WHERE kind = 'node' AND subject = $1 AND action = $2 AND at > $3
            AND seq > (SELECT COALESCE(MAX(seq), 0) FROM audit WHERE kind = 'node' AND subject = $1
                AND action = 'unflag')
         ORDER BY seq DESC LIMIT 10",
        params![node_id, STRIKE, now.0 - LOOK_BACK_MS],
    )
}

/// Adds penalty points to a node, and works its reputation out anew.
pub fn penalise(
    tx: &mut dyn Tx,
    node_id: &str,
    points: f64,
    action: &str,
    reason: &str,
    now: Time,
) -> Result<()> {
    nodes::lock_known(tx, node_id)?;
    let before = fade(tx, node_id, now)?;
    let after = penalised(before, points);
    tx.run("UPDATE nodes SET penalty = $2 WHERE node_id = $1", params![node_id, after])?;
    let change = AuditChange {
        kind: "node",
        subject: node_id,
        action,
        before: Some(&format_points(before)),
        after: Some(&format_points(after)),
        reason: Some(reason),
    };
    audit::add(tx, "hub", change, now)?;
    scoring::reassess(tx, node_id, now)?;
    Ok(())
}

fn format_points(points: f64) -> String {
    format!("penalty {points:.2}")
}

/// Lets a node's penalty points fade until now, and gives what is left.
fn fade(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<f64> {
    let (before, since) = tx.query_one::<(f64, i64)>(
        "SELECT penalty, penalty_at FROM nodes WHERE node_id = $1",
        params![node_id],
    )?;
    let (left, until) = decayed_until(before, since, now.0);
    // Points that begin now begin to fade now.
    let until = if left > 0.0 { until } else { now.0 };
    tx.run(
        "UPDATE nodes SET penalty = $2, penalty_at = $3 WHERE node_id = $1",
        params![node_id, left, until],
    )?;
    Ok(left)
}

/// Works out anew how the next few nodes stand after an id: their penalties fade, and their record may have changed
/// without anything happening to them. Gives where to go on.
pub fn reassess_next(tx: &mut dyn Tx, after: &str, limit: i64, now: Time) -> Result<Option<String>> {
    let nodes = tx.query_all::<(String, bool)>(
        "SELECT node_id, CASE WHEN total_published > 0 OR penalty > 0 OR owner IS NOT NULL THEN 1 ELSE 0 END FROM nodes
         WHERE node_id > $1 ORDER BY node_id LIMIT $2",
        params![after, limit],
    )?;
    let full = nodes.len() as i64 == limit;
    let next = nodes.last().map(|(node_id, _)| node_id.clone()).filter(|_| full);
    for (node_id, _) in nodes.iter().filter(|(_, has_record)| *has_record) {
        nodes::lock_known(tx, node_id)?;
        fade(tx, node_id, now)?;
        scoring::reassess_node(tx, node_id, now)?;
    }
    Ok(next)
}
