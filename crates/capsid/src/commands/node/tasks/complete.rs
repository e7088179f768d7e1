//! `capsid node complete`.

use crate::commands::node::connection::HubConnectionArgs;
use crate::commands::node::print;
use crate::commands::node::print::{amount, credits, number, sheet, text};
use crate::output;
use capsid_model::{Result, Value};
use clap::Args;
use std::path::Path;

/// Hand in what solves a task: an asset that this node has published.
///
/// The bounty is matched with it, and paid when its creator accepts. An id that the hub does not know stands for the newest
/// capsule that the node has published since it took the task.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node publish                               first publish the solution
  capsid node complete task_1a2b sha256:2f6c...     then hand it in
  capsid node tasks --mine                          see whether it was accepted")]
pub struct NodeCompleteArgs {
    /// The task.
    #[arg(value_name = "TASK")]
    task: String,
    /// The asset that solves it.
    #[arg(value_name = "ASSET_ID")]
    asset: String,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeCompleteArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let answer = node.task_complete(&arguments.task, &arguments.asset)?;
    if output::is_json() {
        output::document(&answer);
        return Ok(0);
    }
    print::done(format_args!("Handed in for {}", text(&answer, "task_id")));
    let pending = number(&answer, "credits_pending").filter(|pending| *pending > 0.0);
    sheet(&[
        ("asset", text(&answer, "asset_id")),
        ("bounty", text(&answer, "bounty_id")),
        ("will pay", pending.map(|it| format!("{} when it is accepted", credits(it))).unwrap_or_default()),
        ("swarm", swarm(answer.get("swarm").unwrap_or(&Value::Null))),
    ]);
    let handed = text(&answer, "asset_id");
    if !handed.is_empty() && handed != arguments.asset {
        print::print_note(
            "The hub does not know the asset that was named; it took the newest capsule of this node.",
        );
    }
    Ok(0)
}

fn swarm(swarm: &Value) -> String {
    match (number(swarm, "solvers_completed"), number(swarm, "solvers_total")) {
        (Some(done), Some(total)) => format!("{} of {} parts are done", amount(done), amount(total)),
        _ => String::new(),
    }
}
