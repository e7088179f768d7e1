//! `capsid status`: what is on this machine and in this repository, and what to do next.

mod facts;
mod hints;
mod next;
mod print;

pub(crate) use hints::print_hints;

use crate::output;
use capsid_model::text::inert_line;
use capsid_model::{Problem, Result, Value, json};
use clap::Args;
use next::{NextStep, suggest_steps};
use std::path::Path;
use std::time::Duration;

/// How long a hub may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Show what is on this machine and in this repository, and what to do next. Changes nothing.
///
/// Shows your coding agents and what of their sessions is sealed, the store of the repository around the current folder, the
/// run that waits, what was learned lately, what the loop does, and the hub. Nobody is called, unless you name a hub.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  capsid                                   the same, on a terminal
  capsid status --json                     the same for a program
  capsid status --hub http://127.0.0.1:4000    is that hub healthy? exit 1 if it is not")]
pub struct StatusArgs {
    /// Ask this hub whether it is healthy, and exit with 1 if it is not.
    #[arg(long, value_name = "URL")]
    hub: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &StatusArgs, folder: &Path) -> Result<u8> {
    let health = arguments.hub.as_deref().map(|url| (url, facts::check_hub(folder, url)));
    let (facts, report) = facts::read_facts(folder)?;
    let steps = suggest_steps(&facts);
    if output::is_json() {
        let mut document = report.as_ref().map_or_else(empty_report, |report| json!(report));
        merge(&mut document, facts.to_json());
        document["next"] = steps.iter().map(step_json).collect::<Vec<_>>().into();
        if let Some((url, health)) = &health {
            document["hub"] = health_json(url, health);
        }
        document["ok"] = health.as_ref().is_none_or(|(_, health)| health.is_ok()).into();
        output::document(&document);
    } else {
        print::print_status(
            &facts,
            report.as_ref(),
            &steps,
            health.as_ref().map(|(url, health)| (*url, health)),
        );
    }
    match health {
        Some((_, Err(problem))) if !output::is_json() => Err(problem),
        Some((_, Err(_))) => Ok(1),
        _ => Ok(0),
    }
}

/// The members that describe a repository, where there is none.
fn empty_report() -> Value {
    json!({"has_store": false, "pending": [], "learned": [], "failed": [], "loop": null})
}

fn merge(document: &mut Value, other: Value) {
    if let (Value::Object(document), Value::Object(other)) = (document, other) {
        document.extend(other);
    }
}

fn step_json(step: &NextStep) -> Value {
    json!({"command": step.command, "reason": step.reason})
}

fn health_json(url: &str, health: &Result<String>) -> Value {
    match health {
        Ok(version) => json!({"url": url, "healthy": true, "version": inert_line(version)}),
        Err(Problem { code, message, .. }) => {
            json!({"url": url, "healthy": false, "error": {"code": code.as_str(), "message": message}})
        }
    }
}
