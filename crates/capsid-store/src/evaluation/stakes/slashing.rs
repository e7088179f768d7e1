//! The price of a wrong report: where an arbiter has decided, a report that says otherwise costs a part of its sender's
//! stake.

use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::tx::Tx;
use crate::evaluation::moderation::arbitration::Arbitration;
use crate::evaluation::owners::outcomes::ArbitratedOutcome;
use crate::evaluation::{owners, penalties, stakes, weighted_reports};
use crate::nodes;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;

/// The penalty points that come with it.
const POINTS: f64 = 5.0;

/// Takes the whole stake of everybody behind a node, because an arbiter found that it lied on purpose, and gives each of the
/// nodes a strike. Tells how much was taken; nothing where there is no such node.
pub fn slash_for_fraud(
    tx: &mut dyn Tx,
    node_id: &str,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<Option<i64>> {
    let Some(node) = nodes::lock(tx, node_id)? else { return Ok(None) };
    let all = match &node.owner {
        Some(user) => tx.query_all::<String>(
            "SELECT node_id FROM nodes WHERE owner = $1 ORDER BY node_id",
            params![user],
        )?,
        None => vec![node.node_id.clone()],
    };
    let mut taken = 0;
    for node_id in &all {
        let reference = format!("fraud:{node_id}:{}", now.0);
        let amount = stakes::slash(tx, node_id, stakes::WHOLE, &reference, now)?;
        tx.run(
            "UPDATE nodes SET strikes = strikes + 1, last_strike_at = $2 WHERE node_id = $1",
            params![node_id, now],
        )?;
        let taken_here = format!("{amount} milli-credits");
        let change = AuditChange {
            kind: "node",
            subject: node_id,
            action: "fraud",
            before: None,
            after: Some(&taken_here),
            reason,
        };
        audit::add(tx, actor, change, now)?;
        taken += amount;
    }
    if let Some(user) = &node.owner {
        owners::assess_account(tx, user, now)?;
    }
    Ok(Some(taken))
}

/// Slashes the stakes of those whose reports on an asset contradict an arbiter's outcome, each once. A report with which an
/// arbiter agreed before was right when it was made.
pub fn slash_contradicting(
    tx: &mut dyn Tx,
    id: &AssetId,
    decided: Arbitration<'_>,
    earlier: Option<ArbitratedOutcome>,
    now: Time,
) -> Result<u64> {
    if decided.slash_percent == 0 {
        return Ok(0);
    }
    let mut slashed = 0;
    for report in weighted_reports::load_others(tx, id)? {
        let was_right =
            earlier.is_some_and(|earlier| earlier.passed == report.vote.ok && report.at <= earlier.at);
        let is_wrong = report.vote.ok != decided.passed && report.vote.weight > 0.0 && !was_right;
        // The hub has no stake, and its runner is an arbiter itself.
        if !is_wrong || report.grade == EvidenceGrade::Hub {
            continue;
        }
        let reference = format!("slash:{id}:{}", report.node_id);
        slashed += u64::from(stakes::slash(tx, &report.node_id, decided.slash_percent, &reference, now)? > 0);
        if !report.outlier {
            tx.run("UPDATE reports SET outlier = 1 WHERE seq = $1", params![report.seq])?;
            penalties::penalise(tx, &report.node_id, POINTS, "outlier", &id.to_string(), now)?;
        }
    }
    Ok(slashed)
}
