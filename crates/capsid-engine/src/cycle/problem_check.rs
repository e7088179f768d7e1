//! Whether the problem that was seen is still there: its command runs before anything else does.

use super::choice;
use super::evolve::EvolveRequest;
use super::observation::{NAME_SOMETHING, Observation};
use crate::proof::reproduce::{ReproduceOutcome, ReproduceRequest, ReproducedProblem, reproduce};
use crate::run::reproduction::Reproduction;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};
use capsid_rules::diagnosis::{Diagnosis, ProblemClass};

/// The most other problems that a run names.
const MAX_ALSO: usize = 8;

/// What a cycle works on, once it is checked.
#[derive(Debug)]
pub(super) struct CheckedProblem {
    pub(super) seen: Observation,
    pub(super) reproduction: Option<Reproduction>,
    pub(super) notes: Vec<String>,
}

/// Checks that there is something to do. The inner error says why there is not.
pub(super) fn check_problem(
    workspace: &Workspace,
    request: &EvolveRequest,
    mut seen: Observation,
) -> Result<std::result::Result<CheckedProblem, Problem>> {
    let repro = request.sources.repro.as_deref();
    if seen.decision.is_problem_free && repro.is_none() && request.sources.signals.is_empty() {
        return Ok(Err(no_problem(&seen)));
    }
    let is_checked = seen.diagnosis.problem.is_some() || repro.is_some();
    if !is_checked || request.dry_run {
        return Ok(Ok(CheckedProblem { seen, reproduction: None, notes: Vec::new() }));
    }
    let gene_commands = gene_commands(workspace, &seen)?;
    let outcome = reproduce(
        workspace,
        &ReproduceRequest {
            diagnosis: &seen.diagnosis,
            repro,
            gene_commands: &gene_commands,
            is_forced: request.force,
        },
    )?;
    let ReproducedProblem { reproduction, other, notes } = match outcome {
        ReproduceOutcome::Stop(problem) => return Ok(Err(problem)),
        ReproduceOutcome::Continue(reproduced) => *reproduced,
    };
    if let Some(other) = other {
        replace_problem(&mut seen, other);
    }
    if reproduction.as_ref().is_some_and(|known| known.flaky.is_some()) {
        push_signal(&mut seen.signals, "unstable");
    }
    Ok(Ok(CheckedProblem { seen, reproduction, notes }))
}

/// The commands of the gene that would be chosen for what was seen.
fn gene_commands(workspace: &Workspace, seen: &Observation) -> Result<Vec<String>> {
    let statistics = workspace.graph().statistics_as_is()?;
    let context = seen.choice_context();
    let choice = choice::choose(workspace, &seen.signals, &context, &statistics, None, None)?;
    Ok(choice.gene.map(|gene| gene.validation).unwrap_or_default())
}

/// The command shows another problem than the log: that one comes first.
fn replace_problem(seen: &mut Observation, mut other: Diagnosis) {
    let Some(problem) = other.problem.clone() else { return };
    let old = std::mem::take(&mut seen.diagnosis);
    other.also.extend(old.problem);
    other.also.extend(old.also);
    other.also.truncate(MAX_ALSO);
    seen.signals.retain(|signal| {
        let is_class = ProblemClass::ALL.iter().any(|class| class.as_str() == signal);
        !is_class && signal != "log_error" && !signal.starts_with("errsig:")
    });
    seen.signals.retain(|signal| signal != "stable_success_plateau");
    let first = ["log_error".to_owned(), problem.errsig(), problem.class.as_str().to_owned()];
    seen.signals.splice(0..0, first);
    seen.diagnosis = other;
}

fn push_signal(signals: &mut Vec<String>, signal: &str) {
    if !signals.iter().any(|known| known == signal) {
        signals.push(signal.to_owned());
    }
}

/// Says which log shows no problem, and what to do.
fn no_problem(seen: &Observation) -> Problem {
    let message = format!("No problem found in {}.", seen.inputs.describe_named_logs());
    Problem::new(Code::NoProblemFound, message).fix(NAME_SOMETHING)
}
