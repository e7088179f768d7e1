//! Finds the command that shows the problem, and runs it before anything else happens.

use super::check_run::{Check, CheckRun, run_check};
use crate::run::reproduction::Reproduction;
use crate::run::validation::ValidationTree;
use crate::workspace::Workspace;
use capsid_model::gate::{self, CommandRefusal, CommandRefusalCode};
use capsid_model::text::{cut_front, inert_line};
use capsid_model::{Code, Problem, Result};
use capsid_rules::diagnosis::{Diagnosis, ProblemRecord};
use capsid_rules::evaluation::proof::{ProofLevel, finding};
use capsid_rules::learning::flaky::FlakyCheck;
use capsid_rules::learning::proof::ProofStep;
use capsid_rules::learning::proof::plan::{BeforeOutcome, should_repeat_before};
use capsid_rules::learning::repro_command::{
    CommandSource, FailingCheck, ReproCommand, ReproInputs, list_repro_commands,
};
use std::time::Instant;

/// The end of an output that a run stores, in UTF-16 units.
pub const STORED_OUTPUT: usize = 4_000;

/// How often a check that should fail and passes is run, if all runs together are quick.
const MAX_PASSING_RUNS: usize = 32;
const MAX_PASSING_MS: u64 = 10_000;

/// Endings of scripts that a command can name.
const SCRIPTS: [&str; 9] = ["js", "mjs", "cjs", "ts", "py", "sh", "rb", "php", "pl"];

/// What is to be reproduced, and by what.
#[derive(Debug, Clone, Copy)]
pub struct ReproduceRequest<'a> {
    /// What the logs show; nothing where only a command was named.
    pub diagnosis: &'a Diagnosis,
    /// The command of `--repro`.
    pub repro: Option<&'a str>,
    pub gene_commands: &'a [String],
    /// Whether the cycle goes on although the command passes.
    pub is_forced: bool,
}

/// What `before` means for the cycle.
#[derive(Debug)]
pub enum ReproduceOutcome {
    /// The cycle goes on.
    Continue(Box<ReproducedProblem>),
    /// There is nothing to repair, or the user has to act first.
    Stop(Problem),
}

/// What a cycle knows once `before` has run.
#[derive(Debug, Default)]
pub struct ReproducedProblem {
    pub reproduction: Option<Reproduction>,
    /// What the command showed, where that is another problem than that of the log.
    pub other: Option<Diagnosis>,
    /// What the user should know, such as a program that is not allowed.
    pub notes: Vec<String>,
}

/// Runs the commands that may show the problem, best first, until one does.
pub fn reproduce(workspace: &Workspace, request: &ReproduceRequest<'_>) -> Result<ReproduceOutcome> {
    let scratch = workspace.create_state_dir()?.join("before");
    let mut trials = Trials {
        workspace,
        request,
        record: request.diagnosis.to_record(),
        tree: ValidationTree { change: None, scratch },
        began: Instant::now(),
        result: ReproducedProblem::default(),
    };
    let outcome = trials.run_all();
    capsid_sandbox::remove_layer(&trials.tree.scratch);
    outcome
}

struct Trials<'a> {
    workspace: &'a Workspace,
    request: &'a ReproduceRequest<'a>,
    record: Option<ProblemRecord>,
    tree: ValidationTree,
    began: Instant,
    result: ReproducedProblem,
}

impl Trials<'_> {
    fn run_all(&mut self) -> Result<ReproduceOutcome> {
        let mut stop = None;
        for command in self.commands() {
            if self.began.elapsed() >= self.workspace.config.proof.budget() {
                self.result
                    .notes
                    .push("The time for proofs is used up; see `[proof] budget_seconds`.".to_owned());
                break;
            }
            match self.try_command(&command)? {
                TrialOutcome::Reproduced(reproduction) => {
                    self.result.reproduction = Some(reproduction);
                    return Ok(self.finish());
                }
                TrialOutcome::Stop(problem) => {
                    stop = Some(problem);
                    break;
                }
                TrialOutcome::Undecided(reproduction) => {
                    self.result.reproduction = self.result.reproduction.take().or(reproduction);
                }
            }
        }
        match stop {
            Some(problem) => Ok(ReproduceOutcome::Stop(problem)),
            None => Ok(self.finish()),
        }
    }

    fn finish(&mut self) -> ReproduceOutcome {
        ReproduceOutcome::Continue(Box::new(std::mem::take(&mut self.result)))
    }

    fn commands(&self) -> Vec<ReproCommand> {
        let problem = self.request.diagnosis.problem.as_ref();
        let check = problem.map(|problem| FailingCheck {
            tool: &problem.tool,
            family: &problem.family,
            test: problem.test.as_deref(),
            place: problem.place.as_deref(),
        });
        // The rules read a command from the text of a log, where it stands behind a prompt.
        let log = self.request.diagnosis.command.as_ref().map(|command| format!("$ {command}\n"));
        let owner = &self.workspace.config.validation.commands;
        list_repro_commands(&ReproInputs {
            repro: self.request.repro,
            log: log.as_deref(),
            check: check.unwrap_or_default(),
            gene_commands: self.request.gene_commands,
            owner_commands: owner,
        })
    }

    fn try_command(&mut self, command: &ReproCommand) -> Result<TrialOutcome> {
        if let Err(refusal) = gate::check(&command.command, &self.workspace.config.gate()) {
            return self.refused(command, &refusal);
        }
        // A check that is still to be written fails for want of itself.
        if command.source != CommandSource::Repro && self.names_missing_file(&command.command) {
            return Ok(TrialOutcome::Undecided(None));
        }
        // What cannot fail shows nothing.
        if command.source != CommandSource::Repro && finding(&command.command).verdict < ProofLevel::Weak {
            return Ok(TrialOutcome::Undecided(None));
        }
        let check = self.check_of(command);
        let first = run_check(self.workspace, &check, ProofStep::Before, &self.tree)?;
        if !first.has_run() {
            return self.not_run(command, &first);
        }
        let runs = self.repeat(&check, command.source, first)?;
        Ok(self.decide(command, check, &runs))
    }

    /// Whether a command names a script of the repository that is not there.
    fn names_missing_file(&self, command: &str) -> bool {
        let is_script = |word: &&str| {
            let name = word.rsplit('/').next().unwrap_or(word);
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
            !word.starts_with(['-', '/'])
                && word.chars().all(plain)
                && name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && SCRIPTS.contains(&end))
        };
        let root = &self.workspace.repository.root;
        command.split_whitespace().skip(1).filter(is_script).any(|word| !root.join(word).exists())
    }

    /// Commands of a gene and of the owner may prepare each other, so those before one run in its view too.
    fn check_of(&self, command: &ReproCommand) -> Check {
        let list: &[String] = match command.source {
            CommandSource::Gene => self.request.gene_commands,
            CommandSource::Owner => &self.workspace.config.validation.commands,
            CommandSource::Repro | CommandSource::Log | CommandSource::Narrowed => &[],
        };
        let before = list.iter().take_while(|other| other.trim() != command.command);
        let allowed = |other: &&String| gate::check(other, &self.workspace.config.gate()).is_ok();
        Check { preparation: before.filter(allowed).cloned().collect(), command: command.command.clone() }
    }

    /// A quick check runs again, to find out whether it always fails.
    fn repeat(&self, check: &Check, source: CommandSource, first: CheckRun) -> Result<Vec<CheckRun>> {
        let decides = matches!(source, CommandSource::Repro | CommandSource::Log) || self.is_failing_test();
        let mut runs = vec![first];
        while decides || !runs[0].run.ok {
            let durations: Vec<u64> = runs.iter().map(|run| run.run.duration_ms).collect();
            let in_time = self.began.elapsed() < self.workspace.config.proof.budget();
            // A flaky check may pass a few times: before it counts as passing, a quick one runs more often.
            let passes = runs.iter().all(|run| run.run.ok);
            let is_quick = durations.iter().sum::<u64>() <= MAX_PASSING_MS && runs.len() < MAX_PASSING_RUNS;
            if !in_time || !(should_repeat_before(&durations) || (passes && is_quick)) {
                break;
            }
            runs.push(run_check(self.workspace, check, ProofStep::Before, &self.tree)?);
        }
        Ok(runs)
    }

    fn decide(&mut self, command: &ReproCommand, check: Check, runs: &[CheckRun]) -> TrialOutcome {
        let message = self.record.as_ref().map(|record| record.ids.message.clone());
        let outcome = |run: &CheckRun| {
            let class = run.diagnosis.problem.as_ref().map(|problem| problem.class.as_str());
            BeforeOutcome::from_run(&run.run, message.as_deref(), class)
        };
        let shown = runs.iter().find(|run| outcome(run) == BeforeOutcome::Reproduced);
        let failed = shown.or_else(|| runs.iter().find(|run| !run.run.ok));
        let Some(failed) = failed else {
            return self.passes(command, check, runs);
        };
        let reproduction = to_reproduction(command, check, runs, failed, true);
        match (outcome(failed), command.source) {
            (BeforeOutcome::Reproduced, _) => TrialOutcome::Reproduced(reproduction),
            // Without a log, the command's own problem is the problem.
            _ if message.is_none() => {
                self.result.other = Some(failed.diagnosis.clone());
                TrialOutcome::Reproduced(reproduction)
            }
            // A narrowed command is a guess: it may fail for reasons of its own.
            (_, CommandSource::Narrowed) => TrialOutcome::Undecided(None),
            (BeforeOutcome::SetupBroken, _) => TrialOutcome::Stop(setup_broken(command, failed)),
            _ => {
                self.result.other = Some(failed.diagnosis.clone());
                TrialOutcome::Reproduced(reproduction)
            }
        }
    }

    /// Whether the log shows a test that failed.
    fn is_failing_test(&self) -> bool {
        self.request.diagnosis.problem.as_ref().is_some_and(|problem| problem.test.is_some())
    }

    /// A command that passes: the log may be old, or the command may have nothing to do with it.
    fn passes(&self, command: &ReproCommand, check: Check, runs: &[CheckRun]) -> TrialOutcome {
        let ran_tests = runs[0].tests.as_ref().is_some_and(|tests| tests.ran > 0);
        let decides = match command.source {
            CommandSource::Repro | CommandSource::Log => true,
            CommandSource::Narrowed => ran_tests,
            // Where a test failed, the tests that pass now say that it is solved.
            CommandSource::Gene | CommandSource::Owner => ran_tests && self.is_failing_test(),
        };
        if decides && !self.request.is_forced {
            return TrialOutcome::Stop(already_resolved(&command.command, runs.len()));
        }
        let reproduction = to_reproduction(command, check, runs, &runs[0], false);
        TrialOutcome::Undecided((command.source != CommandSource::Narrowed).then_some(reproduction))
    }

    fn refused(&mut self, command: &ReproCommand, refusal: &CommandRefusal) -> Result<TrialOutcome> {
        let shown = inert_line(&command.command);
        let program = shown.split(' ').next().unwrap_or_default().to_owned();
        if command.source == CommandSource::Repro {
            let fix = match refusal.code {
                CommandRefusalCode::ProgramNotAllowed => allow_line(&program),
                _ => "Put it into a script of your repository and name that.".to_owned(),
            };
            return Err(Problem::new(
                Code::CommandRefused,
                format!("`{shown}` cannot run: {}", refusal.message),
            )
            .fix(fix));
        }
        if refusal.code == CommandRefusalCode::ProgramNotAllowed {
            self.result.notes.push(format!("`{shown}` may show the problem. {}", allow_line(&program)));
        }
        Ok(TrialOutcome::Undecided(None))
    }

    /// A command that the machine could not run.
    fn not_run(&mut self, command: &ReproCommand, run: &CheckRun) -> Result<TrialOutcome> {
        let why = run.validated.commands.last().map(|result| result.stderr.clone()).unwrap_or_default();
        let message = format!("`{}` did not run: {}", inert_line(&command.command), inert_line(why.trim()));
        if command.source == CommandSource::Repro && !run.validated.sandbox_failed {
            return Err(Problem::new(Code::ProgramNotFound, message)
                .fix("Install the program, or name another command with `--repro`."));
        }
        self.result.notes.push(message);
        Ok(TrialOutcome::Undecided(None))
    }
}

/// What one command decided.
enum TrialOutcome {
    Reproduced(Reproduction),
    Stop(Problem),
    /// It showed nothing about the problem; it may still tell which tests there are.
    Undecided(Option<Reproduction>),
}

fn to_reproduction(
    command: &ReproCommand,
    check: Check,
    runs: &[CheckRun],
    shown: &CheckRun,
    is_reproduced: bool,
) -> Reproduction {
    Reproduction {
        command: command.command.clone(),
        source: command.source,
        preparation: check.preparation,
        runs: runs.iter().map(|run| run.run.clone()).collect(),
        tests: shown.tests.clone(),
        flaky: FlakyCheck::from_results(runs.iter().map(|run| run.run.ok)),
        output: cut_front(&shown.output, STORED_OUTPUT).to_owned(),
        is_reproduced,
    }
}

fn allow_line(program: &str) -> String {
    format!("Allow its program in `capsid.toml`: `[validation]` `programs = [\"{program}\"]`.")
}

fn already_resolved(command: &str, runs: usize) -> Problem {
    let times = if runs == 1 { String::new() } else { format!(", {runs} times of {runs}") };
    let command = inert_line(command);
    Problem::new(Code::AlreadyResolved, format!("`{command}` passes here{times}; the log may be old."))
        .fix("Make a new log, or run the cycle anyway with `--force`.")
}

fn setup_broken(command: &ReproCommand, run: &CheckRun) -> Problem {
    let text = run.diagnosis.problem.as_ref().map(|problem| problem.text.clone()).unwrap_or_default();
    Problem::new(
        Code::SetupBroken,
        format!("`{}` fails for another reason: {}.", inert_line(&command.command), inert_line(&text)),
    )
    .fix("Install what is missing (the sandbox has no network), then run the cycle again.")
}
