//! Bounties: credits put aside for a task, until they are paid or given back.
//!
//! Every state has an end. What is open or claimed expires with its task, and what was handed in is decided on, by the
//! creator or by time. Each end moves all that was put aside, and says in `outcome` how it ended.

pub mod assign;
pub mod disputes;
pub mod list;
pub mod payouts;
pub mod settle;
pub mod shares;

use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::ledger::{self, Transfer, TransferOutcome};
use crate::notifications::notices;
use crate::work::announcements;
use crate::work::tasks;
use crate::work::tasks::{NewTask, TaskRow};
use crate::{nodes, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits::CreditSource;
use capsid_rules::work::bounties::{BountyEvent, BountyStatus, decide_by, step};

row! {
    /// A bounty.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BountyRow {
        /// Its place in the order of all bounties.
        pub seq: i64 = "b.seq",
        pub bounty_id: String = "b.bounty_id",
        pub task_id: String = "b.task_id",
        /// Who pays: `user:…` or `node:…`.
        pub creator: String = "b.creator",
        pub source: String = "b.source",
        /// The service that was ordered.
        pub listing_id: Option<String> = "b.listing_id",
        pub amount: i64 = "b.amount",
        pub status: BountyStatus = "b.status",
        pub matched_asset: Option<AssetId> = "b.matched_asset",
        pub matched_node: Option<String> = "b.matched_node",
        pub matched_at: Option<i64> = "b.matched_at",
        /// Until when the creator decides.
        pub decide_by: Option<i64> = "b.decide_by",
        /// When it was paid or refunded.
        pub settled_at: Option<i64> = "b.settled_at",
        /// How it ended, in a sentence.
        pub outcome: Option<String> = "b.outcome",
        pub created_at: i64 = "b.created_at",
        /// Until when its task may be done.
        pub expires_at: i64 = "b.expires_at",
        /// When the creator last read what was handed in.
        pub opened_at: Option<i64> = "b.opened_at",
        /// When and why the creator rejected it after that.
        pub rejected_at: Option<i64> = "b.rejected_at",
        pub rejection: Option<String> = "b.rejection",
        /// Until when a rejection may be disputed, or an arbiter decides.
        pub dispute_by: Option<i64> = "b.dispute_by",
        pub disputed_at: Option<i64> = "b.disputed_at",
        /// Why it is disputed.
        pub dispute: Option<String> = "b.dispute",
    }
}

impl BountyRow {
    /// Whether the creator has read what is handed in.
    pub fn is_opened(&self) -> bool {
        self.opened_at.is_some() && self.opened_at >= self.matched_at
    }
}

/// The account in which the credits of a bounty lie.
pub fn escrow_account(bounty_id: &str) -> String {
    format!("hold:bounty:{bounty_id}")
}

/// A bounty to be offered, with its task.
#[derive(Debug, Clone)]
pub struct NewBounty {
    /// Its id, which is new.
    pub bounty_id: String,
    pub source: &'static str,
    /// The service that is ordered.
    pub listing_id: Option<String>,
    /// Its task; asker, bounty and amount are those of the bounty.
    pub task: NewTask,
    /// The hash of what was asked, where the creator named it.
    pub request: Option<String>,
    /// From how many milli-credits up nodes are told at once.
    pub high_value: i64,
    /// Which credits of the creator can be offered.
    pub funds: CreditSource,
}

/// What is there under the id of a bounty that is to be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExistingBounty {
    Nothing,
    /// The same bounty: it was asked for before.
    Same(Box<BountyRow>),
    Other,
}

/// Looks whether a bounty was offered before. Whoever asks keeps the creator locked, so that it stays as it is found.
pub fn earlier(tx: &mut dyn Tx, bounty_id: &str, request: Option<&str>) -> Result<ExistingBounty> {
    let Some(bounty) = get(tx, bounty_id)? else { return Ok(ExistingBounty::Nothing) };
    let same = tx.exists(
        "SELECT 1 FROM bounties WHERE bounty_id = $1 AND request = $2",
        params![bounty_id, request],
    )?;
    Ok(if same { ExistingBounty::Same(Box::new(bounty)) } else { ExistingBounty::Other })
}

/// How offering went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferOutcome {
    Done(Box<BountyRow>),
    /// Whoever asks lacks credits; nothing moved.
    Insufficient {
        /// What they have.
        have: i64,
    },
}

/// Offers a bounty: puts the credits aside and adds the task. `task.asker` pays.
pub fn offer(tx: &mut dyn Tx, new: &NewBounty, now: Time) -> Result<OfferOutcome> {
    let (creator, amount) = (&new.task.asker, new.task.amount);
    if amount > 0 {
        let (reference, hold) = (format!("bounty:{}:escrow", new.bounty_id), escrow_account(&new.bounty_id));
        let aside = Transfer { reference: &reference, kind: "escrow", from: creator, to: &hold, amount };
        if let TransferOutcome::Insufficient { have } = ledger::transfer_from(tx, aside, new.funds, now)? {
            return Ok(OfferOutcome::Insufficient { have });
        }
    }
    let task = NewTask { bounty_id: Some(new.bounty_id.clone()), ..new.task.clone() };
    tasks::add(tx, &task, now)?;
    tx.run(
        "INSERT INTO bounties (bounty_id, task_id, creator, source, listing_id, amount, status, created_at, expires_at,
            request)
         VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $8, $9)",
        params![
            &new.bounty_id,
            &task.task_id,
            creator,
            new.source,
            &new.listing_id,
            amount,
            now,
            task.expires_at,
            &new.request
        ],
    )?;
    audit_change(tx, creator, &new.bounty_id, "create", None, BountyStatus::Open, None, now)?;
    announce_bounty(tx, &task, new.high_value, now)?;
    Ok(OfferOutcome::Done(Box::new(reload(tx, &new.bounty_id)?)))
}

/// A task that pays well is told to everybody who may take it and is good at it, another one to workers, and one that is
/// kept for a node to that node.
fn announce_bounty(tx: &mut dyn Tx, task: &NewTask, high_value: i64, now: Time) -> Result<()> {
    let task = tasks::reload(tx, &task.task_id)?;
    if let Some(node_id) = &task.reserved_for {
        notices::notify_node(tx, node_id, &task.notice("task_available"), now)?;
        return Ok(());
    }
    let pays_well = task.amount > 0 && task.amount >= high_value;
    let kind = if pays_well { announcements::PAYS_WELL } else { announcements::FOR_WORKERS };
    announcements::announce(tx, &task.notice(kind), &task, now)
}

/// Finds a bounty.
pub fn get(tx: &mut dyn Tx, bounty_id: &str) -> Result<Option<BountyRow>> {
    tx.query_first(select!(BountyRow, "FROM bounties b WHERE b.bounty_id = $1"), params![bounty_id])
}

/// A bounty that was just changed.
fn reload(tx: &mut dyn Tx, bounty_id: &str) -> Result<BountyRow> {
    let gone = || crate::damaged(format!("The bounty {bounty_id} is not there after it was changed."));
    get(tx, bounty_id)?.ok_or_else(gone)
}

/// Finds a bounty and its task, and keeps others from changing them meanwhile, and the nodes that are told of it: nodes
/// first, in one order, then the task, as everywhere.
pub fn lock(tx: &mut dyn Tx, bounty_id: &str) -> Result<Option<(BountyRow, TaskRow)>> {
    lock_beside(tx, bounty_id, None)
}

/// The same together with one more node.
pub(crate) fn lock_beside(
    tx: &mut dyn Tx,
    bounty_id: &str,
    node_id: Option<&str>,
) -> Result<Option<(BountyRow, TaskRow)>> {
    let Some(bounty) = get(tx, bounty_id)? else { return Ok(None) };
    lock_parties(tx, &bounty, node_id)?;
    let Some(task) = tasks::lock(tx, &bounty.task_id)? else {
        return Err(crate::damaged(format!("The bounty {bounty_id} has no task.")));
    };
    Ok(lock_one(tx, bounty_id)?.map(|bounty| (bounty, task)))
}

/// Locks the nodes that a decision on a bounty concerns: who asked, who worked, and whose work it is matched with.
fn lock_parties(tx: &mut dyn Tx, bounty: &BountyRow, one_more: Option<&str>) -> Result<()> {
    let mut parties = tx.query_all::<String>(
        "SELECT claimed_by FROM tasks WHERE (task_id = $1 OR parent_task_id = $1) AND claimed_by IS NOT NULL",
        params![&bounty.task_id],
    )?;
    parties.extend(bounty.creator.strip_prefix("node:").map(str::to_owned));
    parties.extend(bounty.matched_node.clone());
    parties.extend(one_more.map(str::to_owned));
    parties.sort_unstable();
    parties.dedup();
    parties.iter().try_for_each(|node_id| nodes::lock(tx, node_id).map(|_| ()))
}

fn lock_one(tx: &mut dyn Tx, bounty_id: &str) -> Result<Option<BountyRow>> {
    tx.query_first(
        select!(BountyRow, "FROM bounties b WHERE b.bounty_id = $1 FOR UPDATE"),
        params![bounty_id],
    )
}

/// The bounty on a whole task, which is locked. A part has none of its own.
fn find_by_task(tx: &mut dyn Tx, task: &TaskRow) -> Result<Option<BountyRow>> {
    match &task.bounty_id {
        Some(bounty_id) if task.parent_task_id.is_none() => lock_one(tx, bounty_id),
        _ => Ok(None),
    }
}

/// A node has taken the task.
pub(crate) fn task_claimed(tx: &mut dyn Tx, task: &TaskRow, actor: &str, now: Time) -> Result<()> {
    match find_by_task(tx, task)? {
        Some(bounty) => advance(tx, &bounty, BountyEvent::Claim, task, actor, None, now).map(|_| ()),
        None => Ok(()),
    }
}

/// The task is free again.
pub(crate) fn task_released(tx: &mut dyn Tx, task: &TaskRow, actor: &str, now: Time) -> Result<()> {
    match find_by_task(tx, task)? {
        Some(bounty) => advance(tx, &bounty, BountyEvent::Release, task, actor, None, now).map(|_| ()),
        None => Ok(()),
    }
}

/// The whole task is completed: the bounty is matched with what was handed in by `finisher`, which is the task itself
/// or the part that merged the others.
pub(crate) fn task_completed(
    tx: &mut dyn Tx,
    whole: &TaskRow,
    finisher: &TaskRow,
    decide_ms: i64,
    now: Time,
) -> Result<()> {
    let Some(bounty) = find_by_task(tx, whole)? else { return Ok(()) };
    let actor = format!("node:{}", finisher.completed_by()?);
    match_with(
        tx,
        &bounty,
        whole,
        finisher.result_asset.as_ref(),
        finisher.claimed_by.as_deref(),
        &actor,
        decide_ms,
        now,
    )
    .map(|_| ())
}

/// Matches a bounty with what was handed in. False when it cannot be matched as it stands.
#[allow(clippy::too_many_arguments)]
pub(crate) fn match_with(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    asset: Option<&AssetId>,
    node_id: Option<&str>,
    actor: &str,
    decide_ms: i64,
    now: Time,
) -> Result<bool> {
    if !advance(tx, bounty, BountyEvent::Match, whole, actor, None, now)? {
        return Ok(false);
    }
    let by = decide_by(now.0, decide_ms, bounty.expires_at);
    let asset = asset.copied();
    tx.run(
        "UPDATE bounties SET matched_asset = $2, matched_node = $3, matched_at = $4, decide_by = $5
         WHERE bounty_id = $1",
        params![&bounty.bounty_id, &asset, node_id, now, by],
    )?;
    notify_creator(tx, bounty, whole, "bounty_matched", now)?;
    Ok(true)
}

/// The task's time is over: the credits go back.
pub(crate) fn task_expired(tx: &mut dyn Tx, task: &TaskRow, now: Time) -> Result<()> {
    let Some(bounty) = find_by_task(tx, task)? else { return Ok(()) };
    settle::refund(tx, &bounty, task, BountyEvent::Expire, "hub", "Nobody completed the task in time.", now)?;
    Ok(())
}

/// Takes a step. False when it cannot be taken. The bounty is locked.
pub(crate) fn advance(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    what: BountyEvent,
    whole: &TaskRow,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<bool> {
    let Some(after) = step(bounty.status, what, whole.decomposed_at.is_some()) else { return Ok(false) };
    tx.run(
        "UPDATE bounties SET status = $2 WHERE bounty_id = $1",
        params![&bounty.bounty_id, after.as_str()],
    )?;
    let action = match what {
        BountyEvent::Claim => "claim",
        BountyEvent::Release => "release",
        BountyEvent::Match => "match",
        BountyEvent::Accept => "accept",
        BountyEvent::Reject | BountyEvent::RejectRead => "reject",
        BountyEvent::Dispute => "dispute",
        BountyEvent::Uphold => "uphold",
        BountyEvent::Expire => "expire",
        BountyEvent::Cancel => "cancel",
        BountyEvent::Withdraw => "withdraw",
    };
    audit_change(tx, actor, &bounty.bounty_id, action, Some(bounty.status), after, reason, now)?;
    Ok(true)
}

/// Tells the creator, where that is a node, what became of its bounty.
pub(crate) fn notify_creator(
    tx: &mut dyn Tx,
    bounty: &BountyRow,
    whole: &TaskRow,
    kind: &'static str,
    now: Time,
) -> Result<()> {
    match bounty.creator.strip_prefix("node:") {
        Some(node_id) => notices::notify_node(tx, node_id, &whole.notice(kind), now).map(|_| ()),
        None => Ok(()),
    }
}

#[allow(clippy::too_many_arguments)]
fn audit_change(
    tx: &mut dyn Tx,
    actor: &str,
    bounty_id: &str,
    action: &str,
    before: Option<BountyStatus>,
    after: BountyStatus,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    let change = AuditChange {
        kind: "bounty",
        subject: bounty_id,
        action,
        before: before.map(BountyStatus::as_str),
        after: Some(after.as_str()),
        reason,
    };
    audit::add(tx, actor, change, now)
}
