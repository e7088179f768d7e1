//! Bounties whose creator has read the answer and rejected it: the credits stay aside until it is clear who gets them.

use super::settle::{self, BountyDecisionOutcome, SettlementTerms};
use super::{BountyRow, advance, lock, notify_creator};
use crate::db::tx::Tx;
use crate::evaluation::moderation::{self, CaseKind, ModerationCaseRow};
use crate::evaluation::weighted_reports;
use crate::notifications::notices;
use crate::params;
use crate::work::tasks::TaskRow;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::work::bounties::{
    ARBITER_MS, BountyEvent, BountyStatus, DisputeDecision, undecided_dispute,
};

/// Records that the creator has read what was handed in. False when nothing is handed in.
pub fn record_opening(tx: &mut dyn Tx, bounty_id: &str, actor: &str, now: Time) -> Result<bool> {
    let Some((bounty, _)) = lock(tx, bounty_id)? else { return Ok(false) };
    if bounty.status != BountyStatus::Matched {
        return Ok(false);
    }
    if !bounty.is_opened() {
        tx.run("UPDATE bounties SET opened_at = $2 WHERE bounty_id = $1", params![bounty_id, now])?;
        super::audit_change(tx, actor, bounty_id, "open", Some(bounty.status), bounty.status, None, now)?;
    }
    Ok(true)
}

/// Rejects what the creator has read. Whoever did the task may dispute that for a while.
pub(super) fn reject_read(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    actor: &str,
    reason: Option<&str>,
    terms: &SettlementTerms,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    if !advance(tx, bounty, BountyEvent::RejectRead, whole, actor, reason, now)? {
        return Ok(BountyDecisionOutcome::Refused(bounty.clone()));
    }
    let until = now.0.saturating_add(terms.dispute_ms);
    tx.run(
        "UPDATE bounties SET opened_at = COALESCE(opened_at, matched_at), rejected_at = $2, rejection = $3,
            dispute_by = $4, disputed_at = NULL, dispute = NULL WHERE bounty_id = $1",
        params![&bounty.bounty_id, now, reason, until],
    )?;
    if let Some(node_id) = &bounty.matched_node {
        let notice = whole
            .notice("bounty_rejected")
            .with("bounty_id", bounty.bounty_id.as_str())
            .with("reason", reason)
            .with("dispute_by", Time(until).iso());
        notices::notify_node(tx, node_id, &notice, now)?;
    }
    settle::current(tx, bounty)
}

/// Opens a dispute about a rejection, within its time.
pub fn open_dispute(
    tx: &mut dyn Tx,
    bounty_id: &str,
    actor: &str,
    reason: &str,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(BountyDecisionOutcome::NotFound) };
    if bounty.status == BountyStatus::Disputed {
        return Ok(BountyDecisionOutcome::Done(bounty));
    }
    let is_late = bounty.dispute_by.is_none_or(|by| by <= now.0);
    if is_late || !advance(tx, &bounty, BountyEvent::Dispute, &whole, actor, Some(reason), now)? {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    tx.run(
        "UPDATE bounties SET disputed_at = $2, dispute = $3, dispute_by = $4 WHERE bounty_id = $1",
        params![bounty_id, now, reason, now.0.saturating_add(ARBITER_MS)],
    )?;
    let node_id = bounty.matched_node.as_deref().unwrap_or_default();
    moderation::open_case(tx, CaseKind::Dispute, bounty_id, node_id, reason, now)?;
    notify_creator(tx, &bounty, &whole, "bounty_disputed", now)?;
    settle::current(tx, &bounty)
}

/// Decides a dispute.
pub fn resolve(
    tx: &mut dyn Tx,
    bounty_id: &str,
    decision: DisputeDecision,
    actor: &str,
    outcome: &str,
    terms: &SettlementTerms,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(BountyDecisionOutcome::NotFound) };
    if bounty.status != BountyStatus::Disputed {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    carry_out(tx, &bounty, &whole, decision, actor, outcome, terms, now)?;
    settle::current(tx, &bounty)
}

#[allow(clippy::too_many_arguments)]
fn carry_out(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    decision: DisputeDecision,
    actor: &str,
    outcome: &str,
    terms: &SettlementTerms,
    now: Time,
) -> Result<()> {
    let (step, paid) = match decision {
        DisputeDecision::Solver => (BountyEvent::Accept, bounty.amount),
        DisputeDecision::Split => (BountyEvent::Accept, bounty.amount / 2),
        DisputeDecision::Creator => (BountyEvent::Uphold, 0),
    };
    if !advance(tx, bounty, step, whole, actor, Some(outcome), now)? {
        return Err(crate::damaged(format!("The bounty {} cannot be decided.", bounty.bounty_id)));
    }
    let case = moderation::lock_subject(tx, CaseKind::Dispute, &bounty.bounty_id)?;
    if let Some(case) = case.filter(ModerationCaseRow::is_open) {
        moderation::decide(tx, &case, decision.as_str(), actor, Some(outcome), now)?;
    }
    match decision {
        DisputeDecision::Creator => settle::reopen(tx, bounty, whole, actor, Some(outcome), now),
        _ => settle::pay_and_end(tx, bounty, whole, paid, outcome, terms, now),
    }
}

/// Finds rejections and disputes whose time is over. Only reads.
pub fn find_due(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<Vec<String>> {
    tx.query_all::<String>(
        "SELECT bounty_id FROM bounties WHERE status IN ('rejected', 'disputed') AND dispute_by <= $1
         ORDER BY dispute_by, seq LIMIT $2",
        params![now, limit],
    )
}

/// Whether the creator's owner fetched what it rejected since then, or published a near copy of it.
fn is_used(tx: &mut dyn Tx, bounty: &BountyRow) -> Result<bool> {
    let (Some(asset), Some(since)) = (&bounty.matched_asset, bounty.rejected_at) else { return Ok(false) };
    tx.exists(
        "SELECT 1 FROM nodes n WHERE ('node:' || n.node_id = $1 OR 'user:' || n.owner = $1
                OR n.owner = (SELECT c.owner FROM nodes c WHERE 'node:' || c.node_id = $1))
            AND (EXISTS (SELECT 1 FROM fetches f WHERE f.asset_id = $2 AND f.node_id = n.node_id AND f.last_at > $3)
                OR EXISTS (SELECT 1 FROM assets a WHERE a.node_id = n.node_id AND a.similar_to = $2
                    AND a.created_at > $3)) LIMIT 1",
        params![&bounty.creator, asset, since],
    )
}

/// Whether another owner whose word counts, or the hub's runner, reproduced what was handed in.
fn is_reproduced(tx: &mut dyn Tx, bounty: &BountyRow) -> Result<bool> {
    let Some(asset) = bounty.matched_asset else { return Ok(false) };
    let reports = weighted_reports::load_others(tx, &asset)?;
    let reproduces = |grade| matches!(grade, EvidenceGrade::Reproduced | EvidenceGrade::Hub);
    Ok(reports.iter().any(|report| report.vote.ok && report.vote.weight > 0.0 && reproduces(report.grade)))
}

/// Ends a rejection or a dispute by the rule: what its creator uses all the same is paid; a rejection that nobody disputed
/// stands; a dispute that nobody decided is paid in full where the solution was reproduced, otherwise by half. May be
/// repeated.
pub fn settle_due(tx: &mut dyn Tx, bounty_id: &str, terms: &SettlementTerms, now: Time) -> Result<bool> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(false) };
    if !matches!(bounty.status, BountyStatus::Rejected | BountyStatus::Disputed) {
        return Ok(false);
    }
    if bounty.dispute_by.is_none_or(|by| by > now.0) {
        return Ok(false);
    }
    let (decision, outcome) = if is_used(tx, &bounty)? && !settle::is_gone(tx, &bounty)? {
        (DisputeDecision::Solver, "Paid: the creator uses what it rejected.")
    } else if bounty.status == BountyStatus::Rejected {
        (DisputeDecision::Creator, "The rejection was not disputed in time.")
    } else {
        match undecided_dispute(is_reproduced(tx, &bounty)?) {
            DisputeDecision::Solver => (DisputeDecision::Solver, "Paid: the solution was reproduced."),
            other => (other, "Shared: nobody decided the dispute in time."),
        }
    };
    carry_out(tx, &bounty, &whole, decision, "hub", outcome, terms, now)?;
    Ok(true)
}
