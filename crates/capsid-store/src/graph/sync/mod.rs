//! Following the database: a worker brings what changed into the index, a step at a time.
//!
//! A step reads the numbers that are new in four logs (assets, reports, tasks, and the changes of what was there before)
//! and what their subjects say now. The index remembers what each subject said when it was last looked at, so a step
//! withdraws that and adds what is said now. It does not matter how often or in which order subjects are looked at, and a
//! step that was cut off is done again.

mod apply;
mod compare;
mod load;
mod positions;

use super::index_sql;
use crate::db::tx::{Tx, no_index};
use crate::params;
use crate::store::Store;
use capsid_model::problem::Result;
use capsid_model::time::Time;
pub(super) use compare::compare_all;
pub use load::MAX_STEP;
use load::StepOutcome;
pub(crate) use load::{NewInLog, SeqRange, changed_subjects, find_new, has_diverged, newest};
pub(crate) use positions::{Followed, Log, Positions, SEARCH_POSITIONS, store as store_position};

/// How far the index is behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexLag {
    /// New assets, reports, tasks and changes that were not followed yet.
    pub waiting: i64,
    /// How many of these are assets.
    pub assets: i64,
}

/// The last numbers of the logs, at some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogHeads([i64; 4]);

impl LogHeads {
    /// What stands in the database now.
    pub fn load(tx: &mut dyn Tx) -> Result<Self> {
        load::heads(tx).map(Self)
    }

    /// How much of this the index has not followed.
    pub fn lag(&self, index: &mut dyn Tx) -> Result<IndexLag> {
        let positions = Positions::load(index)?;
        let behind = |(head, log): (&i64, Log)| (head - positions.seq(log)).max(0);
        let behind: Vec<i64> = self.0.iter().zip(Log::NUMBERED).map(behind).collect();
        let is_filling = i64::from(positions.seq(Log::Told) == 0);
        Ok(IndexLag {
            waiting: behind.iter().sum::<i64>().max(is_filling),
            assets: behind.first().copied().unwrap_or_default(),
        })
    }

    /// The newest change.
    pub(crate) fn changes(&self) -> i64 {
        self.0.get(3).copied().unwrap_or_default()
    }

    /// The newest asset.
    pub fn assets(&self) -> i64 {
        self.0.first().copied().unwrap_or_default()
    }
}

/// When the oldest asset was published that the index has not followed.
pub fn oldest_waiting(tx: &mut dyn Tx) -> Result<Option<Time>> {
    let reached = Positions::load(tx.index()?)?.seq(Log::Assets);
    tx.query_first("SELECT created_at FROM assets WHERE seq > $1 ORDER BY seq LIMIT 1", params![reached])
}

impl Store {
    /// Brings a part of what is new into the graph, and tells whether more waits. Blocks. A process that does not write
    /// the index does nothing.
    pub fn follow_graph_step(&self, now: Time) -> Result<bool> {
        self.follow_graph_part(MAX_STEP, now)
    }

    /// The same with at most so many numbers of each log. However many they are, the graph comes to the same state.
    pub fn follow_graph_part(&self, most: i64, now: Time) -> Result<bool> {
        let Some(index) = self.index().filter(|index| index.is_writable()) else { return Ok(false) };
        let positions = Positions::load(&mut index.snapshot()?)?;
        match self.read_now(move |tx| load::load_step(tx, &positions, most))? {
            StepOutcome::Diverged => {
                tracing::warn!("the graph is of another state of the database; it is made again");
                index.write(clear)?;
                Ok(true)
            }
            StepOutcome::Read(step) => {
                let has_more = step.has_more;
                // A write of nothing would still be another state of the index.
                if !step.is_empty() {
                    index.write(|tx| apply::apply_step(tx, &step, now))?;
                }
                Ok(has_more)
            }
        }
    }

    /// Changes the index in one transaction. Blocks.
    pub fn write_index<T>(&self, op: impl FnOnce(&mut dyn Tx) -> Result<T>) -> Result<T> {
        match self.index() {
            Some(index) => index.write(op),
            None => Err(no_index()),
        }
    }
}

/// Empties the graph, so that it is made again.
pub(crate) fn clear(index: &mut dyn Tx) -> Result<()> {
    for table in index_sql::CLEAR {
        index.run(table, params![])?;
    }
    Ok(())
}
