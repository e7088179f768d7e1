//! Rewards that wait until their asset has stayed valid for a while. Then they are paid; if the asset fails before, they go
//! back to the mint. What was paid stays paid, so nobody ever owes credits. What a keyless node earned may wait
//! here too, until the node has an owner or a key.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::ledger::earnings;
use crate::ledger::{self, MINT, Transfer, TransferOutcome};
use crate::nodes::{self, NodeRow};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;

row! {
    /// A reward that is paid later.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct HeldRewardRow {
        /// What it is for.
        pub reference: String = "h.reference",
        pub node_id: String = "h.node_id",
        pub source: String = "h.source",
        pub asset_id: Option<AssetId> = "h.asset_id",
        pub amount: i64 = "h.amount",
        /// When it is paid.
        pub due_at: i64 = "h.due_at",
        pub state: String = "h.state",
    }
}

/// How long a due reward of a keyless node waits until it is looked at again.
const KEYLESS_MS: i64 = 600_000;

/// Whether earnings wait where anybody in its network may be the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeylessPay {
    AtOnce,
    /// Until the node is bound or claimed.
    WhenKnown,
}

impl KeylessPay {
    /// Whether what a node earns has to wait.
    pub fn holds(self, node: &NodeRow) -> bool {
        self == Self::WhenKnown && node.is_nobodys()
    }
}

/// Credits that a node earned from somebody else, by what, and the reference of their transfer.
#[derive(Debug, Clone, Copy)]
pub struct Earning<'a> {
    pub node_id: &'a str,
    /// The account that pays.
    pub from: &'a str,
    pub source: &'a str,
    pub reference: &'a str,
    pub amount: i64,
}

/// Pays a node what it earned from somebody else, or holds it where nobody knows whose the node is. Tells whether it is held.
pub fn pay_or_hold(tx: &mut dyn Tx, earning: Earning<'_>, pay: KeylessPay, now: Time) -> Result<bool> {
    let Earning { node_id, from, source, reference, amount } = earning;
    if amount == 0 {
        return Ok(false);
    }
    if nodes::get(tx, node_id)?.is_some_and(|node| pay.holds(&node)) {
        let held = HeldRewardRow {
            reference: reference.to_owned(),
            node_id: node_id.to_owned(),
            source: source.to_owned(),
            asset_id: None,
            amount,
            due_at: now.0,
            state: "held".to_owned(),
        };
        hold(tx, from, &held, now)?;
        return Ok(true);
    }
    let account = ledger::node_account(node_id);
    match ledger::transfer(tx, Transfer { reference, kind: source, from, to: &account, amount }, now)? {
        TransferOutcome::Done => earnings::record_earning(tx, &account, source, amount, now)?,
        other => return Err(not_moved(reference, other)),
    }
    Ok(false)
}

/// Sets a reward aside until it is due.
pub(crate) fn hold(tx: &mut dyn Tx, from: &str, reward: &HeldRewardRow, now: Time) -> Result<()> {
    let account = ledger::reward_account(&reward.reference);
    let aside = Transfer {
        reference: &reward.reference,
        kind: "reward_held",
        from,
        to: &account,
        amount: reward.amount,
    };
    match ledger::transfer(tx, aside, now)? {
        TransferOutcome::Done => {}
        other => return Err(not_moved(&reward.reference, other)),
    }
    tx.run(
        "INSERT INTO held_rewards (reference, node_id, source, asset_id, amount, held_at, due_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'held')",
        params![
            &reward.reference,
            &reward.node_id,
            &reward.source,
            &reward.asset_id,
            reward.amount,
            now,
            reward.due_at
        ],
    )?;
    Ok(())
}

fn not_moved(reference: &str, outcome: TransferOutcome) -> capsid_model::problem::Problem {
    crate::damaged(format!("The earning `{reference}` was not moved: {outcome:?}."))
}

/// Finds rewards whose time has come. Only reads.
pub fn find_due(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<Vec<String>> {
    tx.query_all::<String>(
        "SELECT reference FROM held_rewards WHERE state = 'held' AND due_at <= $1 ORDER BY due_at, reference LIMIT $2",
        params![now, limit],
    )
}

/// Pays a reward whose time has come, or returns it where its asset is not valid any more; one of a keyless node may have
/// to wait longer. May be repeated.
pub fn settle_due(tx: &mut dyn Tx, reference: &str, pay: KeylessPay, now: Time) -> Result<bool> {
    let Some(reward) = lock(tx, reference)?.filter(|reward| reward.state == "held" && reward.due_at <= now.0)
    else {
        return Ok(false);
    };
    let node = nodes::get(tx, &reward.node_id)?;
    let is_banned = node.as_ref().is_none_or(|node| node.status == "banned");
    if reward.is_from_mint() && (is_banned || !is_earned(tx, &reward)?) {
        return_to_mint(tx, &reward, now)?;
    } else if node.is_some_and(|node| pay.holds(&node)) {
        let later = now.0.saturating_add(KEYLESS_MS);
        tx.run("UPDATE held_rewards SET due_at = $2 WHERE reference = $1", params![reference, later])?;
        return Ok(false);
    } else {
        pay_out(tx, &reward, now)?;
    }
    Ok(true)
}

impl HeldRewardRow {
    /// Whether the hub made the credits, and not somebody who paid for work.
    fn is_from_mint(&self) -> bool {
        !matches!(self.source.as_str(), "bounty" | "swarm" | "service" | "sale")
    }
}

/// Whether what a reward was promised for still holds. A report that was asked for stays done whatever its asset becomes;
/// one that was wrong lost its reward when the asset failed.
fn is_earned(tx: &mut dyn Tx, reward: &HeldRewardRow) -> Result<bool> {
    let Some(id) = reward.asset_id.as_ref().filter(|_| reward.source != "validation") else {
        return Ok(true);
    };
    Ok(assets::get(tx, id)?.is_some_and(|asset| is_valid(asset.status)))
}

/// Whether an asset was promoted and has not failed since.
fn is_valid(status: AssetStatus) -> bool {
    status.is_distributed() || status == AssetStatus::Archived
}

fn lock(tx: &mut dyn Tx, reference: &str) -> Result<Option<HeldRewardRow>> {
    tx.query_first(
        select!(HeldRewardRow, "FROM held_rewards h WHERE h.reference = $1 FOR UPDATE"),
        params![reference],
    )
}

fn pay_out(tx: &mut dyn Tx, reward: &HeldRewardRow, now: Time) -> Result<()> {
    let account = ledger::node_account(&reward.node_id);
    move_out(tx, reward, "paid", &reward.source, &account, now)?;
    earnings::record_earning(tx, &account, &reward.source, reward.amount, now)
}

fn return_to_mint(tx: &mut dyn Tx, reward: &HeldRewardRow, now: Time) -> Result<()> {
    move_out(tx, reward, "returned", "reward_returned", MINT, now)
}

fn move_out(
    tx: &mut dyn Tx,
    reward: &HeldRewardRow,
    state: &'static str,
    kind: &str,
    to: &str,
    now: Time,
) -> Result<()> {
    let (reference, from) =
        (format!("{}:{state}", reward.reference), ledger::reward_account(&reward.reference));
    let moved = Transfer { reference: &reference, kind, from: &from, to, amount: reward.amount };
    match ledger::transfer(tx, moved, now)? {
        TransferOutcome::Done => {}
        other => return Err(not_moved(&reward.reference, other)),
    }
    tx.run("UPDATE held_rewards SET state = $2 WHERE reference = $1", params![&reward.reference, state])?;
    Ok(())
}

/// Returns what is held for an asset that has failed: its publisher's rewards, and those of validators who let it pass. Who
/// withdraws their own asset takes nothing from its validators.
pub(crate) fn return_failed(tx: &mut dyn Tx, asset: &AssetRow, to: AssetStatus, now: Time) -> Result<()> {
    if is_valid(to) {
        return Ok(());
    }
    let held = tx.query_all::<HeldRewardRow>(
        select!(
            HeldRewardRow,
            "FROM held_rewards h WHERE h.asset_id = $1 AND h.state = 'held' ORDER BY h.reference FOR UPDATE"
        ),
        params![&asset.asset_id],
    )?;
    for reward in held {
        let is_lost = match reward.source.as_str() {
            "validation" => to != AssetStatus::Revoked && has_passed(tx, &reward)?,
            _ => true,
        };
        if is_lost {
            return_to_mint(tx, &reward, now)?;
        }
    }
    Ok(())
}

/// Whether the report that a reward is for said that the asset works.
fn has_passed(tx: &mut dyn Tx, reward: &HeldRewardRow) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM reports WHERE asset_id = $1 AND node_id = $2 AND overall_ok = 1",
        params![&reward.asset_id, &reward.node_id],
    )
}

/// What is held for a node.
pub fn sum_held(tx: &mut dyn Tx, node_id: &str) -> Result<i64> {
    tx.count(
        "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM held_rewards WHERE node_id = $1 AND state = 'held'",
        params![node_id],
    )
}
