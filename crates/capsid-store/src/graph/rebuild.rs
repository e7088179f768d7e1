//! Making the index again from what it follows from. What was told stays, as everything else in the database does.

use super::read::count_all;
use crate::params;
use crate::store::Store;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use serde::Serialize;

/// What was made again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RebuildSummary {
    /// Assets, reports, tasks, notes and told relations that say something.
    pub subjects: u64,
    /// How many things there are now, those that were told included.
    pub things: u64,
    pub relations: u64,
}

/// Is told what is being done, how much of it was done, and how much there is.
pub type RebuildProgress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

impl Store {
    /// Makes the index again. Whoever is killed in the middle goes on from there at the next start. Blocks.
    pub fn rebuild_index(&self, now: Time, progress: RebuildProgress<'_>) -> Result<RebuildSummary> {
        if self.index().is_none_or(|index| !index.is_writable()) {
            return Err(Problem::new(Code::StoreLocked, "A hub that runs has the index open.")
                .fix("Stop the hub first."));
        }
        self.reset_index()?;
        let total = self.index_lag()?.waiting.unsigned_abs();
        while self.follow_step(now)? {
            let left = self.index_lag()?.waiting.unsigned_abs();
            progress("assets, reports and tasks", total.saturating_sub(left), total);
        }
        self.read_now(|tx| {
            let index = tx.index()?;
            Ok(RebuildSummary {
                subjects: index.count("SELECT COUNT(*) FROM said", params![])?.unsigned_abs(),
                things: count_all(index, false)?.unsigned_abs(),
                relations: count_all(index, true)?.unsigned_abs(),
            })
        })
    }
}
