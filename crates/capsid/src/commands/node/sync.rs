//! `capsid node sync`.

use super::connection::HubConnectionArgs;
use crate::commands::workspace;
use crate::output::{self, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::network::sync::{self, SyncSummary};
use capsid_model::Result;
use capsid_model::text::inert_line;
use clap::Args;
use std::path::Path;

/// Bring this node and the hub up to date with each other: once, now.
///
/// New solutions that answer the signals of the last cycles are staged (never run before you promote them). Reports that
/// wait are delivered. When another node applied a capsule of yours and proved it, the capsule's streak grows. With `publish = true` under `[hub]` in capsid.toml, what became eligible is published. Nothing is
/// paid for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid node sync                what came, what went, what waits
  capsid node sync --dry-run      the same without sending or writing anything
  capsid node sync --json | jq .reputation

`capsid evolve --loop` does this by itself, every `sync_hours`.")]
pub struct NodeSyncArgs {
    /// Only look: send nothing, write nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    hub: HubConnectionArgs,
}

/// Runs the command.
pub fn run(arguments: &NodeSyncArgs, folder: &Path) -> Result<u8> {
    let node = arguments.hub.node(folder)?;
    let workspace = workspace(folder)?;
    if !arguments.dry_run {
        node.hello(capsid_model::Object::new())?;
    }
    let synced = sync::sync(&workspace, &node, arguments.dry_run)?;
    if output::is_json() {
        output::document(&synced.to_json());
    } else {
        print(&synced);
    }
    for problem in &synced.problems {
        output::caution("sync", problem);
    }
    Ok(u8::from(!synced.problems.is_empty()))
}

fn print(synced: &SyncSummary) {
    let head = |text: &str| output::line(paint(HEAD, text));
    let nothing = || output::line(paint(DIM, "  nothing"));
    head(if synced.dry_run { "would come" } else { "came" });
    for (id, summary) in &synced.came {
        output::line(format_args!("  {} {}", paint(NAME, inert_line(id)), inert_line(summary)));
    }
    for problem in &synced.refused {
        output::line(format_args!("  {} {}", paint(WARN, "refused:"), inert_line(&problem.message)));
    }
    if synced.came.is_empty() && synced.refused.is_empty() && synced.reused.is_empty() {
        nothing();
    }
    for (capsule, streak) in &synced.reused {
        output::line(format_args!(
            "  {} worked for another node; its streak is {streak}",
            paint(NAME, inert_line(capsule))
        ));
    }
    head("went");
    for (capsule, asset) in &synced.published.sent {
        output::line(format_args!("  {} as {}", inert_line(capsule), paint(NAME, inert_line(asset))));
    }
    if synced.reports > 0 {
        output::line(format_args!("  {} report(s)", synced.reports));
    }
    if synced.published.sent.is_empty() && synced.reports == 0 {
        nothing();
    }
    head("waits");
    for (capsule, why) in &synced.published.waiting {
        output::line(format_args!("  {}: {}", inert_line(capsule), inert_line(why)));
    }
    for capsule in &synced.held {
        let why = "eligible; `capsid node publish` sends it, or `publish = true` under [hub]";
        output::line(format_args!("  {}: {}", inert_line(capsule), paint(DIM, why)));
    }
    if synced.reports_waiting > 0 {
        output::line(format_args!("  {} report(s)", synced.reports_waiting));
    }
    for (id, title, bounty) in &synced.tasks {
        let pays = if *bounty > 0.0 { format!(" ({bounty} credits)") } else { String::new() };
        output::line(format_args!("  task {}: {}{pays}", inert_line(id), inert_line(title)));
    }
    if synced.published.waiting.is_empty()
        && synced.held.is_empty()
        && synced.tasks.is_empty()
        && synced.reports_waiting == 0
    {
        nothing();
    }
    let display = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |value| format!("{value}"));
    output::line(format_args!(
        "{} reputation {}, {} credits, {} earned",
        paint(GOOD, "this node:"),
        display(synced.reputation),
        display(synced.credits),
        display(synced.earned)
    ));
}
