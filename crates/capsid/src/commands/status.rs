//! `capsid status`: what is pending, what was learned lately, what the loop does.

use crate::commands::workspace;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::view::status::{LoopActivity, StatusReport, read_status};
use capsid_model::text::{cut, inert_line};
use capsid_model::{Result, json};
use clap::Args;
use std::path::Path;

/// The longest text of a problem on a line.
const MAX_SHOWN: usize = 100;

/// Show what is pending, what was learned lately and what the loop does. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid status                            what waits for you, and what was learned
  capsid status --json                     the same for a program")]
pub struct StatusArgs {}

/// Runs the command.
pub fn run(folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    let status = read_status(&workspace)?;
    if output::is_json() {
        let mut document = json!(status);
        document["ok"] = true.into();
        output::document(&document);
        return Ok(0);
    }
    if !status.has_store {
        output::line(
            "This repository has no store yet: nothing is pending and nothing was learned. Run `capsid init` to begin.",
        );
        return Ok(0);
    }
    print_pending(&status);
    print_learned(&status);
    print_loop(&status.activity);
    Ok(0)
}

fn show(text: &str) -> String {
    cut(&inert_line(text), MAX_SHOWN).to_owned()
}

fn print_pending(status: &StatusReport) {
    output::line(paint(HEAD, "Pending"));
    if status.pending.is_empty() {
        output::line("  nothing");
    }
    for run in &status.pending {
        output::line(format_args!("  {}  {}", paint(NAME, inert_line(&run.run_id)), show(&run.problem)));
        output::line(format_args!("    {}", run.advice));
    }
}

fn print_learned(status: &StatusReport) {
    output::line(paint(HEAD, "Learned"));
    if status.learned.is_empty() {
        output::line("  nothing yet: a cycle that succeeds makes a capsule");
    }
    for solution in &status.learned {
        let grade = match solution.grade {
            "not proven" => paint(DIM, solution.grade),
            grade => paint(GOOD, grade),
        };
        let streak = format!("streak {}", solution.streak);
        output::line(format_args!(
            "  {}  {}  {grade}, {streak}",
            paint(NAME, inert_line(&solution.capsule_id)),
            show(&solution.title)
        ));
        if solution.problem != solution.title {
            output::line(format_args!("    {} {}", paint(DIM, "problem:"), show(&solution.problem)));
        }
    }
    for attempt in &status.failed {
        output::line(format_args!(
            "  {}  {}  {}",
            paint(NAME, inert_line(&attempt.id)),
            show(&attempt.problem),
            paint(BAD, "failed")
        ));
        output::line(format_args!("    {}", inert_line(&attempt.reason)));
    }
}

fn print_loop(activity: &LoopActivity) {
    output::line(paint(HEAD, "Loop"));
    let state = match (activity.is_running, activity.process) {
        (true, Some(process)) => paint(GOOD, format_args!("running (process {process})")),
        (true, None) => paint(GOOD, "running"),
        (false, _) => "not running; `capsid evolve --loop` starts it".to_owned(),
    };
    output::line(format_args!("  {state}"));
    if let Some(run) = activity.run_id.as_ref().filter(|_| activity.is_running) {
        output::line(format_args!("  works on {}", paint(NAME, inert_line(run))));
    }
    output::line(format_args!("  {}", activity.remaining));
    for suspended in &activity.suspended {
        let until = match &suspended.until {
            Some(until) => format!("until {until}"),
            None => "until you resume it".to_owned(),
        };
        let id = inert_line(&suspended.id);
        output::line(format_args!("  {} {until}: {}", paint(WARN, "suspended"), show(&suspended.problem)));
        output::line(format_args!("    Repair it yourself, or run `capsid loop resume {id}`."));
    }
}
