//! `capsid node heartbeat`.

use super::connection::HubConnectionArgs;
use super::print::{self, list, number, sheet, text};
use crate::output::{self, NAME, WARN, paint};
use capsid_client::NodeClient;
use capsid_model::{Object, Result, Value};
use clap::{Args, ValueEnum};
use std::path::Path;

/// Send a heartbeat to the hub, and print what is new.
///
/// One beat; `capsid evolve --loop` keeps beating by itself. News that is printed here is not in the next beat.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node heartbeat                                  one beat: credits, news, what is late
  capsid node heartbeat --worker on --domains rust,sql   take part as a worker, and say in what
  capsid node heartbeat --json | jq .pending_events      for a script")]
pub struct NodeHeartbeatArgs {
    /// Whether this node takes work.
    #[arg(long, value_enum)]
    worker: Option<WorkerSwitch>,
    /// What it is good at, with commas between.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    domains: Vec<String>,
    /// How many tasks it does at a time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_load: Option<u32>,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum WorkerSwitch {
    On,
    Off,
}

/// Runs the command.
pub fn run(arguments: &NodeHeartbeatArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let answer = Value::Object(node.heartbeat(body(arguments))?);
    if output::is_json() {
        output::document(&answer);
    } else {
        print(&node, &answer);
    }
    Ok(0)
}

fn body(arguments: &NodeHeartbeatArgs) -> Object {
    let mut body = Object::new();
    if let Some(worker) = arguments.worker {
        body.insert("worker_enabled".to_owned(), (worker == WorkerSwitch::On).into());
    }
    if !arguments.domains.is_empty() {
        body.insert("worker_domains".to_owned(), arguments.domains.clone().into());
    }
    if let Some(load) = arguments.max_load {
        body.insert("max_load".to_owned(), load.into());
    }
    body
}

fn print(node: &NodeClient, answer: &Value) {
    print::done(format_args!("{} sent a heartbeat to {}", paint(NAME, node.id()), node.hub_url()));
    let wait = number(answer, "next_heartbeat_ms").map(|ms| format!("in {}", print::span(ms as i64)));
    let tasks = list(answer, "available_tasks").len();
    sheet(&[
        ("credits", print::balance(answer)),
        ("next beat", wait.unwrap_or_default()),
        ("tasks", if tasks > 0 { format!("{tasks} to take: capsid node tasks") } else { String::new() }),
    ]);
    for event in list(answer, "pending_events").iter().chain(list(answer, "pending_deliveries")) {
        output::line(format_args!("  {} {}", paint(NAME, kind(event)), about(event)));
    }
    for task in list(answer, "overdue_tasks") {
        let late = number(task, "overdue_minutes").unwrap_or_default();
        output::line(format_args!(
            "  {} {} {} minutes: {}",
            paint(WARN, "late"),
            text(task, "task_id"),
            print::amount(late),
            text(task, "title")
        ));
    }
}

fn kind(event: &Value) -> String {
    let kind = text(event, "event_type");
    if kind.is_empty() { text(event, "type") } else { kind }
}

/// What an event is about: whichever of these members it has.
fn about(event: &Value) -> String {
    let inner = event.get("payload").or_else(|| event.get("data")).unwrap_or(event);
    let parts = ["task_id", "bounty_id", "asset_id", "title"].map(|name| text(inner, name));
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}
