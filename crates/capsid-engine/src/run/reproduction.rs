//! What reproduces the problem of a run, and what it showed before the change.

use capsid_rules::learning::flaky::FlakyCheck;
use capsid_rules::learning::proof::ProofRun;
use capsid_rules::learning::repro_command::CommandSource;
use capsid_rules::learning::test_summary::TestSummary;
use serde::{Deserialize, Serialize};

/// A command that failed with the problem before the change was made, and how its runs went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    pub command: String,
    pub source: CommandSource,
    /// Commands that run before it in the same view, such as a build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preparation: Vec<String>,
    /// The runs on the tree without the change.
    pub runs: Vec<ProofRun>,
    /// The tests of the first run, if its output has a summary.
    #[serde(default)]
    pub tests: Option<TestSummary>,
    /// Set if some of the runs passed.
    #[serde(default)]
    pub flaky: Option<FlakyCheck>,
    /// The end of the output of the first run that failed.
    #[serde(default)]
    pub output: String,
    /// Whether the command fails with the problem, so that it can prove a change.
    pub is_reproduced: bool,
}
