//! Which runs a proof needs, and what the first and the last of them mean for the cycle.

use super::record::ProofRun;
use capsid_model::text_enum;
use serde::{Deserialize, Serialize};

/// How often `before` runs at most.
const MAX_BEFORE_RUNS: usize = 3;
/// A slower `before` is not repeated.
const MAX_REPEATED_MS: u64 = 10_000;
/// After a slower `before` the proof does without `without source`.
const MAX_REVERTED_MS: u64 = 60_000;
/// Classes of problems whose cause is the setup of the machine.
const SETUP_CLASSES: [&str; 4] = ["dependency_error", "network_error", "permission_denied", "not_found"];

/// What `before` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BeforeOutcome {
    /// It fails with the problem: repair it.
    Reproduced,
    /// It passes: the log may be old.
    Passes,
    /// It fails because of the setup: the user has to fix that first.
    SetupBroken,
    /// It fails with another problem: repair that one first.
    AnotherProblem,
    /// It fails, and its output shows no problem that is known.
    Unexplained,
}

impl BeforeOutcome {
    /// What a run of `before` means for a problem. `class` is that of the problem in the output.
    pub fn from_run(run: &ProofRun, message_id: Option<&str>, class: Option<&str>) -> Self {
        match run.problem.as_deref() {
            _ if run.ok => Self::Passes,
            Some(found) if Some(found) == message_id => Self::Reproduced,
            Some(_) if class.is_some_and(|class| SETUP_CLASSES.contains(&class)) => Self::SetupBroken,
            Some(_) => Self::AnotherProblem,
            None => Self::Unexplained,
        }
    }
}

/// Whether `before` runs once more, to find out whether its failure is flaky.
pub fn should_repeat_before(durations_ms: &[u64]) -> bool {
    durations_ms.len() < MAX_BEFORE_RUNS && durations_ms.iter().all(|duration| *duration <= MAX_REPEATED_MS)
}

/// `[proof] revert`: when `without source` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevertMode {
    /// If `before` took at most a minute.
    #[default]
    Auto,
    Always,
    Never,
}

text_enum!(RevertMode { Auto = "auto", Always = "always", Never = "never" });

impl RevertMode {
    /// Whether `without source` runs. `before_ms` is the time of `before`, if it ran.
    pub fn should_run(self, before_ms: Option<u64>) -> bool {
        match self {
            Self::Auto => before_ms.is_none_or(|duration| duration <= MAX_REVERTED_MS),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// `[proof] test_changes`: what happens if the old checks fail with a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestChangePolicy {
    /// The change waits for a review.
    #[default]
    Review,
    /// The cycle fails.
    Refuse,
    /// The change is accepted as `passes`.
    Allow,
}

text_enum!(TestChangePolicy { Review = "review", Refuse = "refuse", Allow = "allow" });

/// What happens to a change whose checks changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestChangeDecision {
    Accept,
    /// The change waits for `capsid review`.
    AwaitReview,
    /// The cycle fails with `tests_weakened`.
    TestsWeakened,
}

impl TestChangePolicy {
    /// What happens to a change. Missing or skipped tests are never accepted.
    pub fn decide(self, old_checks_pass: bool, is_weakened: bool, is_unattended: bool) -> TestChangeDecision {
        match self {
            _ if is_weakened => TestChangeDecision::TestsWeakened,
            _ if old_checks_pass => TestChangeDecision::Accept,
            Self::Allow => TestChangeDecision::Accept,
            Self::Review if !is_unattended => TestChangeDecision::AwaitReview,
            Self::Review | Self::Refuse => TestChangeDecision::TestsWeakened,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::ProofStep;
    use super::*;

    fn outcome(ok: bool, problem: Option<&str>, class: &str) -> BeforeOutcome {
        let problem = problem.map(str::to_owned);
        let run =
            ProofRun { run: ProofStep::Before, ok, exit_code: None, duration_ms: 1, problem, tests: None };
        BeforeOutcome::from_run(&run, Some("id"), Some(class))
    }

    #[test]
    fn before_tells_whether_there_is_something_to_repair() {
        assert_eq!(outcome(true, None, "test_failure"), BeforeOutcome::Passes);
        assert_eq!(outcome(false, Some("id"), "not_found"), BeforeOutcome::Reproduced);
        assert_eq!(outcome(false, Some("x"), "network_error"), BeforeOutcome::SetupBroken);
        assert_eq!(outcome(false, Some("x"), "test_failure"), BeforeOutcome::AnotherProblem);
        assert_eq!(outcome(false, None, "test_failure"), BeforeOutcome::Unexplained);
    }

    #[test]
    fn a_quick_before_runs_up_to_three_times() {
        assert!(should_repeat_before(&[10_000, 5]));
        assert!(!should_repeat_before(&[1, 1, 1]));
        assert!(!should_repeat_before(&[10_001]));
    }

    #[test]
    fn without_source_runs_after_a_before_of_at_most_a_minute() {
        assert!(RevertMode::Auto.should_run(Some(60_000)) && RevertMode::Auto.should_run(None));
        assert!(!RevertMode::Auto.should_run(Some(60_001)));
        assert!(RevertMode::Always.should_run(Some(60_001)) && !RevertMode::Never.should_run(Some(1)));
    }

    #[test]
    fn old_checks_that_fail_wait_for_a_review() {
        let decide = |policy: TestChangePolicy, is_unattended| policy.decide(false, false, is_unattended);
        assert_eq!(decide(TestChangePolicy::default(), false), TestChangeDecision::AwaitReview);
        assert_eq!(decide(TestChangePolicy::Review, true), TestChangeDecision::TestsWeakened);
        assert_eq!(decide(TestChangePolicy::Refuse, false), TestChangeDecision::TestsWeakened);
        assert_eq!(decide(TestChangePolicy::Allow, true), TestChangeDecision::Accept);
        for policy in TestChangePolicy::ALL {
            assert_eq!(policy.decide(true, false, true), TestChangeDecision::Accept);
            assert_eq!(policy.decide(true, true, false), TestChangeDecision::TestsWeakened);
        }
    }
}
