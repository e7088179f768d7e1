//! Money: double entry, so that it can be moved but neither made nor lost. The sum over all accounts is always zero;
//! `mint` is the account that is in debt for all the others hold.
//!
//! A part of what an account holds is granted: the hub gave it to begin with. It stays granted whoever holds it, and adds
//! up to zero by itself.

pub mod earnings;
pub mod statement;

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_rules::credits::{AccountBalances, CreditSource};

/// The account that credits come from.
pub const MINT: &str = "mint";
/// The hub's own account: commissions come here.
pub const HUB: &str = "hub";

/// A movement of credits from one account to another.
#[derive(Debug, Clone, Copy)]
pub struct Transfer<'a> {
    /// What it is for; the same cause moves money once.
    pub reference: &'a str,
    pub kind: &'a str,
    pub from: &'a str,
    pub to: &'a str,
    /// Milli-credits, more than zero.
    pub amount: i64,
}

/// How a transfer went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferOutcome {
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

/// The account in which a reward is held until its asset has stayed valid long enough.
pub fn reward_account(reference: &str) -> String {
    format!("hold:reward:{reference}")
}

/// What an account holds; nothing when it was never used.
pub fn balance(tx: &mut dyn Tx, account: &str) -> Result<i64> {
    Ok(tx.query_first("SELECT balance FROM accounts WHERE account = $1", params![account])?.unwrap_or(0))
}

/// What an account holds in all, and which part of it was granted.
pub fn balances(tx: &mut dyn Tx, account: &str) -> Result<AccountBalances> {
    let held = tx.query_first::<(i64, i64)>(
        "SELECT balance, granted FROM accounts WHERE account = $1",
        params![account],
    )?;
    Ok(held.map_or_else(AccountBalances::default, |(total, granted)| AccountBalances { total, granted }))
}

row! {
    /// A transfer as it is kept.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct TransferRow {
        /// What kind of movement it was.
        pub kind: String = "t.kind",
        pub from: String = "COALESCE(f.account, '')",
        pub to: String = "COALESCE(p.account, '')",
        pub amount: i64 = "t.amount",
    }
}

impl TransferRow {
    /// Whether this is what a transfer asks for.
    pub fn is(&self, transfer: &Transfer<'_>) -> bool {
        (self.kind.as_str(), self.from.as_str(), self.to.as_str(), self.amount)
            == (transfer.kind, transfer.from, transfer.to, transfer.amount)
    }
}

/// Finds the transfer that was made under a reference.
pub fn find(tx: &mut dyn Tx, reference: &str) -> Result<Option<TransferRow>> {
    tx.query_first(
        select!(
            TransferRow,
            "FROM transfers t
            LEFT JOIN entries f ON f.transfer = t.seq AND f.delta < 0
            LEFT JOIN entries p ON p.transfer = t.seq AND p.delta > 0
         WHERE t.reference = $1"
        ),
        params![reference],
    )
}

/// Keeps others from moving credits of these accounts, and makes those that are missing. Always in the same order, so
/// that two that lock the same accounts do not wait for each other: whoever makes several transfers locks all of their
/// accounts first.
pub fn lock_accounts(tx: &mut dyn Tx, accounts: &[&str]) -> Result<()> {
    let mut accounts = accounts.to_vec();
    accounts.sort_unstable();
    accounts.dedup();
    for account in accounts {
        tx.run(
            "INSERT INTO accounts (account, balance) VALUES ($1, 0) ON CONFLICT DO NOTHING",
            params![account],
        )?;
        tx.exists("SELECT balance FROM accounts WHERE account = $1 FOR UPDATE", params![account])?;
    }
    Ok(())
}

/// Moves credits, the granted ones first; those out of the mint are earned.
pub fn transfer(tx: &mut dyn Tx, transfer: Transfer<'_>, now: Time) -> Result<TransferOutcome> {
    transfer_from(tx, transfer, CreditSource::GrantedFirst, now)
}

/// Moves credits of one kind; out of the mint, it makes them. Doing it again under the same reference moves nothing; asking for another movement under a reference
/// that was used is an error.
pub fn transfer_from(
    tx: &mut dyn Tx,
    transfer: Transfer<'_>,
    source: CreditSource,
    now: Time,
) -> Result<TransferOutcome> {
    if transfer.amount <= 0 || transfer.from == transfer.to {
        return Err(Problem::new(
            Code::Internal,
            "A transfer must move something from one account to another.",
        ));
    }
    if let Some(known) = find(tx, transfer.reference)? {
        return find_repeated(&known, &transfer);
    }
    lock_accounts(tx, &[transfer.from, transfer.to])?;
    let have = balances(tx, transfer.from)?;
    let granted = match (transfer.from, source) {
        (MINT, CreditSource::Granted) => Some(transfer.amount),
        (MINT, _) => Some(0),
        _ => have.granted_part(source, transfer.amount),
    };
    let Some(granted) = granted else {
        // Somebody may have made the same transfer while this one waited.
        return match find(tx, transfer.reference)? {
            Some(known) => find_repeated(&known, &transfer),
            None => Ok(TransferOutcome::Insufficient { have: have.available(source) }),
        };
    };
    let made = tx.query_first::<i64>(
        "INSERT INTO transfers (reference, kind, amount, created_at, granted) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO NOTHING RETURNING seq",
        params![transfer.reference, transfer.kind, transfer.amount, now, granted],
    )?;
    let Some(seq) = made else {
        let Some(known) = find(tx, transfer.reference)? else {
            return Err(crate::damaged(format!(
                "The transfer `{}` was neither made nor there.",
                transfer.reference
            )));
        };
        return find_repeated(&known, &transfer);
    };
    enter(tx, seq, transfer.from, -transfer.amount, -granted)?;
    enter(tx, seq, transfer.to, transfer.amount, granted)?;
    Ok(TransferOutcome::Done)
}

fn find_repeated(known: &TransferRow, transfer: &Transfer<'_>) -> Result<TransferOutcome> {
    if known.is(transfer) {
        return Ok(TransferOutcome::AlreadyDone);
    }
    Err(Problem::new(
        Code::Internal,
        format!("The reference `{}` was used before for another transfer: {known:?}.", transfer.reference),
    ))
}

fn enter(tx: &mut dyn Tx, transfer: i64, account: &str, delta: i64, granted: i64) -> Result<()> {
    let (after, granted_after) = tx.query_one::<(i64, i64)>(
        "UPDATE accounts SET balance = balance + $2, granted = granted + $3 WHERE account = $1
         RETURNING balance, granted",
        params![account, delta, granted],
    )?;
    tx.run(
        "INSERT INTO entries (transfer, account, delta, balance_after, granted_after) VALUES ($1, $2, $3, $4, $5)",
        params![transfer, account, delta, after, granted_after],
    )?;
    Ok(())
}

/// What all accounts hold together that was granted, which is zero.
pub fn granted_sum(tx: &mut dyn Tx) -> Result<i64> {
    tx.count("SELECT CAST(COALESCE(SUM(granted), 0) AS BIGINT) FROM accounts", params![])
}

/// The sum over all accounts, which is zero.
pub fn sum(tx: &mut dyn Tx) -> Result<i64> {
    tx.count("SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM accounts", params![])
}
