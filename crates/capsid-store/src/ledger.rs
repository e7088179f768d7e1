//! Money: double entry, so that it can be moved but neither made nor lost. The sum over all accounts is always zero;
//! `mint` is the account that is in debt for all the others hold.

use crate::params;
use crate::tx::Tx;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;

/// The account that credits come from.
pub const MINT: &str = "mint";
/// The hub's own account: commissions come here.
pub const HUB: &str = "hub";

/// A movement of credits from one account to another.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    /// What it is for; the same cause moves money once.
    pub reference: &'a str,
    /// grant, stake, reward, …
    pub kind: &'a str,
    /// Who pays.
    pub from: &'a str,
    /// Who is paid.
    pub to: &'a str,
    /// Milli-credits, more than zero.
    pub amount: i64,
}

/// How a transfer went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// It was made.
    Done,
    /// It had been made before.
    AlreadyDone,
    /// The payer does not have as much; nothing moved.
    Insufficient {
        /// What the payer has.
        have: i64,
    },
}

/// The account of a node.
pub fn node_account(node_id: &str) -> String {
    format!("node:{node_id}")
}

/// The account of a user.
pub fn user_account(user_id: &str) -> String {
    format!("user:{user_id}")
}

/// The account in which a node's stake is held.
pub fn stake_account(node_id: &str) -> String {
    format!("hold:stake:{node_id}")
}

/// What an account holds; nothing when it was never used.
pub fn balance(tx: &mut dyn Tx, account: &str) -> Result<i64> {
    tx.number("SELECT balance FROM accounts WHERE account = $1", params![account])
}

/// Moves credits.
pub fn transfer(tx: &mut dyn Tx, transfer: Transfer<'_>, now: Time) -> Result<Moved> {
    if transfer.amount <= 0 || transfer.from == transfer.to {
        return Err(Problem::new(
            Code::Internal,
            "A transfer must move something from one account to another.",
        ));
    }
    if tx.exists("SELECT 1 FROM transfers WHERE reference = $1", params![transfer.reference])? {
        return Ok(Moved::AlreadyDone);
    }
    // Always in the same order, so that two transfers between the same accounts do not wait for each other.
    let mut accounts = [transfer.from, transfer.to];
    accounts.sort_unstable();
    for account in accounts {
        tx.run(
            "INSERT INTO accounts (account, balance) VALUES ($1, 0) ON CONFLICT DO NOTHING",
            params![account],
        )?;
        tx.exists("SELECT balance FROM accounts WHERE account = $1 FOR UPDATE", params![account])?;
    }
    let have = balance(tx, transfer.from)?;
    if transfer.from != MINT && have < transfer.amount {
        return Ok(Moved::Insufficient { have });
    }
    let made = tx.first(
        "INSERT INTO transfers (reference, kind, amount, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING RETURNING seq",
        params![transfer.reference, transfer.kind, transfer.amount, now],
        |row| row.int(0),
    )?;
    let Some(seq) = made else { return Ok(Moved::AlreadyDone) };
    enter(tx, seq, transfer.from, -transfer.amount)?;
    enter(tx, seq, transfer.to, transfer.amount)?;
    Ok(Moved::Done)
}

fn enter(tx: &mut dyn Tx, transfer: i64, account: &str, delta: i64) -> Result<()> {
    let after = tx.first(
        "UPDATE accounts SET balance = balance + $2 WHERE account = $1 RETURNING balance",
        params![account, delta],
        |row| row.int(0),
    )?;
    tx.run(
        "INSERT INTO entries (transfer, account, delta, balance_after) VALUES ($1, $2, $3, $4)",
        params![transfer, account, delta, after],
    )?;
    Ok(())
}

/// The sum over all accounts, which is zero.
pub fn sum(tx: &mut dyn Tx) -> Result<i64> {
    tx.number("SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM accounts", params![])
}
