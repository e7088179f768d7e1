//! Looking for a proven solution of somebody else before a cycle, and telling its hub how it did.

pub mod log;
mod matching;
pub mod outbox;
mod policy;
pub mod report;
mod search;
mod trial_search;

pub use policy::ReusePolicy;
pub use search::search;

use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_model::{Object, Problem, Result, Value, json};
use capsid_rules::learning::foreign_patch::ForeignPatchRefusal;
use capsid_rules::learning::match_level::MatchLevel;

/// From this score on a solution is shown in the prompt.
pub const REFERENCE: f64 = 0.72;
/// From this score on its patch may be tried.
pub const DIRECT: f64 = 0.85;

/// What is made of a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReuseMode {
    /// It is shown in the prompt.
    Reference,
    /// Its patch may be tried before an agent is called.
    Direct,
}

impl ReuseMode {
    /// The word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Direct => "direct",
        }
    }

    /// Where the change of such a run comes from, as events and capsules say it.
    pub fn source_type(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Direct => "reused",
        }
    }
}

/// A solution that was found, fetched and checked.
#[derive(Debug, Clone)]
pub struct ReuseHit {
    /// What is made of it.
    pub mode: ReuseMode,
    /// Whether it is a candidate that was taken on trial.
    pub is_candidate: bool,
    /// Its score, to three places.
    pub score: f64,
    /// How well the problem that it solved matches the one at hand.
    pub level: Option<MatchLevel>,
    /// Whether its patch may be tried before an agent is called, or why it is only shown.
    pub can_try: std::result::Result<(), ForeignPatchRefusal>,
    pub asset_id: String,
    /// Who published it, by the hub's word; empty where it does not tell.
    pub source_node_id: String,
    /// The chain that it belongs to, where the hub tells one.
    pub chain_id: Option<String>,
    /// What its publisher's word is worth there, from 0 to 100.
    pub reputation: Option<f64>,
    /// The capsule, its id checked.
    pub capsule: Object,
    /// Its gene, where the hub gave it and its id holds.
    pub gene: Option<Object>,
}

/// How a search ended. It never fails a cycle.
#[derive(Debug, Clone, Default)]
pub struct ReuseSearch {
    /// The hub that was asked.
    pub hub: String,
    /// What it was asked for, as it was sent.
    pub signals: Vec<String>,
    pub hit: Option<ReuseHit>,
    /// Why nothing was: `no_signals`, `no_problem`, `no_results`, `no_match`, `below_threshold`, `timeout`, ...
    pub miss: Option<String>,
    /// What went wrong, to be told and no more.
    pub problem: Option<Problem>,
}

impl ReuseSearch {
    /// What a run keeps of a hit: enough to record and report it later. Null without one.
    pub fn provenance(&self) -> Value {
        self.hit.as_ref().map_or(Value::Null, |hit| {
            json!({
                "mode": hit.mode.as_str(),
                "score": hit.score,
                "level": hit.level,
                "not_tried": hit.can_try.as_ref().err().map(ToString::to_string),
                "asset_id": hit.asset_id,
                "is_candidate": hit.is_candidate,
                "source_node_id": hit.source_node_id,
                "chain_id": hit.chain_id,
                "hub": self.hub,
            })
        })
    }

    /// For programs, and for the record of the run.
    pub fn to_json(&self) -> Value {
        match &self.hit {
            Some(_) => self.provenance(),
            None => json!({
                "hub": self.hub,
                "miss": self.miss,
                "problem": self.problem.as_ref().map(|problem| json!({
                    "code": problem.code.as_str(),
                    "message": problem.message,
                })),
            }),
        }
    }
}

/// This node and the hub of a repository, for calls that a cycle waits for: one try, and not for long. None where no
/// hub is configured.
pub fn node(workspace: &Workspace) -> Result<Option<NodeClient>> {
    let Some(settings) = workspace.config.hub.settings(&*workspace.env)? else {
        return Ok(None);
    };
    workspace.node(&settings.for_search()).map(Some)
}
