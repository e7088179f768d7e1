//! `capsid events`: the log of what happened.

pub(crate) mod proof;
pub(crate) mod web;

use super::listing::{INTENTS, ShowArgs, TALLY_HEAD, TimeSpanArgs, not_found, tally_cells, tally_json};
use super::record_id::complete_id;
use crate::commands::{viewer, workspace};
use crate::output::{self, BAD, DIM, GOOD, HEAD, NAME, WARN, paint};
use capsid_engine::store::events::EventLog;
use capsid_engine::view::filter::EventFilter;
use capsid_engine::view::lineage::{Lineage, lineage};
use capsid_engine::view::stats::{EventStats, OutcomeTally};
use capsid_engine::view::tree;
use capsid_engine::workspace::Workspace;
use capsid_model::event::EvolutionEvent;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Object, Result, Value, json};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

/// The command that lists every event.
const LISTER: &str = "capsid events --limit 0";

/// List, draw, count and trace the recorded evolution events, or look at them in the browser.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  capsid events                             the last 20
  capsid events --tree                      the tree they form
  capsid events --web --open                the same in the browser, with rates over time and the reasons
  capsid events --status failed --gene gene_gep_repair_from_errors
  capsid events stats                       success rates and mean blast radius per gene
  capsid events trace evt_1770477654236     how it came to be, and the way back to its state
  capsid events verify                      whether the log is what was sealed

With --web the pages come from this program and are served on 127.0.0.1 alone, until Ctrl-C. The address that is printed
holds a key that is new at every start. The page has filters of its own, so those options do not go with it."
)]
pub struct EventsArgs {
    #[command(subcommand)]
    action: Option<EventsCommand>,

    #[command(flatten)]
    list: ListEventsArgs,
}

#[derive(Debug, Subcommand)]
enum EventsCommand {
    /// List events: the same as `capsid events`.
    List(ListEventsArgs),
    /// Show one event, or a validation report, as it is recorded.
    Show(ShowArgs),
    /// Success rates and mean blast radius per gene and per intent.
    Stats {
        #[command(flatten)]
        filter: EventsFilterArgs,
    },
    /// Prove that the log was neither edited, cut nor reordered, or say where it was.
    #[command(after_help = "\
Each line is sealed into the repository's own chain when it is written. This compares the log with the chain, and
verifies the chain with its signatures.

Exit status: 0 the log is what was sealed, 1 it is not, or some of it was never sealed.")]
    Verify,
    /// Seal lines that are not sealed yet, such as those that came with a merge.
    Seal {
        /// The log was changed and is right as it is: go on from here. The chain keeps what was sealed before.
        #[arg(long)]
        accept: bool,
    },
    /// The lineage of an event, and the way back to the state it left.
    Trace {
        /// Its id.
        id: String,
    },
}

#[derive(Debug, Args)]
struct ListEventsArgs {
    #[command(flatten)]
    filter: EventsFilterArgs,

    /// Draw the tree of all events that match.
    #[arg(long)]
    tree: bool,

    /// Show the history in the browser: rates over time, genes by outcome, the tree, and why each choice was made.
    #[arg(long, conflicts_with_all = ["tree", "limit", "intent", "gene", "capsule", "status", "platform", "signal", "since", "until"])]
    web: bool,

    /// With --web, the port on 127.0.0.1 (default: 4840, or a free one where that is taken).
    #[arg(long, value_name = "PORT", requires = "web")]
    port: Option<u16>,

    /// With --web, open the page in the browser too.
    #[arg(long, requires = "web")]
    open: bool,

    /// Show at most this many of the newest; 0 shows all.
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

#[derive(Debug, Args, Clone)]
struct EventsFilterArgs {
    /// Only this intent.
    #[arg(long, value_parser = INTENTS)]
    intent: Option<String>,
    /// Only events that used this gene.
    #[arg(long, value_name = "ID")]
    gene: Option<String>,
    /// Only events that made or applied this capsule.
    #[arg(long, value_name = "ID")]
    capsule: Option<String>,
    /// Only events that ended so.
    #[arg(long, value_parser = statuses())]
    status: Option<String>,
    /// Only events of this platform: linux, darwin, win32.
    #[arg(long)]
    platform: Option<String>,
    /// Only events with a signal that contains this.
    #[arg(long = "matching", alias = "signal", value_name = "TEXT")]
    signal: Option<String>,
    #[command(flatten)]
    span: TimeSpanArgs,
}

impl EventsFilterArgs {
    fn read(&self) -> EventFilter {
        EventFilter {
            intent: self.intent.clone(),
            gene: self.gene.clone(),
            capsule: self.capsule.clone(),
            status: self.status.clone(),
            platform: self.platform.clone(),
            signal: self.signal.clone(),
            since: self.span.since,
            until: self.span.until,
        }
    }
}

/// How an event can end; `failure` is another word for `failed`.
fn statuses() -> PossibleValuesParser {
    PossibleValuesParser::new([PossibleValue::new("success"), PossibleValue::new("failed").alias("failure")])
}

impl EventsArgs {
    fn list(&self) -> Option<&ListEventsArgs> {
        match &self.action {
            None => Some(&self.list),
            Some(EventsCommand::List(list)) => Some(list),
            Some(_) => None,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &EventsArgs, folder: &Path) -> Result<u8> {
    let workspace = workspace(folder)?;
    if let Some(list) = arguments.list().filter(|list| list.web) {
        let options = viewer::ViewerOptions { port: list.port, open: list.open };
        return web::serve(workspace, &options, output::is_json());
    }
    workspace.require_store()?;
    let log = &workspace.store.events;
    match &arguments.action {
        Some(EventsCommand::Show(show)) => show.print(log.find(&complete(log, &show.id)?)?, "event", LISTER),
        Some(EventsCommand::Stats { filter }) => stats(log, &filter.read(), output::is_json()),
        Some(EventsCommand::Trace { id }) => trace(&workspace, &complete(log, id)?, output::is_json()),
        Some(EventsCommand::Verify) => proof::verify(&workspace, output::is_json()),
        Some(EventsCommand::Seal { accept }) => proof::seal_now(&workspace, *accept, output::is_json()),
        Some(EventsCommand::List(list)) => print_list(log, list),
        None => print_list(log, &arguments.list),
    }
}

/// The whole id of the event that was meant.
fn complete(log: &EventLog, given: &str) -> Result<String> {
    if log.find(given)?.is_some() {
        return Ok(given.to_owned());
    }
    let mut ids = Vec::new();
    log.each(|event, _| {
        ids.push(event.id);
        ControlFlow::Continue(())
    })?;
    complete_id(given, &ids)
}

/// The newest events that match, oldest first, with their documents.
fn matching(
    log: &EventLog,
    filter: &EventFilter,
    limit: usize,
) -> Result<VecDeque<(EvolutionEvent, Object)>> {
    let mut events = VecDeque::new();
    log.each(|event, document| {
        if filter.matches(&event) {
            if limit > 0 && events.len() == limit {
                events.pop_front();
            }
            events.push_back((event, document));
        }
        ControlFlow::Continue(())
    })?;
    Ok(events)
}

fn print_list(log: &EventLog, list: &ListEventsArgs) -> Result<u8> {
    let filter = list.filter.read();
    let limit = if list.tree { 0 } else { list.limit };
    let matches = matching(log, &filter, limit)?;
    if output::is_json() {
        let events: Vec<Value> = matches.into_iter().map(|(_, document)| document.into()).collect();
        output::document(&json!({"events": events}));
        return Ok(0);
    }
    if matches.is_empty() {
        output::talk("No event matches.");
    } else if list.tree {
        let events: Vec<EvolutionEvent> = matches.into_iter().map(|(event, _)| event).collect();
        tree::draw(&events, &label).iter().for_each(|line| output::line(output::fit_terminal(line)));
    } else {
        let rows: Vec<_> = matches.iter().map(|(event, document)| row(event, document)).collect();
        output::print(&output::fit_terminal(&output::table(&rows)));
    }
    Ok(0)
}

/// The whole tree, line by line.
pub(crate) fn tree_lines(log: &EventLog) -> Result<Vec<String>> {
    let matches = matching(log, &EventFilter::default(), 0)?;
    let events: Vec<EvolutionEvent> = matches.into_iter().map(|(event, _)| event).collect();
    Ok(tree::draw(&events, &label))
}

fn row(event: &EvolutionEvent, document: &Object) -> Vec<String> {
    let title = document.get("meta").and_then(|meta| meta.get("title")).and_then(Value::as_str);
    vec![
        paint(NAME, inert_line(&event.id)),
        event.at.map(|at| cut(&at.iso(), 19).replace('T', " ")).unwrap_or_default(),
        status(event),
        inert_line(&event.intent),
        event.blast_radius.to_string(),
        paint(DIM, inert_line(&event.genes_used.join(", "))),
        inert_line(title.unwrap_or_default()),
    ]
}

fn label(event: &EvolutionEvent) -> String {
    let mut tail = event.capsule_id.as_deref().map(|id| format!(" → {}", inert_line(id))).unwrap_or_default();
    if !event.merge_parents.is_empty() {
        tail.push_str(&format!(" merges {}", inert_line(&event.merge_parents.join(", "))));
    }
    format!(
        "{} {} {} {}{}",
        paint(NAME, inert_line(&event.id)),
        status(event),
        inert_line(&event.intent),
        paint(DIM, format_args!("{} {}", event.blast_radius, inert_line(&event.genes_used.join(", ")))),
        paint(DIM, tail)
    )
}

fn status(event: &EvolutionEvent) -> String {
    match event.outcome.status.as_str() {
        "success" => paint(GOOD, "success"),
        "failed" => match &event.failure_class {
            Some(class) => paint(BAD, format_args!("failed ({})", inert_line(class))),
            None => paint(BAD, "failed"),
        },
        other => inert_line(other),
    }
}

fn stats(log: &EventLog, filter: &EventFilter, as_json: bool) -> Result<u8> {
    let mut stats = EventStats::default();
    log.each(|event, _| {
        if filter.matches(&event) {
            stats.add_event(&event);
        }
        ControlFlow::Continue(())
    })?;
    if as_json {
        let of = |map: &std::collections::BTreeMap<String, OutcomeTally>| {
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
    let mut head = vec![""];
    head.extend(TALLY_HEAD);
    head.extend(["streak", "last used"]);
    let mut rows =
        vec![head.into_iter().map(|text| paint(DIM, text)).collect(), tally_row("all", &stats.all)];
    rows.extend(stats.intents.iter().map(|(name, tally)| tally_row(name, tally)));
    rows.extend(stats.genes.iter().map(|(name, tally)| tally_row(name, tally)));
    output::print(&output::table(&rows));
    Ok(0)
}

fn tally_row(name: &str, tally: &OutcomeTally) -> Vec<String> {
    let mut row = vec![inert_line(name)];
    row.extend(tally_cells(tally));
    row.push(tally.streak.to_string());
    row.push(tally.last_used.map(|at| at.date()).unwrap_or_default());
    row
}

fn trace(workspace: &Workspace, id: &str, as_json: bool) -> Result<u8> {
    let traced = lineage(&workspace.store.events, id)?.ok_or_else(|| not_found(id, "event", LISTER))?;
    let way = traced.path_to_root(&|hash| workspace.paths.patch(hash));
    if as_json {
        let steps: Vec<Value> = traced
            .steps
            .iter()
            .map(|step| json!({"id": step.event.id, "status": step.event.outcome.status, "head": step.head, "patch_sha256": step.patch}))
            .collect();
        output::document(
            &json!({"lineage": steps, "missing_parent": traced.missing_parent, "unrecorded_edits": traced.unrecorded_edits(), "way_back": way}),
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
