//! What a hub and its runner say to each other.

use serde::{Deserialize, Serialize};

/// One bundle to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunnerJob {
    pub job_id: String,
    pub asset_id: String,
    /// The change, as a unified diff.
    pub diff: String,
    /// What is to be run.
    pub commands: Vec<String>,
    /// Programs that this hub allows beside node, npm and npx.
    pub programs: Vec<String>,
    /// A small project in which the commands fail, where the bundle brings one.
    pub files: Vec<RunnerFile>,
    /// How long one command may take.
    pub command_seconds: u64,
}

/// One file of a small project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunnerFile {
    pub path: String,
    pub text: String,
}

/// What a runner found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunnerReport {
    pub job_id: String,
    /// vacuous_empty, vacuous_base, reproduced, failed, flaky or inconclusive.
    pub outcome: String,
    /// What was missing, or how it failed; may be empty.
    #[serde(default)]
    pub reason: String,
    /// Where it ran, such as `linux x64, node v20.20.0`.
    #[serde(default)]
    pub runtime: String,
    /// How long all runs took.
    pub seconds: f64,
}
