//! Puts the prompt of a run together from what was seen, chosen and remembered.

use super::choice::Choice;
use super::observation::Observation;
use super::recall;
use crate::cycle::candidates;
use crate::exchange::reuse::ReuseHit;
use crate::prompt::{self, PromptEvidence, PromptInput, PromptVerbosity};
use crate::rules::personality::effects;
use crate::rules::personality::effects::{ExtraCheck, PromptDetail, Wording};
use crate::rules::select::pattern::{MatchPattern, SignalSet};
use crate::rules::strategy::Strategy;
use crate::run::validation;
use crate::run::{Run, narrative};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::Result;
use capsid_model::personality::Personality;
use capsid_model::signal::matchable;

/// The longest prompt unless `GEP_PROMPT_MAX_CHARS` says otherwise.
const MAX_UNITS: usize = 50_000;

/// The limit of a gene that names none.
pub(super) const DEFAULT_MAX_FILES: u64 = 20;

pub(super) fn build_prompt(
    workspace: &Workspace,
    run: &Run,
    choice: &Choice,
    seen: &Observation,
    strategy: &Strategy,
    personality: &Personality,
    hit: Option<&ReuseHit>,
) -> Result<String> {
    let gene = choice.gene.as_ref();
    let commands =
        validation::commands(gene.map(|gene| gene.validation.as_slice()).unwrap_or_default(), workspace);
    let told = files::read_optional(&workspace.paths.narrative())?.unwrap_or_default();
    let corpus = &seen.inputs.corpus;
    let piece = |source, text: &str| PromptEvidence { source, text: text.to_owned() };
    let hint = workspace.variable("EVOLVE_HINT");
    let print = workspace.fingerprint();
    let matched = SignalSet::new(matchable(&run.signals));
    Ok(prompt::build(&PromptInput {
        cycle: run.cycle,
        run_id: &run.run_id,
        now: run.created_at,
        intent: run.mutation.get("category").and_then(capsid_model::Value::as_str).unwrap_or("repair"),
        strategy_label: strategy.label,
        gene,
        capsule: choice.capsule.as_ref(),
        hit,
        selector: &run.selector,
        mutation: &run.mutation,
        detail: detail(personality),
        strict: effects::wording(personality) == Wording::Strict,
        checks: &checks(personality),
        soft_limit: effects::soft_file_limit(
            personality,
            gene.and_then(|g| g.max_files).unwrap_or(DEFAULT_MAX_FILES),
        ),
        forbidden: &forbidden(workspace, choice),
        validation: &commands,
        signals: &run.signals,
        environment: &format!("{} {} {}", print.platform, print.arch, print.os_release),
        hint: hint.as_deref(),
        history: &recall::history(&seen.history),
        failures: &recall::failures(&choice.failed, &run.signals),
        candidates: &candidates::preview(&workspace.store, 8)?,
        external: &candidates::external_preview(&workspace.store, &|pattern| {
            MatchPattern::parse(pattern).hits(&matched)
        })?,
        narrative: &narrative::last(&told, 8),
        evidence: &[
            piece("sessions and logs", &corpus.transcript),
            piece("today's log", &corpus.today),
            piece("MEMORY.md", &corpus.memory),
            piece("USER.md", &corpus.user),
        ],
        max_units: max_units(workspace),
    }))
}

fn detail(personality: &Personality) -> PromptVerbosity {
    match effects::prompt_detail(personality) {
        PromptDetail::Brief => PromptVerbosity::Brief,
        PromptDetail::Normal => PromptVerbosity::Normal,
        PromptDetail::Full => PromptVerbosity::Full,
    }
}

fn checks(personality: &Personality) -> Vec<String> {
    effects::required_checks(personality)
        .into_iter()
        .map(|check| match check {
            ExtraCheck::NoConflictMarkers => "Leave no conflict markers behind.",
            ExtraCheck::SomeValidation => "At least one validation command must run.",
            ExtraCheck::ValidationTwice => "The validation commands must pass twice in a row.",
        })
        .map(str::to_owned)
        .collect()
}

fn forbidden(workspace: &Workspace, choice: &Choice) -> Vec<String> {
    let mut paths: Vec<String> =
        [".git", "node_modules", "assets/gep/events.jsonl", "capsid.toml"].map(str::to_owned).to_vec();
    let gene = choice.gene.iter().flat_map(|gene| &gene.forbidden_paths);
    for path in gene.chain(&workspace.config.constraints.protected) {
        let path = capsid_model::text::inert_line(path);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn max_units(workspace: &Workspace) -> usize {
    workspace.variable("GEP_PROMPT_MAX_CHARS").and_then(|text| text.trim().parse().ok()).unwrap_or(MAX_UNITS)
}
