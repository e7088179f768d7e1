//! Scores: what is known of an asset or a node is gathered here and handed to the rules.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::DAY_MS;
use crate::db::row::joined;
use crate::db::tx::Tx;
use crate::evaluation::evidence::validation::{Validation, keep_proof, load_validation};
use crate::evaluation::owners::{self, NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::owners::{owner_evidence, trust};
use crate::evaluation::{voices, weighted_reports};
use crate::nodes::reputation_days;
use crate::{params, search};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ConsensusTally, ReportVote, tally};
use capsid_rules::evaluation::gdi::{Gdi, GdiInputs, OwnerEvidence, gdi, hundredths as score_hundredths};
use capsid_rules::evaluation::reputation::{NodeRecord, Reputation, decayed_until, hundredths, reputation};
use std::collections::BTreeSet;

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
    let reports = weighted_reports::load_others(tx, id)?;
    let with_reviews = weighted_reports::add_reviews(tx, id, &reports)?;
    let counted = weighted_reports::counted_reports(&with_reviews);
    let Validation { declared, shown: validation } = load_validation(tx, asset, &reports)?;
    let mut owners = OwnerEvidence::default();
    let proofs = (declared, validation);
    owner_evidence::add_reports(&mut owners, &counted, proofs, tx.trust().grades, now);
    owner_evidence::add_fetches(tx, &mut owners, id, now)?;
    owner_evidence::add_votes(tx, &mut owners, id)?;
    let votes: Vec<ReportVote> = reports.iter().map(|report| report.vote.clone()).collect();
    let tally = tally(&votes);
    let month_ago = now.0 - 30 * DAY_MS;
    let small = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
    Ok(GdiInputs {
        confidence: asset.traits.confidence,
        success_streak: small(asset.traits.success_streak),
        files: small(asset.traits.blast_files),
        lines: small(asset.traits.blast_lines),
        triggers: small(asset.traits.triggers),
        summary_chars: small(asset.traits.summary_chars),
        reputation: publisher_reputation(tx, &asset.node_id)?,
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
        has_event: asset.traits.has_event,
        days_since_activity: now.days_since(Time(asset.last_activity_at)).max(0.0),
        other_owners: other_owners(tx, id, &votes)?,
        validation,
        owners,
    })
}

/// The reputation of a publisher as scores count it.
pub fn publisher_reputation(tx: &mut dyn Tx, node_id: &str) -> Result<f64> {
    let reputation = tx.query_one::<f64>(
        "SELECT COALESCE(reputation_override, reputation) FROM nodes WHERE node_id = $1",
        params![node_id],
    )?;
    let policy = tx.trust().owners;
    if !policy.reputation_caps {
        return Ok(reputation);
    }
    let owner = owners::find_ownership(tx, node_id)?.map(|found| found.owner_key(&policy));
    let level = owners::load_standing(tx, owner.as_deref().unwrap_or_default())?.level;
    Ok(policy.capped_reputation(reputation, level))
}

/// How many other owners fetched or reported an asset. More than a few make no difference.
fn other_owners(tx: &mut dyn Tx, id: &AssetId, reports: &[ReportVote]) -> Result<u32> {
    let policy = tx.trust().owners;
    let fetchers = tx.query_all::<NodeOwnership>(
        joined!(
            " ",
            "SELECT",
            OWNERSHIP_COLUMNS,
            "FROM fetches f JOIN nodes n ON n.node_id = f.node_id
             WHERE f.asset_id = $1 AND f.counts = 1 ORDER BY f.node_id LIMIT 100"
        ),
        params![id],
    )?;
    let fetched = fetchers.iter().map(|node| node.owner_key(&policy));
    let reporting = reports.iter().filter(|report| report.weight > 0.0).map(|report| report.owner.clone());
    let owners: BTreeSet<String> = fetched.chain(reporting).collect();
    Ok(owners.len().min(100) as u32)
}

/// Scores an asset anew, and moves it in the search when the score changed.
pub fn rescore(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<Option<Gdi>> {
    let Some(asset) = assets::get(tx, id)? else { return Ok(None) };
    let asset = keep_proof(tx, asset)?;
    let evidence = evidence(tx, &asset, now)?;
    let score = gdi(&evidence, &tx.trust().belief);
    let trust = serde_json::to_string(&trust::load_trust(tx, &asset)?)
        .map_err(|error| crate::damaged(format!("The trust in an asset cannot be written: {error}.")))?;
    assets::set_score(tx, id, &score, (evidence.owners.successes, &trust), now.0)?;
    search::rescored(tx, &asset, score_hundredths(score.score), now)?;
    Ok(Some(score))
}

/// Published, promoted, rejected, revoked, the penalty and its time.
type NodeTotals = (i64, i64, i64, i64, f64, i64);

/// What the owner of a node did, as far as its reputation goes: all nodes of an account have one record.
pub fn record(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<NodeRecord> {
    let small = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
    let nodes = tx.query_all::<NodeTotals>(
        "SELECT n.total_published, n.total_promoted, n.total_rejected, n.total_revoked, n.penalty, n.penalty_at
         FROM nodes n WHERE n.node_id = $1 OR n.owner = (SELECT m.owner FROM nodes m WHERE m.node_id = $1)
         ORDER BY n.node_id",
        params![node_id],
    )?;
    if nodes.is_empty() {
        return Err(crate::damaged(format!("The node {node_id} is named, but is not there in `nodes`.")));
    }
    let sum = |of: fn(&NodeTotals) -> i64| small(nodes.iter().map(of).sum());
    let (confidence, reused, gdi) = tx.query_one::<(f64, i64, f64)>(
        "SELECT COALESCE(AVG(CASE WHEN a.reuse_count > 0 THEN a.confidence END), 0),
            CAST(COALESCE(SUM(CASE WHEN a.reuse_count > 0 THEN 1 ELSE 0 END), 0) AS BIGINT),
            COALESCE(CAST(AVG(a.gdi) AS DOUBLE PRECISION), 0)
         FROM nodes n JOIN assets a ON a.node_id = n.node_id
         WHERE (n.node_id = $1 OR n.owner = (SELECT m.owner FROM nodes m WHERE m.node_id = $1)) AND a.asset_type = 'Capsule' AND a.status IN ('promoted', 'stale', 'archived')",
        params![node_id],
    )?;
    Ok(NodeRecord {
        published: sum(|node| node.0),
        promoted: sum(|node| node.1),
        rejected: sum(|node| node.2),
        revoked: sum(|node| node.3),
        penalty: nodes.iter().map(|node| decayed_until(node.4, node.5, now.0).0).sum(),
        validated_confidence: confidence,
        reused_by_others: small(reused),
        average_gdi: gdi / 100.0,
    })
}

/// Works the reputation of a node's owner out anew, for all its nodes.
pub fn reassess(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<Reputation> {
    let assessed = reassess_node(tx, node_id, now)?;
    let others = tx.query_all::<String>(
        "SELECT n.node_id FROM nodes m JOIN nodes n ON n.owner = m.owner WHERE m.node_id = $1 AND n.node_id <> $1
         ORDER BY n.node_id",
        params![node_id],
    )?;
    for other in others {
        set_reputation(tx, &other, &assessed, now)?;
    }
    Ok(assessed)
}

/// Works the reputation of one node out anew, by the record of its owner.
pub fn reassess_node(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<Reputation> {
    let assessed = reputation(&record(tx, node_id, now)?);
    set_reputation(tx, node_id, &assessed, now)?;
    Ok(assessed)
}

fn set_reputation(tx: &mut dyn Tx, node_id: &str, assessed: &Reputation, now: Time) -> Result<()> {
    let rounded = hundredths(assessed.score) as f64 / 100.0;
    let before = reputation_days::load_state(tx, node_id)?;
    tx.run("UPDATE nodes SET reputation = $2 WHERE node_id = $1", params![node_id, rounded])?;
    reputation_days::record_point(tx, node_id, before, now)
}
