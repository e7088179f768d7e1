//! Puts the prompt of a run together from what was seen, chosen and remembered.

use super::choice::Choice;
use super::observation::Observation;
use super::prompt_request::{find_request, name_task};
use super::prompt_solution::find_solution;
use super::prompt_source::read_problem_source;
use super::recall;
use crate::exchange::origin;
use crate::exchange::reuse::ReuseHit;
use crate::prompt::{
    FailedAttempt, MAX_CHARS, MAX_VERBOSE_CHARS, PromptCommand, PromptInput, PromptProblem,
    PromptReproduction, PromptSteps, render_prompt,
};
use crate::rules::personality::effects::{self, ExtraCheck, PromptDetail, Wording};
use crate::run::validation;
use crate::run::{Run, narrative};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::personality::Personality;
use capsid_model::{Object, Result, Value};
use capsid_rules::diagnosis::{Diagnosis, Diagnostic, DiagnosticRole, ProblemRecord, diagnose};
use capsid_rules::learning::repro_command::CommandSource;
use std::path::Path;

/// The limit of a gene that names none.
const DEFAULT_MAX_FILES: u64 = 20;
/// Cycles that a long prompt shows.
const HISTORY: usize = 15;

/// Builds the prompt of a run. `attempts` are those of this very cycle, oldest first; the store knows the earlier ones.
pub fn build_prompt(
    workspace: &Workspace,
    run: &Run,
    choice: &Choice,
    seen: &Observation,
    personality: &Personality,
    hit: Option<&ReuseHit>,
    attempts: &[FailedAttempt],
) -> Result<String> {
    let mut input = collect_prompt_input(workspace, run, choice, seen, personality, hit)?;
    input.attempts.extend_from_slice(attempts);
    Ok(render_prompt(&input))
}

/// Collects what the prompt of a run says. Whoever tries again adds the failed attempt and renders it once more.
pub fn collect_prompt_input(
    workspace: &Workspace,
    run: &Run,
    choice: &Choice,
    seen: &Observation,
    personality: &Personality,
    hit: Option<&ReuseHit>,
) -> Result<PromptInput> {
    let is_verbose = effects::prompt_detail(personality) == PromptDetail::Full;
    let (diagnosis, log) = find_diagnosis(run, seen);
    let source = read_problem_source(workspace, &diagnosis);
    let is_trusted = choice.document.as_ref().is_some_and(is_trusted_gene);
    let max_files = choice.gene.as_ref().and_then(|gene| gene.max_files).unwrap_or(DEFAULT_MAX_FILES);
    let (mut history, mut story) = (Vec::new(), String::new());
    if is_verbose {
        let lines = recall::history(&seen.history);
        history = lines.get(lines.len().saturating_sub(HISTORY)..).unwrap_or_default().to_vec();
        let written = files::read_optional(&workspace.paths.narrative())?.unwrap_or_default();
        story = narrative::last(&written, 8);
    }
    let Diagnosis { problem, also, windows, .. } = diagnosis;
    let problem =
        problem.map(|diagnostic| PromptProblem { diagnostic, also, windows, log, path: source.path });
    Ok(PromptInput {
        run_id: run.run_id.clone(),
        task: name_task(run),
        evidence: if problem.is_none() {
            find_request(&seen.inputs.corpus, &run.signals)
        } else {
            Vec::new()
        },
        problem,
        excerpts: source.excerpts,
        note_files: list_notes(workspace, seen),
        reproduction: find_reproduction(run, is_trusted),
        commands: list_commands(workspace, choice, is_trusted),
        steps: PromptSteps {
            gene_id: choice.gene.as_ref().map(|gene| gene.id.clone()),
            steps: choice.gene.as_ref().map(|gene| gene.strategy.clone()).unwrap_or_default(),
            is_trusted,
            is_strict: effects::wording(personality) == Wording::Strict,
        },
        should_ask_another_cause: seen.decision.should_ask_another_cause,
        hint: workspace.variable("EVOLVE_HINT"),
        max_files: effects::soft_file_limit(personality, max_files),
        forbidden: list_forbidden(workspace, choice, is_trusted),
        checks: list_checks(personality),
        attempts: recall::find_failed_attempts(&choice.failed, run),
        solution: find_solution(workspace, run, choice, hit)?,
        language: workspace.config.cycle.language,
        history,
        narrative: story,
        max_chars: find_max_chars(workspace, is_verbose),
    })
}

/// The diagnosis that shows the problem of the run, and the name of its log: the log of the user, or else the output of the
/// command. Where neither shows it, what the run knows about it is all there is.
fn find_diagnosis(run: &Run, seen: &Observation) -> (Diagnosis, String) {
    let message = |diagnosis: &Diagnosis| diagnosis.problem.as_ref().map(|problem| problem.ids().message);
    let log = || (seen.diagnosis.clone(), name_log(seen));
    let Some(record) = &run.problem else { return log() };
    let shows_it = |diagnosis: &Diagnosis| message(diagnosis).as_deref() == Some(record.ids.message.as_str());
    if shows_it(&seen.diagnosis) {
        return log();
    }
    let output = run.reproduction.as_ref().map(|reproduction| diagnose(&reproduction.output));
    match output.filter(shows_it) {
        Some(output) => (output, "output".to_owned()),
        None => {
            let problem = Some(read_record(record));
            (Diagnosis { problem, ..Diagnosis::default() }, "problem".to_owned())
        }
    }
}

/// A stored problem as a diagnostic without a log.
fn read_record(record: &ProblemRecord) -> Diagnostic {
    Diagnostic {
        tool: record.tool.clone(),
        family: record.family.clone(),
        code: record.code.clone(),
        class: record.class,
        message: record.text.clone(),
        text: record.text.clone(),
        template: record.text.clone(),
        symbols: record.symbols.clone(),
        test: record.test.clone(),
        frame: record.frame.clone(),
        place: record.place.clone(),
        line: None,
        role: DiagnosticRole::Cause,
        first_line: 0,
        last_line: 0,
        count: 1,
        plain: None,
    }
}

/// The name of the log if there is one only.
fn name_log(seen: &Observation) -> String {
    let name = |name: &str| Path::new(name).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let mut logs = seen.inputs.sources.iter().filter_map(|source| name(&source.name));
    let mut logs = logs.by_ref().filter(|name| !is_note(name));
    match (logs.next(), logs.next()) {
        (Some(log), None) => log,
        _ => "log".to_owned(),
    }
}

fn is_note(name: &str) -> bool {
    name.ends_with("MEMORY.md") || name.ends_with("USER.md")
}

/// The notes that were read, relative to the repository if they are in it.
fn list_notes(workspace: &Workspace, seen: &Observation) -> Vec<String> {
    let root = &workspace.repository.root;
    let show = |name: &String| {
        let path = Path::new(name);
        path.strip_prefix(root).unwrap_or(path).to_str().map(str::to_owned)
    };
    let notes = seen.inputs.sources.iter().map(|source| &source.name).filter(|name| is_note(name));
    notes.filter_map(show).collect()
}

/// Whether the steps of a gene are instructions: it is built in, or its owner wrote or promoted it. What a model distilled
/// is text of an earlier agent.
fn is_trusted_gene(gene: &Object) -> bool {
    match origin::source(gene) {
        Some(_) => origin::a2a(gene, "status") == Some("promoted"),
        None => {
            let id = gene.get("id").and_then(Value::as_str).unwrap_or_default();
            !id.starts_with("gene_distilled_")
        }
    }
}

fn find_reproduction(run: &Run, is_trusted: bool) -> Option<PromptReproduction> {
    let reproduction = run.reproduction.as_ref().filter(|reproduction| reproduction.is_reproduced)?;
    let failed = reproduction.runs.iter().find(|run| !run.ok)?;
    let is_trusted = match reproduction.source {
        CommandSource::Repro | CommandSource::Owner => true,
        CommandSource::Gene => is_trusted,
        CommandSource::Log | CommandSource::Narrowed => false,
    };
    Some(PromptReproduction {
        command: PromptCommand { command: reproduction.command.clone(), is_trusted },
        exit_code: failed.exit_code,
        duration_ms: failed.duration_ms,
        flaky: reproduction.flaky.map(|flaky| (flaky.failures, flaky.runs)),
    })
}

/// The commands that must pass: the gene's and the owner's.
fn list_commands(workspace: &Workspace, choice: &Choice, is_trusted: bool) -> Vec<PromptCommand> {
    let gene = choice.gene.as_ref().map(|gene| gene.validation.as_slice()).unwrap_or_default();
    let owner = &workspace.config.validation;
    let is_owned =
        |command: &String| owner.commands.contains(command) || owner.load_check.as_ref() == Some(command);
    let commands = validation::commands(gene, workspace).into_iter();
    commands.map(|command| PromptCommand { is_trusted: is_trusted || is_owned(&command), command }).collect()
}

/// The paths that may not be changed. Those of a gene of others are checked, but not repeated: they are not the owner's
/// words.
fn list_forbidden(workspace: &Workspace, choice: &Choice, is_trusted: bool) -> Vec<String> {
    let mut paths: Vec<String> =
        [".git", "node_modules", "assets/gep/events.jsonl", "capsid.toml"].map(str::to_owned).to_vec();
    let gene = choice.gene.iter().filter(|_| is_trusted).flat_map(|gene| &gene.forbidden_paths);
    for path in gene.chain(&workspace.config.constraints.protected) {
        let path = capsid_model::text::inert_line(path);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn list_checks(personality: &Personality) -> Vec<&'static str> {
    let describe = |check| match check {
        ExtraCheck::NoConflictMarkers => "Leave no conflict markers behind.",
        ExtraCheck::SomeValidation => "At least one command must run.",
        ExtraCheck::ValidationTwice => "The commands must pass twice in a row.",
    };
    effects::required_checks(personality).into_iter().map(describe).collect()
}

fn find_max_chars(workspace: &Workspace, is_verbose: bool) -> usize {
    let set = workspace.variable("GEP_PROMPT_MAX_CHARS").and_then(|text| text.trim().parse().ok());
    set.unwrap_or(if is_verbose { MAX_VERBOSE_CHARS } else { MAX_CHARS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn steps_are_instructions_if_the_owner_stands_behind_the_gene() {
        for (gene, is_trusted) in [
            (json!({"id": "gene_gep_repair_from_errors"}), true),
            (json!({"id": "gene_mine"}), true),
            (json!({"id": "gene_x", "a2a": {"source": "node_1", "status": "promoted"}}), true),
            (json!({"id": "gene_x", "a2a": {"source": "node_1", "status": "external_candidate"}}), false),
            (json!({"id": "gene_x", "a2a": {"source": ""}}), false),
            (json!({"id": "gene_distilled_x"}), false),
        ] {
            assert_eq!(is_trusted_gene(gene.as_object().unwrap()), is_trusted, "{gene}");
        }
    }
}
