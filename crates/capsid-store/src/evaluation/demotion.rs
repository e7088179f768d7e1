//! What failing reports do: a promoted asset is demoted, a candidate that nobody passed is rejected. Those who fetched a
//! demoted asset are notified.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::audit::{self, AuditChange};
use crate::db::tx::Tx;
use crate::evaluation::lifecycle::{self, StatusChangeOutcome};
use crate::evaluation::promotion::AssetWalkStep;
use crate::evaluation::voices::{self, AssetVoices};
use crate::evaluation::{moderation, scoring};
use crate::notifications::events;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{count_owners, tally};
use capsid_rules::evaluation::demotion::{FINAL_DEMOTION, FailureFacts, FailureStep, failure_step};
use capsid_rules::evaluation::promotion::PromotionRule;
use capsid_rules::evaluation::quorum::ArbiterRule;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus, AssetType, TrustTier};

/// The most nodes that are notified of one demotion, those that fetched it last first.
const MAX_NOTIFIED: i64 = 1_000;

/// Finds assets that somebody reported as failing, by walking through the reports. Only reads.
pub fn find_failing(tx: &mut dyn Tx, after: i64, limit: i64) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId, bool)>(
        "SELECT r.seq, r.asset_id, CASE WHEN r.overall_ok = 0 AND r.weight > 0 AND EXISTS (
            SELECT 1 FROM assets a WHERE a.asset_id = r.asset_id
                AND a.status IN ('candidate', 'promoted', 'stale')) THEN 1 ELSE 0 END
         FROM reports r WHERE r.seq > $1 ORDER BY r.seq LIMIT $2",
        params![after, limit],
    )?;
    let rows = rows.into_iter().map(|(seq, id, is_failing)| (seq, is_failing.then_some(id))).collect();
    let mut step = AssetWalkStep::from_rows(rows, limit);
    step.found.sort_unstable();
    step.found.dedup();
    Ok(step)
}

/// Does what follows from the failures of an asset. Gives what that was. Where reports on a candidate disagree, an arbiter is
/// asked, if the hub wants one.
pub fn reconsider(
    tx: &mut dyn Tx,
    id: &AssetId,
    rule: &PromotionRule,
    now: Time,
) -> Result<Option<FailureStep>> {
    let Some(asset) = assets::lock(tx, id)? else { return Ok(None) };
    // Genes and events share the fate of their capsule.
    if asset.asset_type != AssetType::Capsule {
        return Ok(None);
    }
    let voices = voices::load(tx, id)?;
    if asset.status == AssetStatus::Candidate
        && rule.quorum.arbiter != ArbiterRule::Off
        && voices.is_disputed()
    {
        moderation::ask_arbiter(tx, &asset, now)?;
    }
    let Some(facts) = load_failures(tx, &asset, &voices, now)? else { return Ok(None) };
    let Some(step) = failure_step(&facts, rule.demote_owners) else { return Ok(None) };
    let reason = describe(&facts);
    match step {
        FailureStep::Observe => observe(tx, &asset, &reason, now)?,
        FailureStep::Reject if asset.status == AssetStatus::Candidate => {
            lifecycle::change(tx, id, AssetEvent::Reject, "hub", Some(&reason), now)?;
        }
        FailureStep::Demote | FailureStep::Reject => {
            demote(tx, id, "hub", &reason, now)?;
        }
    }
    scoring::rescore(tx, id, now)?;
    Ok(Some(step))
}

fn describe(facts: &FailureFacts) -> String {
    match facts.arbiter {
        Some(false) => "an arbiter reported that it fails".to_owned(),
        Some(true) | None => {
            format!("{} owners reported that it fails", facts.failed_owners).replace("1 owners", "1 owner")
        }
    }
}

fn load_failures(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    voices: &AssetVoices,
    now: Time,
) -> Result<Option<FailureFacts>> {
    let id = &asset.asset_id;
    let arbiter = voices.arbiter.map(|arbiter| arbiter.passed);
    let unsettled = voices.unsettled();
    let failed_owners = u32::try_from(count_owners(&unsettled, false)).unwrap_or(u32::MAX);
    if failed_owners == 0 && arbiter != Some(false) {
        return Ok(None);
    }
    let demotions = tx.count("SELECT demotions FROM assets WHERE asset_id = $1", params![id])?;
    let is_waiting = tx.exists(
        "SELECT 1 FROM assignments WHERE asset_id = $1 AND state = 'open' AND expires_at > $2",
        params![id, now],
    )?;
    Ok(Some(FailureFacts {
        status: asset.status,
        tier: TrustTier::parse(&asset.trust_tier).unwrap_or(TrustTier::Normal),
        verdict: tally(&unsettled).verdict,
        failed_owners,
        passed_owners: voices.count_owners(true),
        arbiter,
        demotions: u32::try_from(demotions).unwrap_or(u32::MAX),
        is_waiting,
    }))
}

fn observe(tx: &mut dyn Tx, asset: &AssetRow, reason: &str, now: Time) -> Result<()> {
    let (before, after) = (asset.trust_tier.as_str(), TrustTier::Observation.as_str());
    tx.run("UPDATE assets SET trust_tier = $2 WHERE asset_id = $1", params![&asset.asset_id, after])?;
    let subject = asset.asset_id.to_string();
    let change = AuditChange {
        kind: "asset",
        subject: &subject,
        action: "observe",
        before: Some(before),
        after: Some(after),
        reason: Some(reason),
    };
    audit::add(tx, "hub", change, now)
}

/// Takes back an asset that is given out: it is a candidate again, and rejected the third time. Whoever fetched it is
/// notified. Gives the state it is in.
pub fn demote(tx: &mut dyn Tx, id: &AssetId, actor: &str, reason: &str, now: Time) -> Result<AssetStatus> {
    let changed = lifecycle::change(tx, id, AssetEvent::Demote, actor, Some(reason), now)?;
    if matches!(changed, StatusChangeOutcome::Done { .. }) {
        notify_fetchers(tx, id, reason, now)?;
        let demotions = tx.count("SELECT demotions FROM assets WHERE asset_id = $1", params![id])?;
        if demotions >= i64::from(FINAL_DEMOTION) {
            let reason = format!("demoted {demotions} times: {reason}");
            lifecycle::change(tx, id, AssetEvent::Reject, actor, Some(&reason), now)?;
        }
        scoring::rescore(tx, id, now)?;
    }
    let asset = assets::get(tx, id)?;
    asset.map(|asset| asset.status).ok_or_else(|| crate::damaged(format!("The asset {id} is gone.")))
}

fn notify_fetchers(tx: &mut dyn Tx, id: &AssetId, reason: &str, now: Time) -> Result<()> {
    let fetchers = tx.query_all::<String>(
        "SELECT node_id FROM fetches WHERE asset_id = $1 AND counts = 1 ORDER BY last_at DESC, node_id LIMIT $2",
        params![id, MAX_NOTIFIED],
    )?;
    let payload = serde_json::json!({"asset_id": id, "reason": reason});
    for node_id in fetchers {
        events::insert_event(tx, &node_id, "asset_demoted", &payload.to_string(), now)?;
    }
    Ok(())
}

/// Finds events that are given out although their capsule was withdrawn: older versions left them there. Only reads.
pub fn find_orphaned_events(tx: &mut dyn Tx, after: i64, limit: i64) -> Result<AssetWalkStep> {
    let rows = tx.query_all::<(i64, AssetId, bool)>(
        "SELECT e.seq, e.asset_id, CASE WHEN c.status = 'revoked' AND c.node_id = e.node_id THEN 1 ELSE 0 END
         FROM assets e JOIN bundles b ON b.bundle_id = e.bundle_id JOIN assets c ON c.asset_id = b.capsule_id
         WHERE e.status = 'promoted' AND e.asset_type = 'EvolutionEvent' AND e.seq > $1 ORDER BY e.seq LIMIT $2",
        params![after, limit],
    )?;
    let rows = rows.into_iter().map(|(seq, id, is_orphaned)| (seq, is_orphaned.then_some(id))).collect();
    Ok(AssetWalkStep::from_rows(rows, limit))
}

/// Withdraws an event with its capsule.
pub fn withdraw_event(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<bool> {
    let changed =
        lifecycle::change(tx, id, AssetEvent::Revoke, "hub", Some("its capsule was withdrawn"), now)?;
    Ok(matches!(changed, StatusChangeOutcome::Done { .. }))
}
