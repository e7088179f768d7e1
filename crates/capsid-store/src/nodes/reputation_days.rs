//! How nodes stood over time: one point a day, on days on which something changed.

use crate::db::DAY_MS;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How many days are remembered.
pub const KEPT_DAYS: i64 = 730;

row! {
    /// A reputation at a moment.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ReputationPoint {
        pub at: i64 = "at",
        /// 0 to 100.
        pub score: f64 = "score",
    }
}

row! {
    /// How a node stands: as it was last worked out, and what an operator set instead.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ReputationState {
        /// As it was worked out.
        pub computed: f64 = "reputation",
        pub set: Option<f64> = "reputation_override",
    }
}

impl ReputationState {
    /// The reputation that holds.
    pub fn score(&self) -> f64 {
        self.set.unwrap_or(self.computed)
    }
}

/// How a node stands.
pub fn load_state(tx: &mut dyn Tx, node_id: &str) -> Result<Option<ReputationState>> {
    tx.query_first(select!(ReputationState, "FROM nodes WHERE node_id = $1"), params![node_id])
}

/// Notes how a node stands now, where that is not how it stood `before`.
pub fn record_point(
    tx: &mut dyn Tx,
    node_id: &str,
    before: Option<ReputationState>,
    now: Time,
) -> Result<()> {
    let gone = || crate::damaged(format!("The node {node_id} is not there after it was changed."));
    let state = load_state(tx, node_id)?.ok_or_else(gone)?;
    if before.is_some_and(|before| before.score().total_cmp(&state.score()).is_eq()) {
        return Ok(());
    }
    let today = now.0.div_euclid(DAY_MS);
    tx.run(
        "INSERT INTO reputation_days (node_id, day, at, score) VALUES ($1, $2, $3, $4)
         ON CONFLICT (node_id, day) DO UPDATE SET at = excluded.at, score = excluded.score",
        params![node_id, today, now, state.score()],
    )?;
    tx.run(
        "DELETE FROM reputation_days WHERE node_id = $1 AND day < $2",
        params![node_id, today - KEPT_DAYS],
    )?;
    Ok(())
}

/// How a node stood, the oldest first.
pub fn list_points(tx: &mut dyn Tx, node_id: &str) -> Result<Vec<ReputationPoint>> {
    tx.query_all(
        select!(ReputationPoint, "FROM reputation_days WHERE node_id = $1 ORDER BY day LIMIT $2"),
        params![node_id, KEPT_DAYS + 1],
    )
}
