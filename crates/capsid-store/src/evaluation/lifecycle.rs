//! Changes of state. A bundle moves together: what happens to a capsule happens to its event, and to its gene where
//! no other bundle needs it otherwise. Every change is audited.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::audit::{self, AuditChange};
use crate::db::tx::Tx;
use crate::evaluation::rewards::held_rewards;
use crate::evaluation::scoring;
use crate::notifications::events;
use crate::{graph, params, search};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::{AssetChangeRefusal, AssetEvent, AssetStatus, AssetType, step};

/// How a change went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusChangeOutcome {
    Done {
        /// The status before.
        from: AssetStatus,
        /// The status after.
        to: AssetStatus,
    },
    /// There is no such asset.
    NotFound,
    /// The asset is not in a state for it.
    Refused(AssetChangeRefusal),
}

/// Changes the state of an asset and of those that go with it.
pub fn change(
    tx: &mut dyn Tx,
    id: &AssetId,
    change: AssetEvent,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<StatusChangeOutcome> {
    let Some(asset) = assets::lock(tx, id)? else { return Ok(StatusChangeOutcome::NotFound) };
    let to = match step(asset.status, change) {
        Ok(to) => to,
        Err(refusal) => return Ok(StatusChangeOutcome::Refused(refusal)),
    };
    set(tx, &asset, to, change, actor, reason, now)?;
    for other in companions(tx, &asset, change)? {
        let Some(other) = assets::lock(tx, &other)? else { continue };
        if let Ok(to) = step(other.status, change) {
            set(tx, &other, to, change, actor, reason, now)?;
        }
    }
    scoring::reassess(tx, &asset.node_id, now)?;
    Ok(StatusChangeOutcome::Done { from: asset.status, to })
}

fn set(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    to: AssetStatus,
    change: AssetEvent,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    // Whoever began earlier may come later. What follows has no earlier time than what it follows.
    let now = now.max(Time(asset.created_at)).max(Time(asset.promoted_at.unwrap_or(i64::MIN)));
    let promoted_at = (to == AssetStatus::Promoted && asset.promoted_at.is_none()).then_some(now);
    tx.run(
        "UPDATE assets SET status = $2, promoted_at = COALESCE(promoted_at, $3),
            last_activity_at = CASE WHEN $3 IS NULL THEN last_activity_at ELSE $3 END WHERE asset_id = $1",
        params![&asset.asset_id, to.as_str(), promoted_at],
    )?;
    if change == AssetEvent::Demote {
        tx.run(
            "UPDATE assets SET demotions = demotions + 1, demoted_at = $2 WHERE asset_id = $1",
            params![&asset.asset_id, now],
        )?;
    }
    count(tx, asset, to)?;
    held_rewards::return_failed(tx, asset, to, now)?;
    let subject = asset.asset_id.to_string();
    let written = AuditChange {
        kind: "asset",
        subject: &subject,
        action: change.as_str(),
        before: Some(asset.status.as_str()),
        after: Some(to.as_str()),
        reason,
    };
    audit::add(tx, actor, written, now)?;
    notify_status_change(tx, asset, to, reason, now)?;
    graph::membership::status_changed(tx, asset, to, now)?;
    search::status_changed(tx, asset, to, now)
}

/// Tells the publisher what became of its bundle.
fn notify_status_change(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    to: AssetStatus,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    if asset.asset_type != AssetType::Capsule {
        return Ok(());
    }
    let payload = serde_json::json!({
        "asset_id": asset.asset_id, "bundle_id": asset.bundle_id, "before": asset.status.as_str(),
        "status": to.as_str(), "reason": reason,
    });
    events::insert_event(tx, &asset.node_id, "asset_status_changed", &payload.to_string(), now)?;
    Ok(())
}

/// Keeps the publisher's totals. Capsules stand for their bundles, so that one bundle counts once.
fn count(tx: &mut dyn Tx, asset: &AssetRow, to: AssetStatus) -> Result<()> {
    if asset.asset_type != AssetType::Capsule {
        return Ok(());
    }
    let first_promotion = to == AssetStatus::Promoted && asset.promoted_at.is_none();
    tx.run(
        "UPDATE nodes SET total_promoted = total_promoted + $2, total_rejected = total_rejected + $3,
            total_revoked = total_revoked + $4 WHERE node_id = $1",
        params![&asset.node_id, first_promotion, to == AssetStatus::Rejected, to == AssetStatus::Revoked],
    )?;
    Ok(())
}

/// The assets that a change takes along.
fn companions(tx: &mut dyn Tx, asset: &AssetRow, change: AssetEvent) -> Result<Vec<AssetId>> {
    match asset.asset_type {
        AssetType::EvolutionEvent => Ok(Vec::new()),
        AssetType::Capsule => {
            let mut along = ids(
                tx,
                // Only with the bundle it first came in: others may have put it beside a capsule of theirs.
                "SELECT e.asset_id FROM bundles b JOIN assets e ON e.asset_id = b.event_id
                 WHERE b.capsule_id = $1 AND e.bundle_id = b.bundle_id AND e.node_id = b.node_id ORDER BY b.bundle_id",
                asset,
            )?;
            along.extend(genes_of(tx, asset, change)?);
            Ok(along)
        }
        // A gene takes its capsules along only when it is withdrawn.
        AssetType::Gene if change == AssetEvent::Revoke => ids(
            tx,
            "SELECT b.capsule_id FROM bundles b JOIN assets g ON g.asset_id = b.gene_id
             WHERE b.gene_id = $1 AND b.node_id = g.node_id ORDER BY b.bundle_id",
            asset,
        ),
        AssetType::Gene => Ok(Vec::new()),
    }
}

/// A capsule's gene follows it to promotion and back. Elsewhere it follows only when it is the same publisher's and no
/// other capsule lives on it.
fn genes_of(tx: &mut dyn Tx, capsule: &AssetRow, change: AssetEvent) -> Result<Vec<AssetId>> {
    let genes = match change {
        AssetEvent::Promote | AssetEvent::Revive | AssetEvent::Release => {
            "SELECT gene_id FROM bundles WHERE capsule_id = $1 ORDER BY bundle_id"
        }
        // What others live on stays where they are.
        AssetEvent::Demote => {
            "SELECT b.gene_id FROM bundles b JOIN assets g ON g.asset_id = b.gene_id
             WHERE b.capsule_id = $1 AND b.node_id = g.node_id AND NOT EXISTS (
                SELECT 1 FROM bundles o JOIN assets c ON c.asset_id = o.capsule_id
                WHERE o.gene_id = b.gene_id AND o.capsule_id <> $1 AND c.status IN ('promoted', 'stale'))
             ORDER BY b.bundle_id"
        }
        AssetEvent::Reject | AssetEvent::Quarantine | AssetEvent::Revoke | AssetEvent::GrowStale | AssetEvent::Archive => {
            "SELECT b.gene_id FROM bundles b JOIN assets g ON g.asset_id = b.gene_id
             WHERE b.capsule_id = $1 AND b.node_id = g.node_id AND NOT EXISTS (
                SELECT 1 FROM bundles o JOIN assets c ON c.asset_id = o.capsule_id
                WHERE o.gene_id = b.gene_id AND o.capsule_id <> $1 AND c.status IN ('candidate', 'promoted', 'stale'))
             ORDER BY b.bundle_id"
        }
    };
    ids(tx, genes, capsule)
}

fn ids(tx: &mut dyn Tx, sql: &'static str, asset: &AssetRow) -> Result<Vec<AssetId>> {
    tx.query_all::<AssetId>(sql, params![&asset.asset_id])
}
