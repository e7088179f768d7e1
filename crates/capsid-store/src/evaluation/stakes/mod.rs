//! Stakes: credits that a validator puts aside as a pledge. They stay the node's own.

pub mod slashing;

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::ledger::{self, Transfer, TransferOutcome};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits::{self, StakeSource};

/// All of a stake, in percent.
const WHOLE: i64 = 100;

row! {
    /// What a node has staked.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StakeRow {
        /// How much, in milli-credits.
        pub amount: i64 = "amount",
        pub status: String = "status",
        pub staked_at: i64 = "staked_at",
    }
}

impl StakeRow {
    /// Whether something is put aside.
    pub fn is_active(&self) -> bool {
        self.status == "active"
    }

    /// Whether the node counts as a validator: a stake of which a part was taken does not, until it is made up again.
    pub fn is_enough(&self, least: i64) -> bool {
        self.is_active() && self.amount >= least
    }
}

/// How putting aside went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StakeOutcome {
    /// This much is staked now.
    Active(StakeRow),
    /// The node lacks credits; nothing moved.
    Insufficient {
        /// What more it would take.
        need: i64,
        /// What it has of the credits that can be staked.
        have: i64,
    },
}

/// What a node has staked, now or before.
pub fn get(tx: &mut dyn Tx, node_id: &str) -> Result<Option<StakeRow>> {
    tx.query_first(select!(StakeRow, "FROM stakes WHERE node_id = $1"), params![node_id])
}

/// Whether a node has staked what this hub asks of validators.
pub fn is_validator(tx: &mut dyn Tx, node_id: &str) -> Result<bool> {
    let least = tx.trust().validator_stake;
    Ok(get(tx, node_id)?.is_some_and(|stake| stake.is_enough(least)))
}

/// Puts credits aside until they are `amount` together. The node's row is locked. `reference` is new for each request;
/// asking again for what is put aside already moves nothing.
pub fn stake(
    tx: &mut dyn Tx,
    node_id: &str,
    amount: i64,
    source: StakeSource,
    reference: &str,
    now: Time,
) -> Result<StakeOutcome> {
    let present = get(tx, node_id)?.filter(StakeRow::is_active);
    let held = present.as_ref().map_or(0, |stake| stake.amount);
    if let Some(stake) = present.filter(|stake| stake.amount >= amount) {
        return Ok(StakeOutcome::Active(stake));
    }
    let (from, to) = (ledger::node_account(node_id), ledger::stake_account(node_id));
    let pledge = Transfer { reference, kind: "stake", from: &from, to: &to, amount: amount - held };
    // A hub may ask for no stake at all.
    if pledge.amount > 0
        && let TransferOutcome::Insufficient { have } =
            ledger::transfer_from(tx, pledge, source.source(), now)?
    {
        return Ok(StakeOutcome::Insufficient { need: amount - held, have });
    }
    tx.run(
        "INSERT INTO stakes (node_id, amount, status, staked_at) VALUES ($1, $2, 'active', $3)
         ON CONFLICT (node_id) DO UPDATE SET amount = excluded.amount, status = 'active',
            staked_at = CASE WHEN stakes.status = 'active' THEN stakes.staked_at ELSE excluded.staked_at END",
        params![node_id, amount, now],
    )?;
    let stake = get(tx, node_id)?;
    let missing = || crate::damaged(format!("The stake of {node_id} is not there after it was made."));
    stake.map(StakeOutcome::Active).ok_or_else(missing)
}

/// Whether a node still owes a report that its stake stands for.
pub fn is_needed(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM assignments WHERE node_id = $1 AND state = 'open' AND expires_at > $2",
        params![node_id, now],
    )
}

/// Gives a node back what it put aside, and tells how much that was; nothing when nothing was.
pub fn release(tx: &mut dyn Tx, node_id: &str, reference: &str, now: Time) -> Result<Option<i64>> {
    let Some(stake) = get(tx, node_id)?.filter(StakeRow::is_active) else { return Ok(None) };
    let (from, to) = (ledger::stake_account(node_id), ledger::node_account(node_id));
    if stake.amount > 0 {
        let back = Transfer { reference, kind: "unstake", from: &from, to: &to, amount: stake.amount };
        if let TransferOutcome::Insufficient { .. } = ledger::transfer(tx, back, now)? {
            return Err(crate::damaged(format!("The stake of {node_id} is not in its account.")));
        }
    }
    tx.run("UPDATE stakes SET amount = 0, status = 'released' WHERE node_id = $1", params![node_id])?;
    Ok(Some(stake.amount))
}

/// Takes a part of a node's stake for a report that contradicts an arbitrated outcome, and tells how much that was. It goes
/// to the mint, so that nobody gains by it. A stake of which nothing is left is one no more, whatever this hub asks for.
pub fn slash(tx: &mut dyn Tx, node_id: &str, percent: i64, reference: &str, now: Time) -> Result<i64> {
    let held = tx.query_first::<StakeRow>(
        select!(StakeRow, "FROM stakes WHERE node_id = $1 FOR UPDATE"),
        params![node_id],
    )?;
    let Some(stake) = held.filter(StakeRow::is_active) else { return Ok(0) };
    let amount = credits::slashed(stake.amount, percent);
    if ledger::find(tx, reference)?.is_some() {
        return Ok(0);
    }
    if amount > 0 {
        let from = ledger::stake_account(node_id);
        let lost = Transfer { reference, kind: "slash", from: &from, to: ledger::MINT, amount };
        if let TransferOutcome::Insufficient { .. } = ledger::transfer(tx, lost, now)? {
            return Err(crate::damaged(format!("The stake of {node_id} is not in its account.")));
        }
    }
    let is_lost = percent >= WHOLE || (amount > 0 && amount == stake.amount);
    let status = if is_lost { "released" } else { "active" };
    tx.run(
        "UPDATE stakes SET amount = amount - $2, status = $3 WHERE node_id = $1",
        params![node_id, amount, status],
    )?;
    Ok(amount)
}
