//! One run of a check: commands in a throw-away view, and what their output says.

use crate::files::log_reading::diagnose_output;
use crate::files::matchers::load_matchers;
use crate::run::validation::{self, CommandRun, Validated, ValidationTree};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_model::hash::sha256_hex;
use capsid_model::report::CommandResult;
use capsid_model::text::inert_line;
use capsid_rules::diagnosis::{Diagnosis, Diagnostic, DiagnosticRole, Matcher, ProblemClass};
use capsid_rules::learning::proof::{ProofRun, ProofStep};
use capsid_rules::learning::test_summary::{TestSummary, parse_test_summary};

/// A check: the command that decides, after those that prepare it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// Commands that run before it in the same view, such as a build.
    pub preparation: Vec<String>,
    pub command: String,
}

/// What one run of a check showed.
#[derive(Debug, Clone)]
pub struct CheckRun {
    pub run: ProofRun,
    pub tests: Option<TestSummary>,
    /// What the output shows; a failure that no rule knows is the problem "this command fails".
    pub diagnosis: Diagnosis,
    pub output: String,
    /// Everything about the commands themselves.
    pub validated: Validated,
}

impl CheckRun {
    /// Whether the command ran at all: the gate, the sandbox and the machine let it.
    pub fn has_run(&self) -> bool {
        self.validated.runs.last().is_some_and(|run| run.has_run)
    }

    /// The hash of the output.
    pub fn output_hash(&self) -> String {
        sha256_hex(self.output.as_bytes())
    }
}

/// Runs a check in a fresh view of the tree.
pub fn run_check(
    workspace: &Workspace,
    check: &Check,
    step: ProofStep,
    tree: &ValidationTree,
) -> Result<CheckRun> {
    let commands: Vec<String> = check.preparation.iter().chain([&check.command]).cloned().collect();
    let validated = validation::run(&commands, false, workspace, tree)?;
    read_check(workspace, &check.command, step, validated)
}

/// Reads what the commands of a check left. The last one that ran decides.
pub fn read_check(
    workspace: &Workspace,
    command: &str,
    step: ProofStep,
    validated: Validated,
) -> Result<CheckRun> {
    let matchers = load_matchers(&workspace.repository.root, &workspace.config.problems.matchers)?;
    let (result, run) = match validated.find(command) {
        Some((result, run)) => (result.clone(), run),
        None => (
            validated.commands.last().cloned().unwrap_or_default(),
            validated.runs.last().copied().unwrap_or_default(),
        ),
    };
    let (run, tests, diagnosis, output) = read_result(&result, run, step, &matchers);
    Ok(CheckRun { run, tests, diagnosis, output, validated })
}

/// What the output of one command says.
pub fn read_result(
    result: &CommandResult,
    run: CommandRun,
    step: ProofStep,
    matchers: &[Matcher],
) -> (ProofRun, Option<TestSummary>, Diagnosis, String) {
    let output = join_outputs(result);
    let tests = parse_test_summary(&output);
    let diagnosis = match result.ok {
        // A check that passes may print errors that it expects; only those of a problem that it reports count.
        true => diagnose_output(&output, matchers),
        false => with_failure(diagnose_output(&output, matchers), result, run.exit_code),
    };
    let run = ProofRun {
        run: step,
        ok: result.ok,
        exit_code: run.exit_code,
        duration_ms: run.duration.as_millis() as u64,
        problem: diagnosis.problem.as_ref().map(|problem| problem.ids().message),
        tests: tests.as_ref().map(TestSummary::counts),
    };
    (run, tests, diagnosis, output)
}

/// What a command printed: both outputs, the one with the complaint last.
pub fn join_outputs(result: &CommandResult) -> String {
    match (result.stdout.trim().is_empty(), result.stderr.trim().is_empty()) {
        (_, true) => result.stdout.clone(),
        (true, false) => result.stderr.clone(),
        (false, false) => format!("{}\n{}", result.stdout.trim_end(), result.stderr),
    }
}

/// The diagnosis of a command that failed: where its output names no problem, the failure itself is one.
fn with_failure(mut diagnosis: Diagnosis, result: &CommandResult, exit_code: Option<i32>) -> Diagnosis {
    let is_known = diagnosis.problem.as_ref().is_some_and(|problem| problem.role > DiagnosticRole::Wrapper);
    if is_known {
        return diagnosis;
    }
    let command = inert_line(result.command.trim());
    let code = exit_code.map_or_else(|| "ended".to_owned(), |code| format!("exit_{code}"));
    diagnosis.problem = Some(Diagnostic {
        tool: "command".to_owned(),
        family: "command".to_owned(),
        code: Some(code),
        class: ProblemClass::UnknownError,
        message: format!("{command} failed"),
        text: format!("`{command}` failed"),
        template: "<q> failed".to_owned(),
        symbols: vec![command],
        test: None,
        frame: None,
        place: None,
        line: None,
        role: DiagnosticRole::Wrapper,
        first_line: 1,
        last_line: 1,
        count: 1,
        plain: None,
    });
    diagnosis
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(command: &str, stdout: &str) -> CommandResult {
        CommandResult { command: command.into(), ok: false, stdout: stdout.into(), stderr: String::new() }
    }

    #[test]
    fn a_failure_without_a_known_problem_is_the_problem_of_its_command() {
        let id = |command: &str, output: &str| {
            let run = CommandRun { exit_code: Some(3), has_run: true, ..CommandRun::default() };
            read_result(&failing(command, output), run, ProofStep::Before, &[]).0.problem.unwrap()
        };
        assert_eq!(id("node a.js", "it went wrong at 12:00"), id("node a.js", "it went wrong at 13:00"));
        assert_ne!(id("node a.js", ""), id("node b.js", ""));
    }

    #[test]
    fn both_outputs_are_read() {
        let mut result = failing("node t.js", "not ok 1 - adds\n");
        result.stderr = "TypeError: x is null\n    at add (/srv/a.js:1:1)\n".into();
        let (run, _, diagnosis, output) = read_result(&result, CommandRun::default(), ProofStep::After, &[]);
        assert!(output.contains("not ok 1") && output.contains("TypeError"));
        assert!(diagnosis.problem.is_some() && !run.ok);
    }
}
