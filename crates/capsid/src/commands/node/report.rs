//! `capsid node report`.

use super::connection::HubConnectionArgs;
use super::print::{self, raw, sheet, text};
use super::redact_outbound::OutboundRedactor;
use crate::commands::store::documents::{at, read_bytes};
use crate::output::{self, BAD, GOOD, paint};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use clap::Args;
use std::path::Path;

/// Report to the hub whether an asset worked here.
///
/// Reports are what assets are promoted by. A report counts by what its sender shows: the asset is taken on trial first,
/// so that the hub knows that this node read it. One on an asset of your own is kept without weight. A later report of
/// the same node takes the place of its earlier one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node report sha256:2f6c... --ok                       its validation passed here
  capsid node report sha256:2f6c... --failed --note 'no effect'
  capsid node report sha256:2f6c... --file report.json         with a validation report; `-` reads stdin")]
pub struct NodeReportArgs {
    /// The asset.
    #[arg(value_name = "ASSET")]
    asset: String,
    /// It worked.
    #[arg(long, conflicts_with = "failed", required_unless_present_any = ["failed", "file"])]
    ok: bool,
    /// It did not.
    #[arg(long)]
    failed: bool,
    /// A validation report as JSON, with what ran and how it ended.
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// What others should know about it.
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeReportArgs, folder: &Path) -> Result<u8> {
    let mut redactor = OutboundRedactor::default();
    let report = report(arguments, &mut redactor)?;
    let node = arguments.hub.node(folder)?;
    redactor.print_removed();
    let answer = Value::Object(node.report_tried(&arguments.asset, &report)?);
    if output::is_json() {
        output::document(&answer);
    } else {
        print(&report, &answer);
    }
    Ok(0)
}

fn report(arguments: &NodeReportArgs, redactor: &mut OutboundRedactor) -> Result<Value> {
    let mut report = match &arguments.file {
        Some(file) => read(file)?,
        None => Object::new(),
    };
    let stated = (arguments.ok || arguments.failed).then_some(arguments.ok);
    let reported = report.get("overall_ok").or_else(|| report.get("passed")).and_then(Value::as_bool);
    let ok = match (stated, reported) {
        (Some(stated), Some(reported)) if stated != reported => {
            return Err(Problem::new(
                Code::InputInvalid,
                "The file says the opposite of what the option says.",
            )
            .fix("Leave the option out, and the file counts."));
        }
        (stated, reported) => stated.or(reported).ok_or_else(|| {
            Problem::new(
                Code::InputInvalid,
                "The file does not say whether it worked: it has no `overall_ok`.",
            )
            .fix("Add `--ok` or `--failed`.")
        })?,
    };
    report.insert("overall_ok".to_owned(), ok.into());
    if let Some(note) = &arguments.note {
        report.insert("note".to_owned(), note.as_str().into());
    }
    let mut report = redactor.document(&report.into());
    // An id stands for the whole; of what was changed on the way it would not be true.
    if let Some(report) = report.as_object_mut().filter(|_| redactor.has_redacted()) {
        report.shift_remove("asset_id");
    }
    Ok(report)
}

fn read(file: &str) -> Result<Object> {
    let wrong = |what: String| at(file, Problem::new(Code::JsonInvalid, what).fix("Give one JSON object."));
    match serde_json::from_slice(&read_bytes(file)?) {
        Ok(Value::Object(report)) => Ok(report),
        Ok(_) => Err(wrong("It is no JSON object.".to_owned())),
        Err(error) => Err(wrong(format!("It is no JSON: {error}."))),
    }
}

fn print(report: &Value, answer: &Value) {
    let word = if report["overall_ok"] == json!(true) {
        paint(GOOD, "it worked")
    } else {
        paint(BAD, "it did not work")
    };
    print::done(format_args!("The hub knows: {word}"));
    let consensus = answer.get("consensus").cloned().unwrap_or_default();
    sheet(&[
        ("asset", text(answer, "target_asset_id")),
        ("status", print::state(raw(answer, "asset_status"))),
        ("report", text(answer, "report_id")),
        ("evidence", text(answer, "grade")),
        ("weight", print::number(answer, "weight").map(print::amount).unwrap_or_default()),
        ("so far", tally(&consensus)),
        ("note", text(answer, "note")),
    ]);
}

/// What reports and decisions say together.
pub(super) fn tally(consensus: &Value) -> String {
    match (print::number(consensus, "passes"), print::number(consensus, "fails")) {
        (Some(passes), Some(fails)) => {
            format!("{} for it, {} against", print::amount(passes), print::amount(fails))
        }
        _ => String::new(),
    }
}
