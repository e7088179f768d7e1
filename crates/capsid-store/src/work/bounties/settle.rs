//! The end of a bounty: it is paid, given back, or what was handed in is sent back.

use super::shares::{self, BountyShare};
use super::{BountyRow, advance, disputes, escrow_account, lock, notify_creator};
use crate::db::tx::Tx;
use crate::evaluation::rewards::held_rewards::{self, Earning, KeylessPay};
use crate::ledger::{self, Transfer};
use crate::notifications::notices;
use crate::work::swarm;
use crate::work::tasks;
use crate::work::tasks::{TaskRow, submissions};
use crate::{assets, nodes, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::work::bounties::{BountyEvent, BountyStatus, UndecidedOutcome, commission, payout};
use capsid_rules::work::tasks::TaskStatus;

/// How this hub settles.
#[derive(Debug, Clone, Copy)]
pub struct SettlementTerms {
    /// What the hub keeps, in thousandths of a percent.
    pub commission_milli: i64,
    pub service_commission_milli: i64,
    /// Whether nodes of low reputation get half.
    pub reduces: bool,
    /// What becomes of what nobody decided on.
    pub undecided: UndecidedOutcome,
    /// Whether the creator sees only a preview until it opens or accepts what was handed in.
    pub preview: bool,
    /// How long a rejection of what the creator has read can be disputed; 0 for not at all.
    pub dispute_ms: i64,
    /// Whether what keyless nodes earn is held.
    pub keyless: KeylessPay,
}

impl SettlementTerms {
    /// Whether whoever did the task can dispute a rejection: the creator has read it, and may use it.
    pub fn can_be_disputed(&self, bounty: &BountyRow) -> bool {
        self.dispute_ms > 0 && (!self.preview || bounty.is_opened())
    }

    /// What is left for those who did the task of a bounty of this source, once the hub has its part.
    pub fn net(&self, amount: i64, source: &str) -> i64 {
        let rate = if source == "service" { self.service_commission_milli } else { self.commission_milli };
        amount - commission(amount, rate)
    }
}

/// How a decision went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BountyDecisionOutcome {
    /// It is carried out; this is how the bounty stands now.
    Done(BountyRow),
    /// There is no such bounty.
    NotFound,
    /// It cannot be done as the bounty stands.
    Refused(BountyRow),
}

/// The submission that a bounty is matched with: of a swarm, the one that merged the others.
pub fn matched_submission(tx: &mut dyn Tx, whole: &TaskRow) -> Result<Option<String>> {
    match whole.decomposed_at {
        None => Ok(whole.submission_id.clone()),
        Some(_) => Ok(swarm::aggregation(tx, &whole.task_id)?.and_then(|part| part.submission_id)),
    }
}

/// How the asset stands that a bounty is matched with.
pub fn matched_status(tx: &mut dyn Tx, bounty: &BountyRow) -> Result<Option<AssetStatus>> {
    let asset = bounty.matched_asset.as_ref().map(|id| assets::get(tx, id)).transpose()?.flatten();
    Ok(asset.map(|asset| asset.status))
}

/// Whether what was handed in was withdrawn, refused or held back since.
pub(super) fn is_gone(tx: &mut dyn Tx, bounty: &BountyRow) -> Result<bool> {
    Ok(matched_status(tx, bounty)?.is_some_and(AssetStatus::is_unusable))
}

/// Accepts what was handed in, and pays; `outcome` says who did, and why. Accepting again changes nothing and is no error.
/// What was withdrawn meanwhile is refused.
pub fn accept(
    tx: &mut dyn Tx,
    bounty_id: &str,
    actor: &str,
    outcome: &str,
    terms: &SettlementTerms,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(BountyDecisionOutcome::NotFound) };
    if bounty.status == BountyStatus::Accepted {
        return Ok(BountyDecisionOutcome::Done(bounty));
    }
    if is_gone(tx, &bounty)? {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    if !advance(tx, &bounty, BountyEvent::Accept, &whole, actor, Some(outcome), now)? {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    pay_and_end(tx, &bounty, &whole, bounty.amount, outcome, terms, now)?;
    current(tx, &bounty)
}

/// Pays part of the escrow to those who did the task, refunds the rest and ends the bounty.
pub(super) fn pay_and_end(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    gross: i64,
    outcome: &str,
    terms: &SettlementTerms,
    now: Time,
) -> Result<()> {
    let shares = payouts_of(tx, bounty, whole, gross, terms)?;
    pay_share(tx, bounty, whole, &shares, gross, terms, now)?;
    end(tx, &bounty.bounty_id, outcome, now)?;
    for (share, _) in &shares {
        if let Some(submission) = &share.submission_id {
            submissions::end(tx, submission, "accepted", now)?;
        }
    }
    notify_creator(tx, bounty, whole, "bounty_paid", now)
}

/// What everybody who works on a bounty's task would be paid if what is handed in for it were accepted now: without
/// what the hub keeps, and without what nodes of low reputation do not get.
pub fn expected_payouts(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    terms: &SettlementTerms,
) -> Result<Vec<(BountyShare, i64)>> {
    payouts_of(tx, bounty, whole, bounty.amount, terms)
}

fn payouts_of(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    gross: i64,
    terms: &SettlementTerms,
) -> Result<Vec<(BountyShare, i64)>> {
    let shares = shares::shares(tx, bounty, whole)?;
    let amounts = shares::amounts(tx, terms.net(gross, &bounty.source), whole, &shares)?;
    let mut net = Vec::with_capacity(shares.len());
    for (share, amount) in shares.into_iter().zip(amounts) {
        let missing =
            || crate::damaged(format!("The node {} shares in a bounty, but is not there.", share.node_id));
        let reputation = nodes::get(tx, &share.node_id)?.ok_or_else(missing)?.reputation;
        net.push((share, payout(amount, reputation, terms.reduces)));
    }
    Ok(net)
}

fn pay_share(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    shares: &[(BountyShare, i64)],
    gross: i64,
    terms: &SettlementTerms,
    now: Time,
) -> Result<()> {
    lock_payees(tx, bounty, shares)?;
    let commission = gross - terms.net(gross, &bounty.source);
    let mut left = bounty.amount - commission;
    move_out(tx, bounty, "commission", "commission", ledger::HUB, commission, now)?;
    let source = match (bounty.source.as_str(), whole.decomposed_at) {
        ("service", _) => "service",
        (_, Some(_)) => "swarm",
        _ => "bounty",
    };
    for (share, paid) in shares {
        let earning = Earning {
            node_id: &share.node_id,
            from: &escrow_account(&bounty.bounty_id),
            source,
            reference: &format!("bounty:{}:pay:{}", bounty.bounty_id, share.task_id),
            amount: *paid,
        };
        let is_held = held_rewards::pay_or_hold(tx, earning, terms.keyless, now)?;
        left -= paid;
        let mut notice = whole
            .notice("bounty_paid")
            .with("amount", credits::to_decimal(*paid))
            .with("role", share.role)
            .with("paid_for", share.task_id.as_str());
        if is_held {
            notice = notice.with("held_until", "The node shows its secret, or somebody claims it.");
        }
        notices::notify_node(tx, &share.node_id, &notice, now)?;
    }
    // What nobody was due, for want of reputation or of an agreement, is the creator's again.
    move_out(tx, bounty, "rest", "refund", &bounty.creator, left, now)
}

/// Locks every account that a settlement touches, in the order in which everybody does.
fn lock_payees(tx: &mut dyn Tx, bounty: &BountyRow, shares: &[(BountyShare, i64)]) -> Result<()> {
    if bounty.amount == 0 {
        return Ok(());
    }
    let mut accounts: Vec<String> =
        shares.iter().map(|(share, _)| ledger::node_account(&share.node_id)).collect();
    accounts.extend([escrow_account(&bounty.bounty_id), ledger::HUB.to_owned(), bounty.creator.clone()]);
    let accounts: Vec<&str> = accounts.iter().map(String::as_str).collect();
    ledger::lock_accounts(tx, &accounts)
}

/// Moves credits out of what was put aside; nothing when the amount is zero.
fn move_out(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    what: &str,
    kind: &str,
    to: &str,
    amount: i64,
    now: Time,
) -> Result<()> {
    if amount == 0 {
        return Ok(());
    }
    let (reference, hold) =
        (format!("bounty:{}:{what}", bounty.bounty_id), escrow_account(&bounty.bounty_id));
    match ledger::transfer(tx, Transfer { reference: &reference, kind, from: &hold, to, amount }, now)? {
        ledger::TransferOutcome::Done => Ok(()),
        other => Err(crate::damaged(format!(
            "The bounty {} could not be settled: `{what}` of {amount}: {other:?}.",
            bounty.bounty_id
        ))),
    }
}

/// Gives all that was put aside back to the creator. False when the step cannot be taken. Bounty and task are locked.
pub(crate) fn refund(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    step: BountyEvent,
    actor: &str,
    outcome: &str,
    now: Time,
) -> Result<bool> {
    if !advance(tx, bounty, step, whole, actor, Some(outcome), now)? {
        return Ok(false);
    }
    move_out(tx, bounty, "refund", "refund", &bounty.creator, bounty.amount, now)?;
    end(tx, &bounty.bounty_id, outcome, now)?;
    notify_creator(tx, bounty, whole, "bounty_refunded", now)?;
    Ok(true)
}

pub(super) fn end(tx: &mut dyn Tx, bounty_id: &str, outcome: &str, now: Time) -> Result<()> {
    // Whoever began earlier may come later.
    tx.run(
        "UPDATE bounties SET settled_at = CASE WHEN COALESCE(matched_at, created_at) > $2
            THEN COALESCE(matched_at, created_at) ELSE $2 END, outcome = $3 WHERE bounty_id = $1",
        params![bounty_id, now, outcome],
    )?;
    Ok(())
}

pub(super) fn current(tx: &mut dyn Tx, bounty: &BountyRow) -> Result<BountyDecisionOutcome> {
    Ok(BountyDecisionOutcome::Done(super::reload(tx, &bounty.bounty_id)?))
}

/// Sends back what was handed in: others may try until the bounty expires, which it does at once when its time is over.
/// What the creator has read is held until the rejection can no longer be disputed.
pub fn reject(
    tx: &mut dyn Tx,
    bounty_id: &str,
    actor: &str,
    reason: Option<&str>,
    terms: &SettlementTerms,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(BountyDecisionOutcome::NotFound) };
    // What was withdrawn meanwhile is nothing to argue about.
    if terms.can_be_disputed(&bounty) && !is_gone(tx, &bounty)? {
        return disputes::reject_read(tx, &bounty, &whole, actor, reason, terms, now);
    }
    if !advance(tx, &bounty, BountyEvent::Reject, &whole, actor, reason, now)? {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    reopen(tx, &bounty, &whole, actor, reason, now)?;
    current(tx, &bounty)
}

/// Lets others try after a rejection.
pub(super) fn reopen(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    tx.run(
        "UPDATE bounties SET matched_asset = NULL, matched_node = NULL, matched_at = NULL, decide_by = NULL,
            dispute_by = NULL WHERE bounty_id = $1",
        params![&bounty.bounty_id],
    )?;
    tasks::complete::undo(tx, whole, actor, reason, now)?;
    if whole.expires_at <= now.0 {
        tasks::expire::expire(tx, &whole.task_id, now)?;
    }
    Ok(())
}

/// Takes a bounty back that nobody works on. `outcome` says who did, and why. A creator who has read an answer cannot.
pub fn cancel(
    tx: &mut dyn Tx,
    bounty_id: &str,
    actor: &str,
    outcome: &str,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(BountyDecisionOutcome::NotFound) };
    if bounty.status == BountyStatus::Cancelled {
        return Ok(BountyDecisionOutcome::Done(bounty));
    }
    if bounty.opened_at.is_some() || !refund(tx, &bounty, &whole, BountyEvent::Cancel, actor, outcome, now)? {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    tasks::set_status(tx, &whole, TaskStatus::Cancelled, actor, "cancel", None, now)?;
    current(tx, &bounty)
}

/// Ends a bounty that was not paid, whoever works on it, with its task and all its parts. For admins. One whose creator has
/// read an answer is decided by accepting, rejecting or a dispute.
pub fn withdraw(
    tx: &mut dyn Tx,
    bounty_id: &str,
    actor: &str,
    outcome: &str,
    now: Time,
) -> Result<BountyDecisionOutcome> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(BountyDecisionOutcome::NotFound) };
    if bounty.status == BountyStatus::Cancelled {
        return Ok(BountyDecisionOutcome::Done(bounty));
    }
    if bounty.opened_at.is_some() || !refund(tx, &bounty, &whole, BountyEvent::Withdraw, actor, outcome, now)?
    {
        return Ok(BountyDecisionOutcome::Refused(bounty));
    }
    for task in tasks::parts(tx, &whole.task_id)?.iter().chain([&whole]) {
        tasks::expire::withdraw(tx, task, actor, outcome, now)?;
    }
    current(tx, &bounty)
}

/// Finds bounties that nobody decided on in time. Only reads.
pub fn find_undecided(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<Vec<String>> {
    tx.query_all::<String>("SELECT bounty_id FROM bounties WHERE status = 'matched' AND decide_by <= $1 ORDER BY decide_by, seq LIMIT $2", params![now, limit])
}

/// Ends a bounty that nobody decided on in time. May be repeated.
pub fn decide(tx: &mut dyn Tx, bounty_id: &str, terms: &SettlementTerms, now: Time) -> Result<bool> {
    let Some((bounty, whole)) = lock(tx, bounty_id)? else { return Ok(false) };
    let late = bounty.decide_by.is_some_and(|by| by <= now.0);
    if bounty.status != BountyStatus::Matched || !late {
        return Ok(false);
    }
    let gone = is_gone(tx, &bounty)?;
    // Who has read the answer and says nothing has it for good.
    let is_due = terms.undecided == UndecidedOutcome::Pay || bounty.is_opened();
    match is_due && !gone {
        true => {
            let outcome = "Paid: the creator did not decide in time.";
            accept(tx, bounty_id, "hub", outcome, terms, now)?;
        }
        false => {
            let outcome = match gone {
                true => "Given back: what was handed in was withdrawn.",
                false => "Given back: the creator did not decide in time.",
            };
            refund(tx, &bounty, &whole, BountyEvent::Expire, "hub", outcome, now)?;
            for share in shares::shares(tx, &bounty, &whole)? {
                if let Some(submission) = &share.submission_id {
                    submissions::end(tx, submission, "expired", now)?;
                }
                let notice = whole.notice("bounty_expired").with("outcome", outcome);
                notices::notify_node(tx, &share.node_id, &notice, now)?;
            }
        }
    }
    Ok(true)
}
