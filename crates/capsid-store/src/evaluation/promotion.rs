//! What becomes of assets with time: candidates are promoted, what nobody uses grows old, reports against the outcome
//! are told apart, and scores are kept true. Each is a walk in small steps: a step says where the next one begins.
//!
//! Two things decide on a promotion, and they are kept apart. The gates want passing reports that count, by as many
//! owners as the rule says. The score knows better what they show: a validation that is absent or proves nothing adds
//! nothing to it, whoever says that it passed.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::evaluation::owners::quorum;
use crate::evaluation::rewards;
use crate::evaluation::rewards::{NewReward, RewardRates};
use crate::evaluation::weighted_reports::{self, WeightedReport};
use crate::evaluation::{lifecycle, penalties, scoring};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits::report_reward;
use capsid_rules::evaluation::consensus::{outliers, tally};
use capsid_rules::evaluation::gdi::{freshness, gdi};
use capsid_rules::evaluation::promotion::{
    PromotionFacts, PromotionObstacle, PromotionRule, ageing, obstacles,
};
use capsid_rules::evaluation::reputation::OUTLIER_PENALTY;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus, AssetType};

const HOUR_MS: i64 = 3_600_000;
/// How long reports wait for others before they earn nothing.
const REWARD_WAIT_MS: i64 = 30 * DAY_MS;

/// One step of a walk through the assets, in the order of publication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetWalkStep {
    /// Those for which something is to be done.
    pub found: Vec<AssetId>,
    /// Where to go on; nothing at the end.
    pub next: Option<i64>,
}

impl AssetWalkStep {
    pub(super) fn from_rows(rows: Vec<(i64, Option<AssetId>)>, limit: i64) -> Self {
        let full = rows.len() as i64 == limit;
        let next = rows.last().map(|(seq, _)| *seq).filter(|_| full);
        Self { found: rows.into_iter().filter_map(|(_, id)| id).collect(), next }
    }
}

/// All that a promotion looks at.
pub fn load_facts(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    rule: &PromotionRule,
    now: Time,
) -> Result<PromotionFacts> {
    let evidence = scoring::evidence(tx, asset, now)?;
    let score = gdi(&evidence, &tx.trust().belief);
    let publisher_held =
        tx.exists("SELECT 1 FROM nodes WHERE node_id = $1 AND status <> 'active'", params![&asset.node_id])?;
    Ok(PromotionFacts {
        status: asset.status,
        gdi_score: score.score,
        intrinsic: score.intrinsic,
        confidence: evidence.confidence,
        success_streak: evidence.success_streak,
        reputation: evidence.reputation,
        quorum: quorum::load_quorum(tx, asset, rule, now)?,
        // An admin's word is carried out at once, so nothing waits for it here.
        admin_accepted: false,
        is_anti_pattern: asset.traits.anti_pattern,
        safety_held: asset.status == AssetStatus::Quarantined,
        publisher_held,
    })
}

/// All that stands between an asset and its promotion. Genes and events are promoted with their capsule, so what
/// stands in its way stands in theirs.
pub fn list_obstacles(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    rule: &PromotionRule,
    now: Time,
) -> Result<Vec<PromotionObstacle>> {
    if asset.asset_type == AssetType::Capsule {
        return Ok(obstacles(&load_facts(tx, asset, rule, now)?, rule));
    }
    let capsule = match capsule_of(tx, asset)? {
        Some(id) => assets::get(tx, &id)?,
        None => None,
    };
    match capsule {
        Some(capsule) => list_obstacles(tx, &capsule, rule, now),
        None => Ok(vec![PromotionObstacle {
            code: "no_live_capsule",
            rule: "status",
            text: "It is promoted with a capsule of its bundle, and none of these can be promoted any more."
                .to_owned(),
            have: 0.0,
            need: 1.0,
            help: "Its publisher, with a bundle that holds it and a capsule.",
        }]),
    }
}

/// The newest capsule that a gene or an event is to be promoted with.
pub fn capsule_of(tx: &mut dyn Tx, asset: &AssetRow) -> Result<Option<AssetId>> {
    if asset.asset_type == AssetType::Gene {
        return tx.query_first::<AssetId>(
            "SELECT c.asset_id FROM bundles b JOIN assets c ON c.asset_id = b.capsule_id
             WHERE b.gene_id = $1 AND c.status = 'candidate' ORDER BY c.seq DESC LIMIT 1",
            params![&asset.asset_id],
        );
    }
    tx.query_first::<AssetId>(
        "SELECT c.asset_id FROM bundles b JOIN assets c ON c.asset_id = b.capsule_id
         WHERE b.bundle_id = $1 AND c.status = 'candidate'",
        params![&asset.bundle_id],
    )
}

/// Finds candidates that may be promoted. Only reads.
pub fn find_promotable(
    tx: &mut dyn Tx,
    after: i64,
    limit: i64,
    rule: &PromotionRule,
    now: Time,
) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId, bool)>(
        "SELECT a.seq, a.asset_id, CASE WHEN EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = a.asset_id
            AND r.overall_ok = 1 AND r.label <> 'self') THEN 1 ELSE 0 END
         FROM assets a WHERE a.status = 'candidate' AND a.asset_type = 'Capsule' AND a.seq > $1
         ORDER BY a.seq LIMIT $2",
        params![after, limit],
    )?;
    let mut judged = Vec::with_capacity(rows.len());
    for (seq, id, is_passed) in rows {
        // Most candidates were never reported; for them the answer is known without looking further.
        let worth_a_look = !rule.require_report || is_passed;
        let ready = worth_a_look
            && match assets::get(tx, &id)? {
                Some(asset) => list_obstacles(tx, &asset, rule, now)?.is_empty(),
                None => false,
            };
        judged.push((seq, ready.then_some(id)));
    }
    Ok(AssetWalkStep::from_rows(judged, limit))
}

/// Promotes an asset if nothing stands in its way, and rewards its publisher; it is looked at again, for things may have
/// changed.
pub fn promote(
    tx: &mut dyn Tx,
    id: &AssetId,
    rule: &PromotionRule,
    rewards: &RewardRates,
    now: Time,
) -> Result<bool> {
    let Some(asset) = assets::lock(tx, id)? else { return Ok(false) };
    if !list_obstacles(tx, &asset, rule, now)?.is_empty() {
        return Ok(false);
    }
    let passed = scoring::reports(tx, id)?.into_iter().any(|report| report.ok && report.weight > 0.0);
    let reason = if passed { "passed by another owner's node" } else { "passed every gate" };
    let changed = lifecycle::change(tx, id, AssetEvent::Promote, "hub", Some(reason), now)?;
    let promoted = matches!(changed, lifecycle::StatusChangeOutcome::Done { .. });
    if promoted {
        scoring::rescore(tx, id, now)?;
        rewards::promoted(tx, rewards, id, now)?;
    }
    Ok(promoted)
}

/// Finds promoted capsules that nobody used for long, or stale ones that nobody used for very long. Only reads.
pub fn find_old(
    tx: &mut dyn Tx,
    status: AssetStatus,
    after: i64,
    limit: i64,
    now: Time,
) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId, i64)>(
        "SELECT seq, asset_id, last_activity_at FROM assets
         WHERE status = $1 AND asset_type = 'Capsule' AND seq > $2 ORDER BY seq LIMIT $3",
        params![status.as_str(), after, limit],
    )?;
    let is_old = |last_activity_at| ages(status, last_activity_at, now).is_some();
    let rows = rows.into_iter().map(|(seq, id, active_at)| (seq, is_old(active_at).then_some(id))).collect();
    Ok(AssetWalkStep::from_rows(rows, limit))
}

fn ages(status: AssetStatus, last_activity_at: i64, now: Time) -> Option<AssetEvent> {
    ageing(status, freshness(now.days_since(Time(last_activity_at)).max(0.0)))
}

/// Lets an asset grow old by one step, if it still is that old.
pub fn age(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<bool> {
    let Some(asset) = assets::lock(tx, id)? else { return Ok(false) };
    let Some(change) = ages(asset.status, asset.last_activity_at, now) else { return Ok(false) };
    let changed = lifecycle::change(tx, id, change, "hub", Some("nobody used it"), now)?;
    Ok(matches!(changed, lifecycle::StatusChangeOutcome::Done { .. }))
}

/// Finds assets that were not scored for a day: they are less fresh than their score says. Only reads.
pub fn find_unscored(tx: &mut dyn Tx, after: i64, limit: i64, now: Time) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId, i64, AssetStatus)>(
        "SELECT seq, asset_id, scored_at, status FROM assets WHERE seq > $1 ORDER BY seq LIMIT $2",
        params![after, limit],
    )?;
    let is_due = |scored_at, status: AssetStatus| !status.is_terminal() && scored_at <= now.0 - DAY_MS;
    let rows =
        rows.into_iter().map(|(seq, id, at, status)| (seq, is_due(at, status).then_some(id))).collect();
    Ok(AssetWalkStep::from_rows(rows, limit))
}

/// Finds assets on which reports disagree, by walking through the reports. Only reads.
pub fn find_disputed(tx: &mut dyn Tx, after: i64, limit: i64) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId, bool)>(
        "SELECT r.seq, r.asset_id, CASE WHEN r.outlier = 0 AND r.label <> 'self' AND EXISTS (
            SELECT 1 FROM reports o WHERE o.asset_id = r.asset_id AND o.overall_ok <> r.overall_ok
                AND o.label <> 'self') THEN 1 ELSE 0 END
         FROM reports r WHERE r.seq > $1 ORDER BY r.seq LIMIT $2",
        params![after, limit],
    )?;
    let rows = rows.into_iter().map(|(seq, id, is_disputed)| (seq, is_disputed.then_some(id))).collect();
    let mut step = AssetWalkStep::from_rows(rows, limit);
    step.found.sort_unstable();
    step.found.dedup();
    Ok(step)
}

/// Penalises those whose report goes against a clear majority, each once. It waits until nobody is asked any more and
/// the last report is an hour old, so that the majority is the final one.
pub fn close_outliers(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<u64> {
    if assets::lock(tx, id)?.is_none() {
        return Ok(0);
    }
    let reports = weighted_reports::load_others(tx, id)?;
    if !is_settled(tx, id, &reports, now)? {
        return Ok(0);
    }
    let votes: Vec<_> = reports.iter().map(|report| report.vote.clone()).collect();
    let mut penalised = 0;
    for at in outliers(&votes) {
        let Some(report) = reports.get(at).filter(|report| !report.outlier) else { continue };
        tx.run("UPDATE reports SET outlier = 1 WHERE seq = $1", params![report.seq])?;
        penalties::penalise(tx, &report.node_id, OUTLIER_PENALTY, "outlier", &id.to_string(), now)?;
        penalised += 1;
    }
    Ok(penalised)
}

/// Whether the outcome is the final one: nobody is asked any more, and the last report is an hour old.
fn is_settled(tx: &mut dyn Tx, id: &AssetId, reports: &[WeightedReport], now: Time) -> Result<bool> {
    let fresh = reports.iter().any(|report| report.at > now.0 - HOUR_MS);
    let waiting = tx.exists(
        "SELECT 1 FROM assignments WHERE asset_id = $1 AND state = 'open' AND expires_at > $2",
        params![id, now],
    )?;
    Ok(!fresh && !waiting)
}

/// Finds assets with reports that the hub asked for and that may earn something. Only reads.
pub fn find_unrewarded(tx: &mut dyn Tx, after: i64, limit: i64) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId)>(
        "SELECT seq, asset_id FROM reports WHERE label = 'assigned' AND reward IS NULL AND seq > $1
         ORDER BY seq LIMIT $2",
        params![after, limit],
    )?;
    let rows = rows.into_iter().map(|(seq, id)| (seq, Some(id))).collect();
    let mut step = AssetWalkStep::from_rows(rows, limit);
    step.found.sort_unstable();
    step.found.dedup();
    Ok(step)
}

/// Rewards those that the hub asked about an asset and that agree with the outcome, each once. It waits until the
/// outcome is final and as many owners have a part in it as the hub wants, but not for ever.
pub fn reward_reports(tx: &mut dyn Tx, id: &AssetId, rewards: &RewardRates, now: Time) -> Result<u64> {
    if assets::lock(tx, id)?.is_none() {
        return Ok(0);
    }
    let reports = weighted_reports::load_others(tx, id)?;
    if !is_settled(tx, id, &reports, now)? {
        return Ok(0);
    }
    let votes: Vec<_> = reports.iter().map(|report| report.vote.clone()).collect();
    let mut owners: Vec<&str> =
        votes.iter().filter(|report| report.weight > 0.0).map(|report| report.owner.as_str()).collect();
    owners.sort_unstable();
    owners.dedup();
    let tally = tally(&votes);
    let enough = owners.len() as i64 >= rewards.quorum && tally.passes != tally.fails;
    let last = reports.iter().map(|report| report.at).max().unwrap_or_default();
    if !enough && last > now.0 - REWARD_WAIT_MS {
        return Ok(0);
    }
    let passed = tally.passes > tally.fails;
    let agreed = if tally.total > 0.0 { tally.passes.max(tally.fails) / tally.total } else { 0.0 };
    let mut rewarded = 0;
    for report in reports.iter().filter(|report| report.vote.assigned && report.reward.is_none()) {
        let agrees = enough && report.vote.weight > 0.0 && report.vote.ok == passed;
        let due = if agrees { report_reward(agreed, rewards.report_min, rewards.report_max) } else { 0 };
        let reference = format!("report:{id}:{}", report.node_id);
        let reward = NewReward {
            node_id: &report.node_id,
            source: "validation",
            reference: &reference,
            asset: Some(id),
            amount: due,
        };
        let paid = rewards::pay_reward(tx, rewards, reward, now)?;
        tx.run("UPDATE reports SET reward = $2 WHERE seq = $1", params![report.seq, paid])?;
        rewarded += u64::from(paid > 0);
    }
    // Reports of nodes that have come to belong to the publisher's owner are no voices; they earn nothing.
    tx.run(
        "UPDATE reports SET reward = 0 WHERE asset_id = $1 AND label = 'assigned' AND reward IS NULL",
        params![id],
    )?;
    Ok(rewarded)
}
