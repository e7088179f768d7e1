//! What a schedule asks of an engine, and what it gets back.

use super::agent::AgentPlan;
use crate::Result;
use crate::learning::corpus::{BugCase, FileTree};

/// A cycle to run: the tree is broken, and the log shows how.
pub struct CycleTask<'a> {
    pub case: &'a BugCase,
    pub log: &'a str,
    /// Tasks with the same value have the same solution, except for names, folders and values.
    pub solution: &'a str,
    pub plan: &'a AgentPlan,
}

/// A stored solution that was credited.
#[derive(Clone, Debug)]
pub struct CapsuleCredit {
    pub capsule: String,
    /// Whether the change of the cycle is the change of the capsule, or the same with other names.
    pub was_applied: bool,
}

/// What a cycle did.
#[derive(Clone, Debug, Default)]
pub struct CycleRecord {
    /// Recorded as a success.
    pub is_success: bool,
    /// Whether the problem is gone.
    pub is_fixed: bool,
    pub was_agent_called: bool,
    pub prompt_chars: Option<usize>,
    /// The live error is not among the signals, or the intent is not to repair it.
    pub is_error_hidden: bool,
    pub capsules_before: usize,
    pub credits: Vec<CapsuleCredit>,
    /// Capsules that were tried or shown.
    pub offered: Vec<String>,
    /// Stored capsules whose patch applies to the broken tree.
    pub fitting: Vec<String>,
    /// The capsule that solved the problem without an agent.
    pub solved_by: Option<String>,
    pub new_capsule: Option<String>,
    /// What the engine printed.
    pub message: String,
}

/// An engine with one repository.
pub trait LearningEngine {
    /// The user commits a tree.
    fn commit_tree(&mut self, tree: &FileTree) -> Result<()>;
    /// The user reports a log, and the engine runs one cycle. The change is committed if it was kept.
    fn run_cycle(&mut self, task: &CycleTask<'_>) -> Result<CycleRecord>;
    /// Somebody's capsule with only a generic trigger is put into the store.
    fn add_decoy(&mut self) -> Result<()>;
}
