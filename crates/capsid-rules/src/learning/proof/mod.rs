//! What the runs of a proof are worth.

mod grade;
pub mod plan;
mod record;

pub use grade::ProofGrade;
pub use record::{PROOF_VERSION, ProofRecord, ProofRun, ProofStep, TestCounts};

use super::flaky::FlakyCheck;
use super::repro_command::ReproCommand;

/// All that a grade depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofEvidence<'a> {
    /// The message id of the problem; none for a feature request.
    pub problem: Option<&'a str>,
    pub runs: &'a [ProofRun],
    /// Whether the change touches check files, so that the old checks must pass too.
    pub has_check_changes: bool,
    /// Whether the command proves nothing.
    pub is_vacuous: bool,
    /// Whether `after` ran fewer tests than `before`, or skipped one, or lost its summary.
    pub is_weakened: bool,
    /// Whether `without source` failed in a test that is new.
    pub has_new_failing_test: bool,
}

/// What keeps a proof from the next grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProofGap {
    NoCommand,
    Vacuous,
    Weakened,
    AfterFails,
    TooFewPasses { passes: u32, needed: u32 },
    NoBefore,
    BeforePasses,
    BeforeShowsAnother,
    OldChecksMissing,
    OldChecksFail,
    WithoutSourceMissing,
    WithoutSourcePasses,
    WithoutSourceShowsAnother,
    NoNewTest,
}

/// The grade that the runs earn.
pub fn grade(evidence: &ProofEvidence<'_>) -> ProofGrade {
    evaluate(evidence).0
}

/// One sentence about what the next grade needs; none at the highest grade.
pub fn missing_for_next_grade(evidence: &ProofEvidence<'_>) -> Option<String> {
    evaluate(evidence).1.map(ProofGap::to_sentence)
}

/// The flaky check that the runs show: both results on the same files. Without changed check files `without source`
/// runs on the files of `before`.
pub fn find_flaky_check(runs: &[ProofRun], has_check_changes: bool) -> Option<FlakyCheck> {
    let is_before = |step: ProofStep| {
        step == ProofStep::Before || (step == ProofStep::WithoutSource && !has_check_changes)
    };
    let check = |is_included: &dyn Fn(ProofStep) -> bool| {
        FlakyCheck::from_results(runs.iter().filter(|run| is_included(run.run)).map(|run| run.ok))
    };
    check(&is_before)
        .or_else(|| check(&|step| step == ProofStep::After))
        .or_else(|| check(&|step| step == ProofStep::OldChecks))
}

fn evaluate(evidence: &ProofEvidence<'_>) -> (ProofGrade, Option<ProofGap>) {
    if let Err(gap) = check_passes(evidence) {
        return (ProofGrade::None, Some(gap));
    }
    if evidence.problem.is_none() {
        // A feature request has no failure to start from: its new tests must fail without the source.
        return match check_old_checks(evidence).and_then(|()| check_reverts(evidence)) {
            Ok(()) => (ProofGrade::FailToPassReverts, None),
            Err(gap) => (ProofGrade::Passes, Some(gap)),
        };
    }
    if let Err(gap) = check_before(evidence).and_then(|()| check_old_checks(evidence)) {
        return (ProofGrade::Passes, Some(gap));
    }
    match check_reverts(evidence) {
        Ok(()) => (ProofGrade::FailToPassReverts, None),
        Err(gap) => (ProofGrade::FailToPass, Some(gap)),
    }
}

/// What `after` must show: as many passes in a row as a flaky check needs, and no weaker tests.
fn check_passes(evidence: &ProofEvidence<'_>) -> Result<(), ProofGap> {
    let mut after = evidence.select(ProofStep::After).peekable();
    if after.peek().is_none() {
        return Err(ProofGap::NoCommand);
    }
    if evidence.is_vacuous {
        return Err(ProofGap::Vacuous);
    }
    let passes = after.try_fold(0_u32, |passes, run| {
        run.passes_without(evidence.problem).then(|| passes.saturating_add(1))
    });
    let passes = passes.ok_or(ProofGap::AfterFails)?;
    if evidence.is_weakened {
        return Err(ProofGap::Weakened);
    }
    let flaky = find_flaky_check(evidence.runs, evidence.has_check_changes);
    match flaky.map_or(1, FlakyCheck::passes_needed) {
        needed if passes < needed => Err(ProofGap::TooFewPasses { passes, needed }),
        _ => Ok(()),
    }
}

/// What `before` must show: a failure with the problem's own id.
fn check_before(evidence: &ProofEvidence<'_>) -> Result<(), ProofGap> {
    let mut before = evidence.select(ProofStep::Before).peekable();
    before.peek().ok_or(ProofGap::NoBefore)?;
    let mut failed = before.filter(|run| !run.ok).peekable();
    failed.peek().ok_or(ProofGap::BeforePasses)?;
    let shows_problem = failed.any(|run| run.problem.as_deref() == evidence.problem);
    if shows_problem { Ok(()) } else { Err(ProofGap::BeforeShowsAnother) }
}

fn check_old_checks(evidence: &ProofEvidence<'_>) -> Result<(), ProofGap> {
    let mut runs = evidence.select(ProofStep::OldChecks).peekable();
    if runs.peek().is_none() {
        return if evidence.has_check_changes { Err(ProofGap::OldChecksMissing) } else { Ok(()) };
    }
    if runs.all(|run| run.passes_without(evidence.problem)) { Ok(()) } else { Err(ProofGap::OldChecksFail) }
}

fn check_reverts(evidence: &ProofEvidence<'_>) -> Result<(), ProofGap> {
    let mut runs = evidence.select(ProofStep::WithoutSource).peekable();
    runs.peek().ok_or(ProofGap::WithoutSourceMissing)?;
    let mut failed = runs.filter(|run| !run.ok).peekable();
    failed.peek().ok_or(ProofGap::WithoutSourcePasses)?;
    let shows_problem =
        evidence.problem.is_some() && failed.any(|run| run.problem.as_deref() == evidence.problem);
    match evidence.problem {
        _ if shows_problem || evidence.has_new_failing_test => Ok(()),
        Some(_) => Err(ProofGap::WithoutSourceShowsAnother),
        None => Err(ProofGap::NoNewTest),
    }
}

impl<'a> ProofEvidence<'a> {
    fn select(&self, step: ProofStep) -> impl Iterator<Item = &'a ProofRun> + use<'a> {
        self.runs.iter().filter(move |run| run.run == step)
    }
}

impl ProofRecord {
    /// The record of a proof, with the grade that its runs earn.
    pub fn from_evidence(
        evidence: &ProofEvidence<'_>,
        command: Option<&ReproCommand>,
        check_files: Vec<String>,
        output_sha256: Option<String>,
    ) -> Self {
        Self {
            v: PROOF_VERSION,
            grade: grade(evidence),
            command: command.map(|command| command.command.clone()),
            command_source: command.map(|command| command.source),
            runs: evidence.runs.to_vec(),
            flaky: find_flaky_check(evidence.runs, evidence.has_check_changes),
            check_files,
            output_sha256,
        }
    }
}

impl ProofGap {
    fn to_sentence(self) -> String {
        let text = match self {
            Self::NoCommand => "No command ran with the change; name one with `--repro`.",
            Self::Vacuous => "The command proves nothing; name one that can fail with `--repro`.",
            Self::Weakened => {
                "The tests are weaker than before; restore the tests that are missing or skipped."
            }
            Self::AfterFails => "The command must pass with the change, and the problem must be gone.",
            Self::TooFewPasses { passes, needed } => {
                return format!("The check is flaky; it needs {needed} passes in a row and has {passes}.");
            }
            Self::NoBefore => "The command must be seen to fail with this problem before the change.",
            Self::BeforePasses => "The command passed before the change; it must fail with this problem.",
            Self::BeforeShowsAnother => {
                "The command failed before the change with another problem, not this one."
            }
            Self::OldChecksMissing => "The change touches check files; the old checks must pass with it too.",
            Self::OldChecksFail => "The old checks fail with the source part of the change.",
            Self::WithoutSourceMissing => {
                "The command must fail again without the source part of the change."
            }
            Self::WithoutSourcePasses => {
                "The command passes without the source part of the change; it must fail."
            }
            Self::WithoutSourceShowsAnother => {
                "Without the source part the command must fail with this problem or in a new test."
            }
            Self::NoNewTest => "A new test must fail without the source part of the change.",
        };
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
