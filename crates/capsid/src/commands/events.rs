//! `capsid events`: the log of what happened.

use super::workspace;
use crate::cli::Json;
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::store::events::EventLog;
use capsid_engine::view::filter::EventFilter;
use capsid_engine::view::lineage::{Lineage, lineage};
use capsid_engine::view::stats::{Stats, Tally};
use capsid_engine::view::tree;
use capsid_engine::workspace::Workspace;
use capsid_model::event::Event;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Time, Value, json};
use clap::{Args, Subcommand};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

/// List, draw, count and trace the recorded evolution events.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  capsid events                             the last 20
  capsid events --tree                      the tree they form
  capsid events --status failed --gene gene_gep_repair_from_errors
  capsid events stats                       success rates and mean blast radius per gene
  capsid events trace evt_1770477654236     how it came to be, and the way back to its state"
)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    filter: Filter,

    /// Draw the tree of all events that match.
    #[arg(long)]
    tree: bool,

    /// Show at most this many of the newest; 0 shows all.
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,

    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show one event, or a validation report, as it is recorded.
    Show {
        /// Its id.
        id: String,
        #[command(flatten)]
        json: Json,
    },
    /// Success rates and mean blast radius per gene and per intent.
    Stats {
        #[command(flatten)]
        filter: Filter,
        #[command(flatten)]
        json: Json,
    },
    /// The lineage of an event, and the way back to the state it left.
    Trace {
        /// Its id.
        id: String,
        #[command(flatten)]
        json: Json,
    },
}

#[derive(Debug, Args, Clone)]
struct Filter {
    /// Only this intent: repair, optimize, innovate, explore.
    #[arg(long)]
    intent: Option<String>,
    /// Only events that used this gene.
    #[arg(long, value_name = "ID")]
    gene: Option<String>,
    /// Only events that made or applied this capsule.
    #[arg(long, value_name = "ID")]
    capsule: Option<String>,
    /// Only events that ended so: success or failed.
    #[arg(long)]
    status: Option<String>,
    /// Only events of this platform: linux, darwin, win32.
    #[arg(long)]
    platform: Option<String>,
    /// Only events with a signal that contains this.
    #[arg(long, value_name = "TEXT")]
    signal: Option<String>,
    /// Only events from this time on, such as 2026-02-07 or 2026-02-07T15:20:54Z.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only events up to this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl Filter {
    fn read(&self) -> Result<EventFilter> {
        Ok(EventFilter {
            intent: self.intent.clone(),
            gene: self.gene.clone(),
            capsule: self.capsule.clone(),
            status: self.status.clone(),
            platform: self.platform.clone(),
            signal: self.signal.clone(),
            since: self.since.as_deref().map(time).transpose()?,
            until: self.until.as_deref().map(time).transpose()?,
        })
    }
}

/// A time, or a date that stands for its first moment.
fn time(text: &str) -> Result<Time> {
    Time::parse(text).or_else(|| Time::parse(&format!("{text}T00:00:00Z"))).ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("`{text}` is not a time."))
            .fix("Write it as 2026-02-07 or 2026-02-07T15:20:54Z.")
    })
}

impl Arguments {
    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        match &self.action {
            Some(Action::Show { json, .. } | Action::Stats { json, .. } | Action::Trace { json, .. }) => {
                json.json
            }
            None => self.json.json,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let log = &workspace.store.events;
    match &arguments.action {
        Some(Action::Show { id, json }) => show(log, id, json.json),
        Some(Action::Stats { filter, json }) => stats(log, &filter.read()?, json.json),
        Some(Action::Trace { id, json }) => trace(&workspace, id, json.json),
        None => list(log, arguments),
    }
}

/// The newest events that match, oldest first, with their documents.
fn matching(log: &EventLog, filter: &EventFilter, limit: usize) -> Result<VecDeque<(Event, Object)>> {
    let mut found = VecDeque::new();
    log.each(|event, document| {
        if filter.matches(&event) {
            if limit > 0 && found.len() == limit {
                found.pop_front();
            }
            found.push_back((event, document));
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn list(log: &EventLog, arguments: &Arguments) -> Result<u8> {
    let filter = arguments.filter.read()?;
    let limit = if arguments.tree { 0 } else { arguments.limit };
    let found = matching(log, &filter, limit)?;
    if arguments.json.json {
        let events: Vec<Value> = found.into_iter().map(|(_, document)| document.into()).collect();
        output::document(&json!({"events": events}));
        return Ok(0);
    }
    let events: Vec<Event> = found.into_iter().map(|(event, _)| event).collect();
    if events.is_empty() {
        output::talk("No event matches.");
    } else if arguments.tree {
        tree::draw(&events, &label).into_iter().for_each(output::line);
    } else {
        output::print(&output::table(&events.iter().map(row).collect::<Vec<_>>()));
    }
    Ok(0)
}

/// The whole tree, line by line.
pub(crate) fn tree_lines(log: &EventLog) -> Result<Vec<String>> {
    let found = matching(log, &EventFilter::default(), 0)?;
    let events: Vec<Event> = found.into_iter().map(|(event, _)| event).collect();
    Ok(tree::draw(&events, &label))
}

fn row(event: &Event) -> Vec<String> {
    vec![
        paint(NAME, inert_line(&event.id)),
        event.at.map(|at| cut(&at.iso(), 19).replace('T', " ")).unwrap_or_default(),
        status(event),
        inert_line(&event.intent),
        event.blast_radius.to_string(),
        paint(DIM, inert_line(&event.genes_used.join(", "))),
    ]
}

fn label(event: &Event) -> String {
    let capsule = event.capsule_id.as_deref().map(|id| format!(" → {}", inert_line(id))).unwrap_or_default();
    format!(
        "{} {} {} {}{}",
        paint(NAME, inert_line(&event.id)),
        status(event),
        inert_line(&event.intent),
        paint(DIM, format_args!("{} {}", event.blast_radius, inert_line(&event.genes_used.join(", ")))),
        paint(DIM, capsule)
    )
}

fn status(event: &Event) -> String {
    match event.outcome.status.as_str() {
        "success" => paint(GOOD, "success"),
        "failed" => match &event.failure_class {
            Some(class) => paint(BAD, format_args!("failed ({})", inert_line(class))),
            None => paint(BAD, "failed"),
        },
        other => inert_line(other),
    }
}

fn show(log: &EventLog, id: &str, as_json: bool) -> Result<u8> {
    let record = log.find(id)?.ok_or_else(|| not_found(id))?;
    if as_json {
        output::document(&record.into());
    } else {
        output::line(serde_json::to_string_pretty(&record).unwrap_or_default());
    }
    Ok(0)
}

fn not_found(id: &str) -> Problem {
    Problem::new(Code::NotFound, format!("No event is recorded as `{}`.", inert_line(id)))
        .fix("`capsid events --limit 0` lists them all.")
}

fn stats(log: &EventLog, filter: &EventFilter, as_json: bool) -> Result<u8> {
    let mut stats = Stats::default();
    log.each(|event, _| {
        if filter.matches(&event) {
            stats.take(&event);
        }
        ControlFlow::Continue(())
    })?;
    if as_json {
        let of = |map: &std::collections::BTreeMap<String, Tally>| {
            map.iter().map(|(name, tally)| (name.clone(), tally_json(tally))).collect::<Object>()
        };
        output::document(&json!({
            "all": tally_json(&stats.all),
            "genes": of(&stats.genes),
            "intents": of(&stats.intents),
            "capsule_streaks": stats.capsule_streaks,
        }));
        return Ok(0);
    }
    let head = ["", "cycles", "success", "mean files", "mean lines", "streak", "last used"];
    let mut rows = vec![head.map(|text| paint(DIM, text)).to_vec(), tally_row("all", &stats.all)];
    rows.extend(stats.intents.iter().map(|(name, tally)| tally_row(name, tally)));
    rows.extend(stats.genes.iter().map(|(name, tally)| tally_row(name, tally)));
    output::print(&output::table(&rows));
    Ok(0)
}

fn tally_row(name: &str, tally: &Tally) -> Vec<String> {
    vec![
        inert_line(name),
        tally.cycles.to_string(),
        format!("{:.0} %", tally.success_rate() * 100.0),
        format!("{:.1}", tally.mean_files()),
        format!("{:.1}", tally.mean_lines()),
        tally.streak.to_string(),
        tally.last_used.map(|at| at.date()).unwrap_or_default(),
    ]
}

fn tally_json(tally: &Tally) -> Value {
    json!({
        "cycles": tally.cycles,
        "successes": tally.successes,
        "success_rate": tally.success_rate(),
        "mean_files": tally.mean_files(),
        "mean_lines": tally.mean_lines(),
        "streak": tally.streak,
        "last_used": tally.last_used.map(Time::iso),
    })
}

fn trace(workspace: &Workspace, id: &str, as_json: bool) -> Result<u8> {
    let traced = lineage(&workspace.store.events, id)?.ok_or_else(|| not_found(id))?;
    let way = traced.way_back(&|hash| workspace.paths.patch(hash));
    if as_json {
        let steps: Vec<Value> = traced
            .steps
            .iter()
            .map(|step| json!({"id": step.event.id, "status": step.event.outcome.status, "head": step.head, "patch_sha256": step.patch}))
            .collect();
        output::document(
            &json!({"lineage": steps, "missing_parent": traced.missing_parent, "way_back": way}),
        );
        return Ok(0);
    }
    print_trace(workspace, &traced, &way);
    Ok(0)
}

fn print_trace(workspace: &Workspace, traced: &Lineage, way: &[String]) {
    if let Some(parent) = &traced.missing_parent {
        output::line(format_args!("{} {} is not in this log", paint(WARN, "before:"), inert_line(parent)));
    }
    for step in &traced.steps {
        output::line(label(&step.event));
    }
    output::line("");
    if way.is_empty() {
        output::line(
            "The event does not say which commit it began from, so there is no way back to its state.",
        );
        return;
    }
    output::line(format_args!("{} to its state (in a clean clone or worktree):", paint(HEAD, "Back")));
    for command in way {
        output::line(format_args!("  {command}"));
    }
    if traced.unrecorded_edits() {
        output::line(format_args!(
            "{} uncommitted edits made between the cycles are not on record, and a patch may not apply without them",
            paint(WARN, "note:")
        ));
    }
    let lost: Vec<&str> =
        traced.patches().into_iter().filter(|hash| !workspace.paths.patch(hash).exists()).collect();
    if !lost.is_empty() {
        output::line(format_args!(
            "{} {} patch(es) are no longer kept here",
            paint(WARN, "missing:"),
            lost.len()
        ));
    }
}
