//! What accounts earned, by what. The ledger knows every movement; this knows the sums.

use crate::params;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_model::time::Time;

pub(crate) const DAY_MS: i64 = 86_400_000;

/// Adds to what an account earned; nothing when the amount is zero.
pub fn note(tx: &mut dyn Tx, account: &str, source: &str, amount: i64, now: Time) -> Result<()> {
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
