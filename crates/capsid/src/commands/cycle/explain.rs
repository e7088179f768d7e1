//! `capsid explain`: makes a recorded selection again from its recorded inputs.

use super::hub_search::advice_lines;
use super::select::print_selection;
use crate::commands::workspace;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, paint};
use capsid_engine::cycle::record;
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};
use clap::Args;
use std::path::Path;

/// Replay the selection of a run from its recorded inputs, and show every score.
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

/// Runs the command. Exits 1 when the recorded choice does not follow from the recorded inputs.
pub fn run(arguments: &ExplainArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let record = record::read(&workspace, arguments.run.as_deref())?;
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
