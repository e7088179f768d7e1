//! What a report states, and where it contradicts itself.

use super::report_evidence::ControlOutcome;
use crate::learning::proof::{ProofRecord, ProofStep};
use std::fmt;

/// Clients cut a command after so many characters.
const CUT_COMMAND: usize = 200;
/// Clients list at most so many commands.
const MAX_LISTED: usize = 20;

/// One command of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatedCommand {
    pub command: Option<String>,
    pub ok: bool,
    pub exit_code: Option<i64>,
    pub timed_out: bool,
    /// Whether it says how long the command took and what its output hashes to.
    pub has_measurements: bool,
}

/// What a report states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatedReport {
    pub overall_ok: bool,
    /// The commands, if it lists them.
    pub commands: Option<Vec<StatedCommand>>,
    pub commands_passed: Option<i64>,
    pub commands_total: Option<i64>,
    pub failure_class: Option<String>,
    /// Whether the commands passed without the change.
    pub control_bare: Option<bool>,
    pub control_base: Option<bool>,
    /// The sender's own proof of the change.
    pub proof: Option<ProofRecord>,
    /// The files that it ran on, by path, and what it says is their hash together.
    pub files: Option<Vec<(String, String)>>,
    pub files_sha256: Option<String>,
    /// Whether it ran on files created from scratch, or on the reproduction of the bundle.
    pub is_from_scratch: bool,
    pub is_isolated: bool,
    /// Whether it names platform and architecture.
    pub has_environment: bool,
    /// Whether it names the runtime too.
    pub has_runtime: bool,
}

impl StatedReport {
    /// What the commands did without the change.
    pub fn control(&self) -> ControlOutcome {
        ControlOutcome::from_runs(self.control_bare, self.control_base)
    }

    /// Whether it says what was run.
    pub fn has_commands(&self) -> bool {
        let is_named =
            |command: &StatedCommand| command.command.as_ref().is_some_and(|text| !text.is_empty());
        self.commands.as_ref().is_some_and(|commands| !commands.is_empty() && commands.iter().all(is_named))
    }

    /// Whether it says of each command how it ended, how long it took and what its output hashes to. A command that was stopped
    /// or killed has no exit code.
    pub fn has_measurements(&self) -> bool {
        let is_measured = |command: &StatedCommand| {
            command.has_measurements && (command.exit_code.is_some() || !command.ok)
        };
        self.commands.as_deref().unwrap_or_default().iter().all(is_measured)
    }
}

/// Two statements of one report that cannot both be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportContradiction {
    PassWithFailedCommand,
    FailureWithoutFailedCommand,
    PassWithExitCode,
    CountsDiffer,
    OtherCommands,
    FilesDiffer,
    ProofDiffers,
    ProofWithoutRuns,
}

impl fmt::Display for ReportContradiction {
    /// One sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PassWithFailedCommand => "`overall_ok` is true and a command failed.",
            Self::FailureWithoutFailedCommand => "`overall_ok` is false and every command passed.",
            Self::PassWithExitCode => "A command is `ok` and its `exit_code` is not 0.",
            Self::CountsDiffer => "`commands_passed` and `commands_total` are not those of the listed commands.",
            Self::OtherCommands => "The commands are not those of the gene, in their order.",
            Self::FilesDiffer => "`files_sha256` is not the hash of the listed files.",
            Self::ProofDiffers => "`overall_ok` is false and the proof says that the change solved the problem.",
            Self::ProofWithoutRuns => {
                "The proof claims a grade that its runs do not show: a run before the change that fails, and one after it that passes."
            }
        })
    }
}

/// The first contradiction of a report, if it has one. `asked` are the commands that the hub asked its sender to run.
pub fn find_contradiction(report: &StatedReport, asked: Option<&[String]>) -> Option<ReportContradiction> {
    let is_wrong = [
        (has_exit_code_of_failure(report), ReportContradiction::PassWithExitCode),
        (passes_with_failure(report), ReportContradiction::PassWithFailedCommand),
        (fails_without_failure(report, asked.is_some()), ReportContradiction::FailureWithoutFailedCommand),
        (has_other_counts(report), ReportContradiction::CountsDiffer),
        (asked.is_some_and(|asked| has_other_commands(report, asked)), ReportContradiction::OtherCommands),
        (has_other_files(report), ReportContradiction::FilesDiffer),
        (is_proven(report) && !report.overall_ok, ReportContradiction::ProofDiffers),
        (is_proven(report) && !shows_grade(report), ReportContradiction::ProofWithoutRuns),
    ];
    is_wrong.into_iter().find_map(|(is_wrong, contradiction)| is_wrong.then_some(contradiction))
}

fn has_exit_code_of_failure(report: &StatedReport) -> bool {
    let commands = report.commands.as_deref().unwrap_or_default();
    commands.iter().any(|command| command.ok && command.exit_code.is_some_and(|code| code != 0))
}

fn passes_with_failure(report: &StatedReport) -> bool {
    let commands = report.commands.as_deref().unwrap_or_default();
    let fewer = matches!((report.commands_passed, report.commands_total), (Some(passed), Some(total)) if passed < total);
    report.overall_ok && (commands.iter().any(|command| !command.ok) || fewer)
}

/// A sender that the hub did not ask may have seen another failure than that of a command, if it says which.
fn fails_without_failure(report: &StatedReport, is_asked: bool) -> bool {
    let commands = report.commands.as_deref().unwrap_or_default();
    let is_named = report.failure_class.as_deref().is_some_and(|class| class != "ok");
    let listed_all = report.commands_total.is_none_or(|total| total == commands.len() as i64);
    !report.overall_ok
        && !commands.is_empty()
        && listed_all
        && commands.iter().all(|command| command.ok)
        && (is_asked || !is_named)
}

fn has_other_counts(report: &StatedReport) -> bool {
    let Some(commands) = report.commands.as_deref().filter(|commands| !commands.is_empty()) else {
        return false;
    };
    let (listed, passed) =
        (commands.len() as i64, commands.iter().filter(|command| command.ok).count() as i64);
    // A list may be cut, so it can only be shorter than what is counted.
    report.commands_total.is_some_and(|total| total < listed)
        || report.commands_passed.is_some_and(|stated| stated < passed)
}

fn has_other_commands(report: &StatedReport, asked: &[String]) -> bool {
    if !report.has_commands() {
        return false;
    }
    let commands = report.commands.as_deref().unwrap_or_default();
    let is_same = |stated: &StatedCommand, asked: &String| {
        let stated = stated.command.as_deref().unwrap_or_default().trim();
        let asked = asked.trim();
        stated == asked || (stated.chars().count() >= CUT_COMMAND && asked.starts_with(stated))
    };
    let asked: Vec<&String> = asked.iter().filter(|command| !command.trim().is_empty()).collect();
    let is_prefix = commands.len() <= asked.len()
        && commands.iter().zip(&asked).all(|(stated, asked)| is_same(stated, asked));
    // A run ends at the first failure; one that passes has run everything.
    let is_whole = !report.overall_ok || commands.len() >= asked.len().min(MAX_LISTED);
    !is_prefix || !is_whole
}

fn has_other_files(report: &StatedReport) -> bool {
    let (Some(files), Some(stated)) = (&report.files, &report.files_sha256) else { return false };
    *stated != hash_files(files)
}

/// The hash of files: of the sorted lines of path, a zero and the hash of the contents.
pub fn hash_files(files: &[(String, String)]) -> String {
    let mut lines: Vec<String> = files.iter().map(|(path, hash)| format!("{path}\0{hash}")).collect();
    lines.sort_unstable();
    capsid_model::hash::sha256_hex(lines.join("\n").as_bytes())
}

fn is_proven(report: &StatedReport) -> bool {
    report.proof.as_ref().is_some_and(|proof| proof.grade.is_proven())
}

/// Whether the runs of the proof show a problem that the change removes.
fn shows_grade(report: &StatedReport) -> bool {
    let Some(proof) = &report.proof else { return false };
    let fails = |step| proof.runs_of(step).any(|run| !run.ok);
    let mut after = proof.runs_of(ProofStep::After).peekable();
    let passes = after.peek().is_some() && after.all(|run| run.ok);
    passes && (fails(ProofStep::Before) || fails(ProofStep::WithoutSource))
}

#[cfg(test)]
#[path = "stated_report_tests.rs"]
mod tests;
