//! `capsid explain`: what a run saw, why it chose what it chose, and what proves its change. Nothing is written.

use super::explain_problem::{
    describe_missing, print_evidence, print_history, print_offers, print_proof, print_reproduction,
};
use super::hub_search::advice_lines;
use super::problem_text::to_json;
use super::select::print_selection;
use crate::commands::workspace;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, paint};
use capsid_engine::cycle::record::{self, RunRecord};
use capsid_engine::run::folder::RunFolder;
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Object, Result, Value, json};
use capsid_rules::diagnosis::describe_not_chosen;
use capsid_rules::learning::proof::ProofRecord;
use clap::Args;
use std::path::Path;

/// Show the problem of a run, its proof, and its selection replayed from its recorded inputs with every score.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid explain                           why the last run chose what it chose
  capsid explain run_1770477654155         the same for an earlier run
  capsid explain --json                    with every input, for a program")]
pub struct ExplainArgs {
    /// The run, such as run_1770477654155; the last one without a name.
    run: Option<String>,
}

/// Events that are looked through for that of the run: as many as there are records.
const RECENT_EVENTS: usize = 200;

/// Runs the command. Exits 1 when the recorded choice does not follow from the recorded inputs.
pub fn run(arguments: &ExplainArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let record = load_record(&workspace, arguments.run.as_deref())?;
    let event = find_event(&workspace, &record.run_id)?;
    let proof = event.as_ref().and_then(read_proof);
    let replayed = record.selection.replay();
    let holds = replayed == record.selection;
    if output::is_json() {
        output::document(&json!({
            "ok": holds,
            "run_id": record.run_id,
            "at": record.at,
            "sources": record.sources,
            "strategy": record.strategy,
            "mutation": record.mutation,
            "personality": record.personality,
            "selection": record.selection.to_value(),
            "reuse": record.reuse,
            "memory": record.memory,
            "replayed": replayed.to_json(),
            "problem": record.evidence.problem.as_ref().map(to_json),
            "problem_source": record.evidence.problem_source,
            "windows": record.evidence.windows,
            "also": also_view(&record),
            "history": record.evidence.history,
            "reproduction": record.reproduction,
            "offers": record.offers,
            "proof": proof,
            "missing_for_next_grade": proof.as_ref().zip(event.as_ref())
                .and_then(|(proof, event)| describe_missing(proof, event, &record.evidence)),
        }));
        return Ok(u8::from(!holds));
    }
    output::line(format_args!(
        "{}  {}  {}",
        paint(HEAD, "run"),
        inert_line(&record.run_id),
        paint(DIM, inert_line(&record.at))
    ));
    for source in record.sources.as_array().map(Vec::as_slice).unwrap_or_default() {
        let name = source.get("name").and_then(Value::as_str).unwrap_or_default();
        let bytes = source.get("bytes").and_then(Value::as_u64).unwrap_or_default();
        output::line(format_args!(
            "  read {} {}",
            inert_line(name),
            paint(DIM, format_args!("({bytes} bytes)"))
        ));
    }
    print_evidence(&record.evidence);
    print_history(&record.evidence.history);
    match (&proof, &event, &record.reproduction) {
        (Some(proof), Some(event), _) => print_proof(proof, event, &record.evidence),
        (_, _, Some(reproduction)) => print_reproduction(reproduction),
        _ => {}
    }
    print_offers(&record.offers);
    print_selection(&record.selection);
    print_reuse(&record.reuse);
    for line in advice_lines(&record.memory) {
        output::line(format_args!("{}  {}", paint(HEAD, "memory"), paint(DIM, line)));
    }
    let text = |name: &str| inert_line(record.mutation.get(name).and_then(Value::as_str).unwrap_or_default());
    output::line(format_args!(
        "{}  {} (risk {}), strategy {}",
        paint(HEAD, "intent"),
        text("category"),
        text("risk_level"),
        inert_line(&record.strategy.to_string())
    ));
    output::line(if holds {
        paint(GOOD, "The recorded inputs give the recorded choice.")
    } else {
        paint(BAD, "The recorded inputs give another choice: the record was changed.")
    });
    Ok(u8::from(!holds))
}

/// The record of a run. What became of its offers and its command is in the run itself while that is stored.
fn load_record(workspace: &Workspace, run: Option<&str>) -> Result<RunRecord> {
    let mut record = record::read(workspace, run)?;
    let stored = RunFolder::of_run(workspace, &record.run_id).and_then(|folder| folder.read());
    if let Some(stored) = stored.ok().flatten().map(|stored| stored.run) {
        if !stored.offers.is_empty() {
            record.offers = stored.offers;
        }
        record.reproduction = stored.reproduction.or(record.reproduction);
    }
    Ok(record)
}

/// The event that a run recorded, if it is finished.
fn find_event(workspace: &Workspace, run_id: &str) -> Result<Option<Object>> {
    let is_of_run = |event: &Object| {
        event.get("meta").and_then(|meta| meta.get("run_id")).and_then(Value::as_str) == Some(run_id)
    };
    let events = workspace.store.events.recent_documents(RECENT_EVENTS)?;
    Ok(events.into_iter().rev().find(is_of_run))
}

fn read_proof(event: &Object) -> Option<ProofRecord> {
    let proof = event.get("meta")?.get("proof")?;
    serde_json::from_value(proof.clone()).ok()
}

fn also_view(record: &RunRecord) -> Vec<Value> {
    let view = |other| {
        let mut view = to_json(other);
        let problem = record.evidence.problem.as_ref();
        view["not_chosen"] = json!(problem.map(|problem| describe_not_chosen(problem, other)));
        view
    };
    record.evidence.also.iter().map(view).collect()
}

/// What the hub gave, as it was recorded.
fn print_reuse(reuse: &Value) {
    let text = |name: &str| inert_line(reuse.get(name).and_then(Value::as_str).unwrap_or_default());
    let hub = text("hub");
    match (reuse.get("asset_id"), reuse.get("miss")) {
        (Some(_), _) => {
            let score = reuse.get("score").and_then(Value::as_f64).unwrap_or_default();
            let (mode, asset, by) = (text("mode"), text("asset_id"), text("source_node_id"));
            let what = match mode.as_str() {
                "direct" => "offered to be applied as it is",
                _ => "shown in the prompt",
            };
            output::line(format_args!("{}     {} ({what})", paint(HEAD, "hub"), paint(NAME, asset)));
            output::line(paint(DIM, format_args!("        by {by}, score {score}, from {hub}")));
        }
        (None, Some(_)) => {
            let detail = reuse.pointer("/problem/message").and_then(Value::as_str).map(inert_line);
            let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
            let line = format!("nothing to reuse from {hub} ({}){detail}", text("miss"));
            output::line(format_args!("{}     {}", paint(HEAD, "hub"), paint(DIM, line)));
        }
        _ => {}
    }
}
