//! What follows from an arbiter's decision, whoever the arbiter is: the hub's runner, an administrator, or an owner whom
//! the operator appointed. It is the outcome of the asset, it settles the reports from before, and reports that say otherwise
//! cost their senders a part of their stakes.

use super::close_disagreement;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::owners::outcomes;
use crate::evaluation::stakes::slashing;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// The arbiter that the hub's runner is.
pub const RUNNER: &str = "runner";

/// What an arbiter decided.
#[derive(Debug, Clone, Copy)]
pub struct Arbitration<'a> {
    /// Whether the asset works.
    pub passed: bool,
    /// Who decided.
    pub arbiter: &'a str,
    /// What a report that says otherwise costs, in percent of the stake.
    pub slash_percent: i64,
}

/// Records what an arbiter decided of an asset, and what follows for those that reported on it.
pub fn arbitrate(tx: &mut dyn Tx, id: &AssetId, decided: Arbitration<'_>, now: Time) -> Result<()> {
    let earlier = outcomes::find_outcome(tx, id)?;
    if decided.arbiter == RUNNER {
        // It runs assets again when its runtime changes, and reports from before were about the runtime of then.
        outcomes::keep_outcome(tx, id)?;
    }
    outcomes::record_outcome(tx, id, decided.passed, decided.arbiter, now)?;
    slashing::slash_contradicting(tx, id, decided, earlier, now)?;
    close_disagreement(tx, id, decided.passed, decided.arbiter, now)
}
