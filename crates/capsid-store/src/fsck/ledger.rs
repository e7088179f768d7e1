//! Money: nothing was made, nothing was lost, and every balance is the sum of its entries.

use super::FsckReport;
use crate::db::tx::Tx;
use crate::ledger::{self, MINT};
use crate::params;
use capsid_model::problem::Result;

pub fn check(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let sum = ledger::sum(tx)?;
    if sum != 0 {
        let problem = format!("All accounts together hold {sum} milli-credits instead of 0.");
        report.lost("ledger_not_zero", "accounts", problem);
    }
    let granted = ledger::granted_sum(tx)?;
    if granted != 0 {
        let problem =
            format!("The granted parts of all accounts add up to {granted} milli-credits instead of 0.");
        report.lost("ledger_not_zero", "accounts", problem);
    }
    balances(tx, report)?;
    granted_parts(tx, report)?;
    held_rewards(tx, report)?;
    transfers(tx, report)?;
    stakes(tx, report)?;
    running_balances(tx, report)
}

fn balances(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let differing = "SELECT account, balance, entered FROM (
            SELECT a.account, a.balance, CAST(COALESCE((SELECT SUM(e.delta) FROM entries e
                WHERE e.account = a.account), 0) AS BIGINT) AS entered FROM accounts a) t
        WHERE balance <> entered ORDER BY account";
    tx.query_each(differing, params![], |(account, balance, entered): (String, i64, i64)| {
        let problem = format!("The balance is {balance}, but the entries add up to {entered}.");
        report.lost("balance_wrong", account, problem);
        Ok(())
    })?;
    let overdrawn =
        "SELECT account, balance FROM accounts WHERE balance < 0 AND account <> $1 ORDER BY account";
    tx.query_each(overdrawn, params![MINT], |(account, balance): (String, i64)| {
        let problem = format!("The balance is {balance}, and only the mint may owe.");
        report.lost("balance_negative", account, problem);
        Ok(())
    })
}

fn transfers(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let uneven = "SELECT reference, amount, entries, total, paid FROM (
            SELECT t.seq, t.reference, t.amount,
                (SELECT COUNT(*) FROM entries e WHERE e.transfer = t.seq) AS entries,
                CAST(COALESCE((SELECT SUM(e.delta) FROM entries e WHERE e.transfer = t.seq), 0) AS BIGINT) AS total,
                COALESCE((SELECT MAX(e.delta) FROM entries e WHERE e.transfer = t.seq), 0) AS paid
            FROM transfers t) x
        WHERE entries <> 2 OR total <> 0 OR paid <> amount ORDER BY seq";
    tx.query_each(uneven, params![], |(reference, amount, entries, total, paid): (String, i64, i64, i64, i64)| {
        let problem = format!(
            "A transfer of {amount} has {entries} entries that add up to {total} and pay {paid}; it should have 2 that add up to 0."
        );
        report.lost("transfer_uneven", reference, problem);
        Ok(())
    })
}

/// The granted part of an account is what its entries say, and no more than the account holds.
fn granted_parts(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let differing = "SELECT account, granted, balance, entered FROM (
            SELECT a.account, a.granted, a.balance, COALESCE(
                (SELECT e.granted_after FROM entries e WHERE e.account = a.account ORDER BY e.seq DESC LIMIT 1),
                (SELECT o.granted FROM granted_openings o WHERE o.account = a.account), 0) AS entered
            FROM accounts a) t
        WHERE granted <> entered OR (account <> $1 AND (granted < 0 OR granted > balance)) ORDER BY account";
    tx.query_each(
        differing,
        params![MINT],
        |(account, granted, balance, entered): (String, i64, i64, i64)| {
            let problem = format!("Of {balance}, {granted} are granted; by the entries it is {entered}.");
            report.lost("granted_wrong", account, problem);
            Ok(())
        },
    )?;
    let broken = "SELECT account, seq, granted_after, expected FROM (
            SELECT e.account, e.seq, e.granted_after, COALESCE(
                    LAG(e.granted_after) OVER (PARTITION BY e.account ORDER BY e.seq), o.granted, 0)
                + CASE WHEN e.delta < 0 THEN -t.granted ELSE t.granted END AS expected
            FROM entries e JOIN transfers t ON t.seq = e.transfer
                LEFT JOIN granted_openings o ON o.account = e.account) x
        WHERE granted_after IS NOT NULL AND granted_after <> expected ORDER BY account, seq";
    tx.query_each(broken, params![], |(account, seq, after, expected): (String, i64, i64, i64)| {
        let problem = format!(
            "Entry {seq} says that {after} were granted afterwards; by the entries it was {expected}."
        );
        report.lost("entry_chain_broken", account, problem);
        Ok(())
    })
}

/// What is held for a reward is its amount until it is paid or returned, and nothing afterwards.
fn held_rewards(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let differing = "SELECT reference, state, due, held FROM (
            SELECT h.reference, h.state, CASE WHEN h.state = 'held' THEN h.amount ELSE 0 END AS due,
                COALESCE(a.balance, 0) AS held
            FROM held_rewards h LEFT JOIN accounts a ON a.account = 'hold:reward:' || h.reference) x
        WHERE due <> held OR state NOT IN ('held', 'paid', 'returned') ORDER BY reference";
    tx.query_each(differing, params![], |(reference, state, due, held): (String, String, i64, i64)| {
        let problem = format!("The reward is {state}, so {due} should be held, and {held} are.");
        report.lost("reward_not_held", reference, problem);
        Ok(())
    })
}

/// What a node put aside is in the account that holds it.
fn stakes(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let differing = "SELECT s.node_id, s.amount, COALESCE(a.balance, 0) FROM stakes s
        LEFT JOIN accounts a ON a.account = 'hold:stake:' || s.node_id
        WHERE s.amount <> COALESCE(a.balance, 0) ORDER BY s.node_id";
    tx.query_each(differing, params![], |(node_id, amount, held): (String, i64, i64)| {
        let problem = format!("The stake is {amount}, but {held} are held.");
        report.lost("stake_not_held", node_id, problem);
        Ok(())
    })
}

fn running_balances(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let broken = "SELECT account, seq, balance_after, running FROM (
            SELECT account, seq, balance_after,
                CAST(SUM(delta) OVER (PARTITION BY account ORDER BY seq) AS BIGINT) AS running FROM entries) t
        WHERE balance_after <> running ORDER BY account, seq";
    tx.query_each(broken, params![], |(account, seq, after, running): (String, i64, i64, i64)| {
        let problem =
            format!("Entry {seq} says the balance was {after} afterwards; by the entries it was {running}.");
        report.lost("entry_chain_broken", account, problem);
        Ok(())
    })
}
