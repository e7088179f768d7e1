//! Scores: what is known of an asset or a node is gathered here and handed to the rules.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::evaluation::{evidence as report_evidence, voices, weighted_reports};
use crate::nodes::reputation_days;
use crate::{params, search};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ConsensusTally, ReportVote, tally};
use capsid_rules::evaluation::gdi::{Gdi, GdiInputs, gdi};
use capsid_rules::evaluation::reputation::{NodeRecord, Reputation, decayed_until, hundredths, reputation};

/// The reports on an asset that may count, oldest first: those of others.
pub fn reports(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<ReportVote>> {
    Ok(weighted_reports::load_others(tx, id)?.into_iter().map(|report| report.vote).collect())
}

/// What reports, decisions of validators and reviews say together, since the asset was last demoted.
pub fn consensus(tx: &mut dyn Tx, id: &AssetId) -> Result<ConsensusTally> {
    Ok(voices::load(tx, id)?.tally())
}

/// All that is known of an asset.
pub fn evidence(tx: &mut dyn Tx, asset: &AssetRow, now: Time) -> Result<GdiInputs> {
    let id = &asset.asset_id;
    let reports = reports(tx, id)?;
    let tally = tally(&reports);
    let month_ago = now.0 - 30 * DAY_MS;
    let small = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
    let reputation = tx.query_one(
        "SELECT COALESCE(reputation_override, reputation) FROM nodes WHERE node_id = $1",
        params![&asset.node_id],
    )?;
    let reproduced: Vec<f64> = tx.query_all::<f64>(
        "SELECT reproduction_score FROM reports
         WHERE asset_id = $1 AND label <> 'self' AND weight > 0 AND reproduction_score IS NOT NULL ORDER BY seq",
        params![id],
    )?;
    Ok(GdiInputs {
        confidence: asset.traits.confidence,
        success_streak: small(asset.traits.success_streak),
        files: small(asset.traits.blast_files),
        lines: small(asset.traits.blast_lines),
        triggers: small(asset.traits.triggers),
        summary_chars: small(asset.traits.summary_chars),
        reputation,
        fetches_30d: small(tx.count(
            "SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM fetch_days WHERE asset_id = $1 AND day > $2",
            params![id, month_ago / DAY_MS],
        )?),
        unique_fetchers_30d: small(tx.count(
            "SELECT COUNT(*) FROM fetches WHERE asset_id = $1 AND counts = 1 AND last_at > $2",
            params![id, month_ago],
        )?),
        successful_runs_90d: small(tx.count(
            "SELECT COUNT(*) FROM reports WHERE asset_id = $1 AND label <> 'self' AND weight > 0 AND overall_ok = 1 AND created_at > $2",
            params![id, now.0 - 90 * DAY_MS],
        )?),
        upvotes: small(asset.upvotes),
        downvotes: small(asset.downvotes),
        passes: tally.passes,
        fails: tally.fails,
        // Added up here, because the databases round sums differently.
        reproducibility: (!reproduced.is_empty())
            .then(|| reproduced.iter().sum::<f64>() / reproduced.len() as f64),
        has_event: asset.traits.has_event,
        days_since_activity: now.days_since(Time(asset.last_activity_at)).max(0.0),
        other_owners: other_owners(tx, id, &reports)?,
        passed_by_other: reports.iter().any(|report| report.ok && report.weight > 0.0),
        validation: report_evidence::load_proof(tx, asset)?,
    })
}

/// How many other owners fetched or reported an asset. More than a few make no difference.
fn other_owners(tx: &mut dyn Tx, id: &AssetId, reports: &[ReportVote]) -> Result<u32> {
    let mut owners: Vec<String> = tx.query_all::<String>(
        "SELECT DISTINCT COALESCE('user:' || n.owner, 'node:' || n.node_id) FROM fetches f
         JOIN nodes n ON n.node_id = f.node_id WHERE f.asset_id = $1 AND f.counts = 1 LIMIT 8",
        params![id],
    )?;
    owners.extend(reports.iter().filter(|report| report.weight > 0.0).map(|report| report.owner.clone()));
    owners.sort_unstable();
    owners.dedup();
    Ok(owners.len().min(100) as u32)
}

/// Scores an asset anew, and moves it in the search when the score changed.
pub fn rescore(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<Option<Gdi>> {
    let Some(asset) = assets::get(tx, id)? else { return Ok(None) };
    let score = gdi(&evidence(tx, &asset, now)?);
    assets::set_score(tx, id, &score, now.0)?;
    search::reposition(tx, asset.seq)?;
    Ok(Some(score))
}

/// What a node did, as far as its reputation goes.
pub fn record(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<NodeRecord> {
    let small = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
    let (published, promoted, rejected, revoked, penalty, since) = tx
        .query_one::<(i64, i64, i64, i64, f64, i64)>(
            "SELECT total_published, total_promoted, total_rejected, total_revoked, penalty, penalty_at
             FROM nodes WHERE node_id = $1",
            params![node_id],
        )?;
    let (confidence, reused, gdi) = tx.query_one::<(f64, i64, f64)>(
        "SELECT COALESCE(AVG(CASE WHEN reuse_count > 0 THEN confidence END), 0),
            CAST(COALESCE(SUM(CASE WHEN reuse_count > 0 THEN 1 ELSE 0 END), 0) AS BIGINT),
            COALESCE(CAST(AVG(gdi) AS DOUBLE PRECISION), 0)
         FROM assets WHERE node_id = $1 AND asset_type = 'Capsule' AND status IN ('promoted', 'stale', 'archived')", params![node_id])?;
    Ok(NodeRecord {
        published: small(published),
        promoted: small(promoted),
        rejected: small(rejected),
        revoked: small(revoked),
        penalty: decayed_until(penalty, since, now.0).0,
        validated_confidence: confidence,
        reused_by_others: small(reused),
        average_gdi: gdi / 100.0,
    })
}

/// Works a node's reputation out anew.
pub fn reassess(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<Reputation> {
    let assessed = reputation(&record(tx, node_id, now)?);
    let rounded = hundredths(assessed.score) as f64 / 100.0;
    let before = reputation_days::load_state(tx, node_id)?;
    tx.run("UPDATE nodes SET reputation = $2 WHERE node_id = $1", params![node_id, rounded])?;
    reputation_days::record_point(tx, node_id, before, now)?;
    Ok(assessed)
}
