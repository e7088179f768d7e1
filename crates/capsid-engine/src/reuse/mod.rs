//! Looking for a proven solution of somebody else before a cycle.

use crate::config;
use capsid_client::Node;
use capsid_model::{Object, Problem};

/// From this score on a solution is shown in the prompt.
pub const REFERENCE: f64 = 0.72;
/// From this score on it is offered to be applied as it is.
pub const DIRECT: f64 = 0.85;

/// What is made of a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is shown in the prompt.
    Reference,
    /// It is offered to be applied as it is, with a short prompt.
    Direct,
}

/// A solution that was found, fetched and checked.
#[derive(Debug, Clone)]
pub struct Hit {
    /// What is made of it.
    pub mode: Mode,
    /// Its score, to three places.
    pub score: f64,
    /// The capsule's id.
    pub asset_id: String,
    /// Who published it.
    pub source_node_id: String,
    /// The capsule, its id checked.
    pub capsule: Object,
    /// Its gene, where the hub gave it and its id holds.
    pub gene: Option<Object>,
}

/// How a search ended. It never fails a cycle.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// What was found.
    pub hit: Option<Hit>,
    /// Why nothing was: `no_signals`, `no_results`, `below_threshold`, `timeout`, ...
    pub miss: Option<String>,
    /// What went wrong, to be told and no more.
    pub problem: Option<Problem>,
}

/// The score of a solution: confidence, times how often it worked in a row, times its publisher's reputation.
pub fn score(confidence: f64, streak: u64, reputation: Option<f64>) -> f64 {
    let streak = streak.clamp(1, 5) as f64;
    let reputation = reputation.filter(|value| *value != 0.0).unwrap_or(50.0).clamp(0.0, 100.0);
    (confidence.clamp(0.0, 1.0) * streak * (reputation / 100.0) * 1000.0).round() / 1000.0
}

/// Searches the hub for what answers the signals.
pub fn search(_node: &Node, _signals: &[String], _bound: config::Reuse) -> Search {
    Search::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_one_in_the_books() {
        assert_eq!(score(0.85, 3, Some(80.0)), 2.04);
        assert_eq!(score(0.85, 0, None), 0.425);
        assert_eq!(score(0.85, 9, Some(0.0)), 2.125);
    }
}
