//! The record of a proof, as it is stored in reports, events and capsules.
//!
//! Readers ignore members they do not know, because later versions add some. A member of the wrong type is an error.

use super::super::flaky::FlakyCheck;
use super::super::repro_command::CommandSource;
use super::grade::ProofGrade;
use capsid_model::text_enum;
use serde::{Deserialize, Serialize};

/// The version of the record that this program writes.
pub const PROOF_VERSION: u32 = 1;

/// Which files a run of a proof saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofStep {
    /// The tree without the change.
    Before,
    /// The tree with the whole change.
    After,
    /// The tree with the source part of the change: the old checks decide.
    OldChecks,
    /// The tree with the check part of the change.
    WithoutSource,
}

text_enum!(ProofStep {
    Before = "before",
    After = "after",
    OldChecks = "old_checks",
    WithoutSource = "without_source",
});

/// What a test runner counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestCounts {
    /// Passed and failed tests.
    pub ran: u64,
    pub failed: u64,
    pub skipped: u64,
}

/// One run of the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofRun {
    pub run: ProofStep,
    /// Whether the command passed.
    pub ok: bool,
    /// None if a signal or a time limit ended it.
    #[serde(default)]
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    /// The message id of the problem in its output.
    #[serde(default)]
    pub problem: Option<String>,
    /// None if the output has no summary of tests.
    #[serde(default)]
    pub tests: Option<TestCounts>,
}

impl ProofRun {
    /// Whether the run passed, without a failed test and without this problem.
    pub fn passes_without(&self, problem: Option<&str>) -> bool {
        self.ok
            && self.tests.is_none_or(|tests| tests.failed == 0)
            && (problem.is_none() || self.problem.as_deref() != problem)
    }
}

/// What proves a change: the command, its runs and what they are worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofRecord {
    pub v: u32,
    pub grade: ProofGrade,
    /// None if no command could run.
    #[serde(default)]
    pub command: Option<String>,
    #[serde(default)]
    pub command_source: Option<CommandSource>,
    pub runs: Vec<ProofRun>,
    /// Set if the same files both passed and failed.
    #[serde(default)]
    pub flaky: Option<FlakyCheck>,
    /// The check files that the change touches.
    #[serde(default)]
    pub check_files: Vec<String>,
    /// The hash of the outputs.
    #[serde(default)]
    pub output_sha256: Option<String>,
}

impl ProofRecord {
    /// The runs of one step, in order.
    pub fn runs_of(&self, step: ProofStep) -> impl Iterator<Item = &ProofRun> {
        self.runs.iter().filter(move |run| run.run == step)
    }

    /// The proof in one sentence, for `success_reason`.
    pub fn success_reason(&self) -> String {
        let Some(command) = &self.command else {
            return "No command could check the change.".to_owned();
        };
        let command = format!("`{}`", capsid_model::text::inert_line(command));
        match self.grade {
            ProofGrade::None => format!("{command} does not prove the change."),
            ProofGrade::Passes => {
                format!("{command} passes with the change; it was not seen to fail with this problem before.")
            }
            ProofGrade::FailToPass => {
                format!(
                    "{command} failed with this problem before the change and passes with it{}.",
                    self.old_checks()
                )
            }
            ProofGrade::FailToPassReverts if self.runs_of(ProofStep::Before).any(|run| !run.ok) => format!(
                "{command} failed with this problem before the change, passes with it{} and fails again without it.",
                self.old_checks()
            ),
            ProofGrade::FailToPassReverts => {
                format!(
                    "{command} passes with the change{}, and its new tests fail without it.",
                    self.old_checks()
                )
            }
        }
    }

    fn old_checks(&self) -> &'static str {
        if self.runs_of(ProofStep::OldChecks).any(|run| run.ok) { ", also under the old checks" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORED: &str = r#"{"v":1,"grade":"fail_to_pass_reverts","command":"npm test","command_source":"log","runs":[{"run":"before","ok":false,"exit_code":1,"duration_ms":702,"problem":"00ff","tests":{"ran":8,"failed":1,"skipped":0}},{"run":"after","ok":true,"exit_code":0,"duration_ms":690,"problem":null,"tests":{"ran":8,"failed":0,"skipped":0}}],"flaky":null,"check_files":["test/slug.test.js"],"output_sha256":"ab"}"#;

    #[test]
    fn a_record_keeps_its_stored_form() {
        let record: ProofRecord = serde_json::from_str(STORED).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), STORED);
        assert_eq!(record.grade, ProofGrade::FailToPassReverts);
        assert_eq!(record.runs_of(ProofStep::Before).count(), 1);
    }

    #[test]
    fn unknown_members_are_ignored() {
        let later = STORED.replacen("{\"v\":1,", "{\"v\":2,\"host\":{\"os\":\"linux\"},", 1).replacen(
            "\"ran\":8",
            "\"ran\":8,\"slow\":1",
            1,
        );
        let record: ProofRecord = serde_json::from_str(&later).unwrap();
        assert_eq!(record.v, 2);
    }

    #[test]
    fn wrong_types_and_unknown_words_are_errors() {
        for (from, to) in [
            ("\"v\":1", "\"v\":\"1\""),
            ("\"ok\":false", "\"ok\":0"),
            ("\"ran\":8", "\"ran\":-8"),
            ("fail_to_pass_reverts", "excellent"),
            ("\"run\":\"before\"", "\"run\":\"never\""),
            ("\"check_files\":[\"test/slug.test.js\"]", "\"check_files\":\"test/slug.test.js\""),
        ] {
            let broken = STORED.replacen(from, to, 1);
            assert_ne!(broken, STORED);
            assert!(serde_json::from_str::<ProofRecord>(&broken).is_err(), "{to}");
        }
    }

    #[test]
    fn the_success_reason_is_one_sentence_for_every_grade() {
        let mut record: ProofRecord = serde_json::from_str(STORED).unwrap();
        assert_eq!(
            record.success_reason(),
            "`npm test` failed with this problem before the change, passes with it and fails again without it."
        );
        for grade in ProofGrade::ALL {
            record.grade = grade;
            let reason = record.success_reason();
            assert!(reason.ends_with('.') && !reason.contains(". "), "{reason}");
            assert!(reason.chars().count() >= 20);
        }
        record.command = None;
        assert_eq!(record.success_reason(), "No command could check the change.");
    }
}
