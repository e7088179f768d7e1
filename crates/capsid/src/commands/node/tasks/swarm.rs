//! `capsid node swarm`.

use crate::commands::node::connection::HubConnectionArgs;
use crate::commands::node::print;
use crate::commands::node::print::{amount, credits, list, number, raw, text};
use crate::output::{self, DIM, HEAD, NAME, paint};
use capsid_model::{Result, Value, json};
use clap::Args;
use std::path::Path;

/// See how the parts of a task stand, who does them, and what for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node swarm task_1a2b            the whole; the id of a part does as well
  capsid node swarm task_1a2b --json | jq .progress")]
pub struct NodeSwarmArgs {
    /// The task that was cut into parts, or one of them.
    #[arg(value_name = "TASK")]
    task: String,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeSwarmArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let answer = node.swarm(&arguments.task)?;
    if output::is_json() {
        output::document(&answer);
    } else {
        print(&answer);
    }
    Ok(0)
}

fn print(answer: &Value) {
    let whole = answer.get("parent_task").cloned().unwrap_or_default();
    let pays = number(&whole, "bounty_amount").map(credits).unwrap_or_default();
    output::line(format_args!("{}  {}", paint(HEAD, text(&whole, "title")), paint(DIM, pays)));
    let progress = answer.get("progress").cloned().unwrap_or_default();
    if raw(&progress, "status") == "not_decomposed" {
        output::line(format_args!("  {} was not cut into parts", text(&whole, "task_id")));
        return;
    }
    let merging = answer.get("aggregation_task").filter(|task| task.is_object());
    let parts: Vec<&Value> = list(answer, "subtasks").iter().chain(merging).collect();
    let mut rows = vec![row("", &whole, answer)];
    let last = parts.len().saturating_sub(1);
    rows.extend(parts.iter().enumerate().map(|(at, part)| {
        let branch = if at == last { "└─ " } else { "├─ " };
        row(branch, part, answer)
    }));
    output::print(&output::table(&rows));
    let count = |name: &str| number(&progress, name).map_or_else(|| "?".to_owned(), amount);
    output::line(format_args!(
        "{}: {} of {} parts are done",
        print::state(raw(&progress, "status")),
        count("solvers_completed"),
        count("solvers_total")
    ));
}

/// A task of the swarm with who does it and what for.
fn row(branch: &str, task: &Value, answer: &Value) -> Vec<String> {
    let id = raw(task, "task_id");
    let share = list(answer, "contributions").iter().find(|share| raw(share, "task_id") == id);
    let role = if branch.is_empty() { "proposer".to_owned() } else { text(task, "swarm_role") };
    let who =
        share.map(|share| paint(NAME, text(share, "node_id"))).unwrap_or_else(|| paint(DIM, "nobody yet"));
    let title = if branch.is_empty() { String::new() } else { print::line(raw(task, "title"), 60) };
    vec![
        format!("{branch}{}", print::line(id, 80)),
        print::state(raw(task, "status")),
        role,
        number(task, "contribution_weight").map(amount).unwrap_or_default(),
        who,
        share.map(worth).unwrap_or_default(),
        title,
    ]
}

/// What somebody gets for a part: paid, or to be paid when it is accepted.
fn worth(share: &Value) -> String {
    let Some(of) = number(share, "credits") else { return String::new() };
    if share.get("settled") == Some(&json!(true)) { format!("{} paid", credits(of)) } else { credits(of) }
}
