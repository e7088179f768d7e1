//! What accounts earned, by what. The ledger knows every movement; this knows the sums.

use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Adds to what an account earned; nothing when the amount is zero.
pub fn record_earning(tx: &mut dyn Tx, account: &str, source: &str, amount: i64, now: Time) -> Result<()> {
    if amount == 0 {
        return Ok(());
    }
    tx.run(
        "INSERT INTO earnings (account, source, day, amount) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account, source, day) DO UPDATE SET amount = earnings.amount + excluded.amount",
        params![account, source, now.0.div_euclid(DAY_MS), amount],
    )?;
    Ok(())
}

/// What an account can earn by.
pub const SOURCES: [&str; 8] =
    ["promotion", "reuse", "bounty", "swarm", "validation", "service", "sale", "referral"];

/// What an account earned by each source, in the order of [`SOURCES`].
pub fn by_source(tx: &mut dyn Tx, account: &str) -> Result<[i64; 8]> {
    let mut sums = [0; 8];
    let earned = tx.query_all::<(String, i64)>(
        "SELECT source, CAST(SUM(amount) AS BIGINT) FROM earnings WHERE account = $1 GROUP BY source",
        params![account],
    )?;
    for (source, amount) in earned {
        for (sum, _) in sums.iter_mut().zip(SOURCES).filter(|(_, name)| *name == source) {
            *sum += amount;
        }
    }
    Ok(sums)
}
