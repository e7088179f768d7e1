//! What moved in and out of an account, newest first, and what all accounts hold together.

use super::{HUB, MINT};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits;

/// Which entries.
#[derive(Debug, Clone)]
pub struct StatementFilter {
    pub account: String,
    /// Only entries before this one.
    pub before: i64,
    /// Only entries from this moment on.
    pub from: i64,
    /// Only entries before this moment.
    pub to: i64,
}

impl StatementFilter {
    /// All entries of an account.
    pub fn for_account(account: &str) -> Self {
        Self { account: account.to_owned(), before: i64::MAX, from: i64::MIN, to: i64::MAX }
    }
}

row! {
    /// One line of a statement.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StatementLine {
        /// Its place in the order of all entries.
        pub seq: i64 = "e.seq",
        pub at: i64 = "t.created_at",
        pub kind: String = "t.kind",
        pub reference: String = "t.reference",
        /// What came in, or less than zero for what went out.
        pub delta: i64 = "e.delta",
        /// What the account held afterwards.
        pub balance_after: i64 = "e.balance_after",
        /// How much of what moved was granted.
        pub granted: i64 = "t.granted",
        /// How much of what the account held afterwards was granted; nothing for lines from before that was counted.
        pub granted_after: Option<i64> = "e.granted_after",
        /// Where it came from or went to.
        pub counterparty: String = "COALESCE(o.account, '')",
    }
}

/// The entries of an account, newest first.
pub fn lines(tx: &mut dyn Tx, filter: &StatementFilter, limit: i64) -> Result<Vec<StatementLine>> {
    tx.query_all(
        select!(
            StatementLine,
            "FROM entries e JOIN transfers t ON t.seq = e.transfer
            LEFT JOIN entries o ON o.transfer = e.transfer AND o.seq <> e.seq
         WHERE e.account = $1 AND e.seq < $2 AND t.created_at >= $3 AND t.created_at < $4
         ORDER BY e.seq DESC LIMIT $5"
        ),
        params![&filter.account, filter.before, filter.from, filter.to, limit],
    )
}

/// Lines as a table for spreadsheets.
pub fn csv(lines: &[StatementLine]) -> String {
    format!("{CSV_HEAD}{}", csv_rows(lines))
}

/// The names of the columns in a table for spreadsheets.
pub const CSV_HEAD: &str = "time,kind,reference,delta,balance_after,counterparty\r\n";

/// The rows of such a table, for one that is written piece by piece.
pub fn csv_rows(lines: &[StatementLine]) -> String {
    let mut text = String::new();
    for line in lines {
        let cells = [
            cell(&Time(line.at).iso()),
            cell(&line.kind),
            cell(&line.reference),
            credits::text(line.delta),
            credits::text(line.balance_after),
            cell(&line.counterparty),
        ];
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A cell of text. A spreadsheet would take one that begins with these marks for a formula; amounts are written by the hub
/// and stay numbers.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

/// What all accounts hold, in milli-credits. All of them together are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditSupply {
    /// What was ever brought into being.
    pub minted: i64,
    /// What lies aside for bounties.
    pub escrow: i64,
    /// What validators have put aside.
    pub staked: i64,
    /// Rewards that are paid later.
    pub held_rewards: i64,
    /// What was granted of all that the mint made.
    pub granted: i64,
    /// What the hub itself holds.
    pub hub: i64,
    /// What nodes and accounts can spend.
    pub circulating: i64,
    /// The sum over all accounts.
    pub sum: i64,
    /// How many transfers there were.
    pub transfers: i64,
}

/// Adds up what there is.
pub fn supply(tx: &mut dyn Tx) -> Result<CreditSupply> {
    let held = |tx: &mut dyn Tx, pattern: &str| {
        tx.count(
            "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM accounts WHERE account LIKE $1",
            params![pattern],
        )
    };
    let (escrow, staked) = (held(tx, "hold:bounty:%")?, held(tx, "hold:stake:%")?);
    let circulating = held(tx, "node:%")? + held(tx, "user:%")?;
    Ok(CreditSupply {
        minted: -super::balance(tx, MINT)?,
        escrow,
        staked,
        held_rewards: held(tx, "hold:reward:%")?,
        granted: -super::balances(tx, MINT)?.granted,
        hub: super::balance(tx, HUB)?,
        circulating,
        sum: super::sum(tx)?,
        transfers: tx.count("SELECT COUNT(*) FROM transfers", params![])?,
    })
}

/// The accounts that hold most.
pub fn largest(tx: &mut dyn Tx, limit: i64) -> Result<Vec<(String, i64)>> {
    tx.query_all::<(String, i64)>(
        "SELECT account, balance FROM accounts WHERE balance > 0 ORDER BY balance DESC, account LIMIT $1",
        params![limit],
    )
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn no_cell_is_a_formula_or_two_cells() {
        for (text, written) in [
            ("plain", "\"plain\""),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
