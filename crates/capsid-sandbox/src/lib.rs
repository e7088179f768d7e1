#![doc = include_str!("../README.md")]
// This crate is where programs are spawned; everywhere else the method is disallowed.
#![allow(clippy::disallowed_methods)]

pub mod agent;
mod agent_files;
pub mod browser;
mod confinement;
mod environment;
mod foreign_files;
pub mod git;
pub mod isolation;
mod launched;
mod layers;
mod limits;
mod mount_table;
mod output;
mod ownership;
mod plans;
mod private_tree;
mod program;
mod stop;
mod system;
mod system_tool;
mod validation;

pub use agent::{AgentEnd, AgentRequest, AgentRun, find_agent, run_agent, run_agent_at};
pub use agent_files::profile::AgentProfile;
pub use confinement::{ConfinedTree, Confinement, GitDirLayer, PrivateTree, ValidationProfile, WriteLayer};
pub use foreign_files::{ForeignFiles, copy_foreign_files, count_foreign_files};
pub use isolation::{
    Isolation, IsolationPolicy, SandboxIds, SandboxProbe, best_isolation, inside_sandbox, probe,
    require_untrusted_sandbox,
};
pub use layers::remove_layer;
pub use limits::{LimitHit, ProcessLimits, unlimited_resources};
pub use ownership::{give_copy_to_sandbox, take_from_sandbox};
pub use private_tree::{ViewUnavailable, probe_private_tree};
pub use stop::stop_process;
pub use system_tool::{SystemToolOutput, run_system_tool};
pub use validation::{FinishedProcess, ProcessEnd, run_validation, run_validation_at};
