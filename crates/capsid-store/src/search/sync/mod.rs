//! Following the database with the search, a step at a time.
//!
//! A step reads the assets that are new and those that the log of changes names, works out by which terms they are found
//! and what they mean, and puts that into the index. It does not matter how often or in which order assets are looked at,
//! and a step that was cut off is done again. It follows the same logs as the graph, each at its own pace, so that a search
//! never waits for the graph.

mod apply;
mod load;
mod upkeep;

use crate::db::tx::Tx;
use crate::graph;
use crate::graph::IndexLag;
use crate::graph::sync::{Log, LogHeads, Positions, SEARCH_POSITIONS};
use crate::params;
use crate::store::Store;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use load::StepOutcome;

/// The last numbers of the logs that the search follows, at some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchHeads {
    assets: i64,
    changes: i64,
}

impl SearchHeads {
    /// What stands in the database now. Reads two rows.
    pub fn load(tx: &mut dyn Tx) -> Result<Self> {
        let (assets, changes) = tx.query_one::<(i64, i64)>(
            "SELECT COALESCE((SELECT MAX(seq) FROM assets), 0), COALESCE((SELECT MAX(seq) FROM changes), 0)",
            params![],
        )?;
        Ok(Self { assets, changes })
    }

    /// How much of this the search has not followed. Reads two rows.
    pub fn lag(&self, index: &mut dyn Tx) -> Result<IndexLag> {
        let positions = Positions::load_from(index, &SEARCH_POSITIONS)?;
        let behind = |head: i64, log: Log| (head - positions.seq(log)).max(0);
        let assets = behind(self.assets, Log::Assets);
        Ok(IndexLag { waiting: assets + behind(self.changes, Log::Changes), assets })
    }
}

/// The last numbers of all logs that the index follows, at some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexHeads(LogHeads);

impl IndexHeads {
    /// What stands in the database now.
    pub fn load(tx: &mut dyn Tx) -> Result<Self> {
        LogHeads::load(tx).map(Self)
    }

    /// How much of this the graph or the search has not followed, whichever is further behind.
    pub fn lag(&self, index: &mut dyn Tx) -> Result<IndexLag> {
        let heads = SearchHeads { assets: self.0.assets(), changes: self.0.changes() };
        let (graph, search) = (self.0.lag(index)?, heads.lag(index)?);
        Ok(IndexLag { waiting: graph.waiting.max(search.waiting), assets: graph.assets.max(search.assets) })
    }

    /// The newest asset.
    pub fn assets(&self) -> i64 {
        self.0.assets()
    }
}

impl Store {
    /// Brings a part of what is new into the search, and tells whether more waits. Blocks. A process that does not write
    /// the index does nothing.
    pub fn follow_search_step(&self, now: Time) -> Result<bool> {
        let Some(index) = self.index().filter(|index| index.is_writable()) else { return Ok(false) };
        let positions = Positions::load_from(&mut index.snapshot()?, &SEARCH_POSITIONS)?;
        match self.read_now(move |tx| load::load_step(tx, &positions))? {
            StepOutcome::Diverged => {
                tracing::warn!("the search is of another state of the database; it is made again");
                index.write(apply::clear)?;
                Ok(true)
            }
            StepOutcome::Read(step) => {
                let has_more = step.has_more;
                if !step.is_empty() {
                    index.write(move |tx| apply::apply_step(tx, step, now))?;
                }
                Ok(has_more)
            }
        }
    }

    /// Brings a part of what is new into the index, and tells whether more waits. Blocks. A process that does not write
    /// the index does nothing.
    pub fn follow_step(&self, now: Time) -> Result<bool> {
        let searched = self.follow_search_step(now)?;
        Ok(self.follow_graph_step(now)? || searched)
    }

    /// Brings everything that is new into the index. Blocks.
    pub fn follow_all(&self, now: Time) -> Result<()> {
        while self.follow_step(now)? {}
        Ok(())
    }

    /// How far the index is behind what the database holds now. Blocks.
    pub fn index_lag(&self) -> Result<IndexLag> {
        self.read_now(|tx| IndexHeads::load(tx)?.lag(tx.index()?))
    }

    /// Empties the index, so that it is made again.
    pub fn reset_index(&self) -> Result<()> {
        self.write_index(|tx| {
            graph::sync::clear(tx)?;
            apply::clear(tx)
        })
    }
}
