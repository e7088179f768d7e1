//! What a prompt is made of.

use capsid_rules::diagnosis::{Diagnostic, LogWindow};
use capsid_rules::learning::capsule_text::generated::TextLanguage;
use capsid_rules::learning::match_level::MatchLevel;

/// What a cycle is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CycleTask {
    #[default]
    Repair,
    /// A user asks for something new.
    Feature,
    /// A user asks for something better.
    Improvement,
    /// Nobody asked.
    Opportunity,
}

/// The problem to solve, and where the log shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptProblem {
    pub diagnostic: Diagnostic,
    /// Other problems of the same log.
    pub also: Vec<Diagnostic>,
    pub windows: Vec<LogWindow>,
    /// The name of the log, without folders.
    pub log: String,
    /// The file of the problem in the repository, if it is known.
    pub path: Option<String>,
}

/// Text that shows what a cycle without a problem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptEvidence {
    /// Where it comes from, in words of this program.
    pub source: &'static str,
    pub text: String,
}

/// Lines of a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceExcerpt {
    pub path: String,
    /// The number of the first line.
    pub first_line: usize,
    /// The line that matters, counted from the first.
    pub focus: usize,
    pub lines: Vec<String>,
}

/// A command that decides about the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptCommand {
    pub command: String,
    /// Whether the owner chose it, so that it is no data.
    pub is_trusted: bool,
}

/// A command that fails with the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptReproduction {
    pub command: PromptCommand,
    /// None if a signal or a time limit ended it.
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    /// How many of how many runs failed, if not all of them did.
    pub flaky: Option<(u32, u32)>,
}

/// What to do, step by step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSteps {
    /// The gene they are from; none for the engine's own.
    pub gene_id: Option<String>,
    pub steps: Vec<String>,
    /// Whether the engine or the owner stands behind them. Other steps are data.
    pub is_trusted: bool,
    /// Whether they are to be followed to the letter.
    pub is_strict: bool,
}

/// An attempt at the same problem that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The run, or the failed capsule where the run is not known.
    pub run_id: String,
    /// What its agent said that it did.
    pub title: String,
    /// Why it failed.
    pub reason: String,
    pub diff: String,
    /// The end of what the command printed.
    pub output: String,
}

/// A stored solution that the agent may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSolution {
    pub capsule_id: String,
    /// How well its problem matches; none if only its signals do.
    pub level: Option<MatchLevel>,
    /// How often it was proven in a row.
    pub streak: u64,
    pub is_foreign: bool,
    pub title: String,
    pub explanation: String,
    pub diff: String,
    /// What became of its patch if it was tried, in one sentence.
    pub trial: Option<String>,
}

/// Everything that a prompt says. Texts are raw: rendering cleans and shortens them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptInput {
    pub run_id: String,
    pub task: CycleTask,
    pub problem: Option<PromptProblem>,
    /// What is shown instead of a problem.
    pub evidence: Vec<PromptEvidence>,
    /// Source around the problem, the most important first.
    pub excerpts: Vec<SourceExcerpt>,
    /// Notes of this repository that the agent may read.
    pub note_files: Vec<String>,
    pub reproduction: Option<PromptReproduction>,
    /// Commands that must pass.
    pub commands: Vec<PromptCommand>,
    pub steps: PromptSteps,
    /// Whether three repairs failed, so that another cause is looked for.
    pub should_ask_another_cause: bool,
    /// A hint from the owner.
    pub hint: Option<String>,
    /// The most files to change.
    pub max_files: u64,
    /// Paths that the owner or the engine forbids.
    pub forbidden: Vec<String>,
    /// Checks that rigor asks for.
    pub checks: Vec<&'static str>,
    /// Attempts that failed, oldest first.
    pub attempts: Vec<FailedAttempt>,
    pub solution: Option<PromptSolution>,
    pub language: TextLanguage,
    /// One line for each of the last cycles, newest last; empty unless the prompt may be long.
    pub history: Vec<String>,
    /// What the engine wrote about the last cycles; empty unless the prompt may be long.
    pub narrative: String,
    /// The longest prompt, in characters.
    pub max_chars: usize,
}
