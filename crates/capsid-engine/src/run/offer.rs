//! The stored solutions that a run was offered, and what became of each.

use capsid_rules::learning::match_level::MatchLevel;
use capsid_rules::learning::proof::ProofGrade;
use capsid_rules::learning::reuse_outcome::PatchTrial;
use serde::{Deserialize, Serialize};

/// A capsule whose problem matches that of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapsuleOffer {
    /// Its id in this store; for a solution of a hub, the id that its publisher gave it.
    pub capsule_id: String,
    /// Its content id.
    pub asset_id: String,
    pub level: MatchLevel,
    pub grade: ProofGrade,
    pub streak: u64,
    pub title: String,
    /// Whether it comes from a hub and not from this store.
    pub is_foreign: bool,
    /// Whether its patch may be tried before an agent is called.
    pub can_try: bool,
    /// Why it is not tried, or why its trial failed, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub trial: PatchTrial,
    /// Its change, as git applies it; empty if it has none.
    #[serde(default)]
    pub patch: String,
}
