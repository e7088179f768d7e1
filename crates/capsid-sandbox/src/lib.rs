#![doc = include_str!("../README.md")]
// This crate is where programs are spawned; everywhere else the method is disallowed.
#![allow(clippy::disallowed_methods)]

pub mod agent;
pub mod browser;
mod bubblewrap;
mod environment;
pub mod git;
pub mod isolation;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(not(target_os = "linux"))]
#[path = "no_landlock.rs"]
mod landlock;
mod leftovers;
mod limits;
mod output;
mod process;
mod program;
mod validation;

pub use agent::{AgentEnd, AgentRequest, run_agent};
pub use isolation::{Confinement, Isolation, IsolationPolicy, SandboxProbe, probe};
pub use limits::ProcessLimits;
pub use validation::{FinishedProcess, ProcessEnd, run_validation, run_validation_at};
