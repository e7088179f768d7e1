//! `status`: what there is in this repository.

use super::{field, learned};
use crate::arguments::{ToolArguments, required};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_engine::cycle::observation::{self, Sources};
use capsid_engine::cycle::record;
use capsid_engine::exchange::stage;
use capsid_engine::recall::{problem_in, signals_in};
use capsid_engine::run::pending;
use capsid_engine::view::stats::EventStats;
use capsid_engine::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::event::EvolutionEvent;
use capsid_model::gene::Gene;
use capsid_model::signal::signal_key;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use std::ops::ControlFlow;

/// What can be shown.
pub const WHAT: [&str; 9] =
    ["summary", "genes", "capsules", "failed", "events", "staged", "signals", "explain", "node"];

/// The default number of rows.
const DEFAULT: usize = 20;
/// The most rows.
const MAX: usize = 200;
/// The furthest that paging goes.
const FURTHEST: usize = 1_000_000;

/// Does it.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    let what = arguments.word("what", &WHAT)?;
    let id = arguments.name("id")?;
    let page = ListPage {
        limit: arguments.count("limit", DEFAULT, MAX)?,
        offset: arguments.count("offset", 0, FURTHEST)?,
    };
    job.step("reading the store")?;
    match what {
        "node" => return node(server),
        "signals" => return signals(server, arguments.text("text")?),
        _ => {}
    }
    let workspace = server.store()?;
    if what == "explain" {
        return explained(&workspace, id);
    }
    if let Some(id) = id {
        return one(&workspace, what, id);
    }
    match what {
        "genes" => Ok(genes(&workspace, None, page)?),
        "capsules" => Ok(page.render("capsules", &workspace.store.capsules.documents()?, capsule_row)),
        "failed" => Ok(page.render("failed", &workspace.store.failed.documents()?, capsule_row)),
        "events" => events(&workspace, page),
        "staged" => Ok(page.render("staged", &stage::staged(&workspace)?, staged_row)),
        _ => summary(server, &workspace),
    }
}

/// A part of a list.
#[derive(Debug, Clone, Copy)]
pub struct ListPage {
    pub limit: usize,
    pub offset: usize,
}

impl ListPage {
    fn render(self, name: &str, all: &[Object], row: fn(&Object) -> Value) -> Value {
        let rows: Vec<Value> = all.iter().skip(self.offset).take(self.limit).map(row).collect();
        let end = self.offset + rows.len();
        json!({name: rows, "total": all.len(), "next_offset": (end < all.len()).then_some(end)})
    }
}

/// Genes, a row each.
pub fn genes(workspace: &Workspace, category: Option<&str>, page: ListPage) -> Result<Value> {
    let mut genes = workspace.store.genes.documents()?;
    genes.retain(|gene| category.is_none_or(|category| field(gene, "category") == category));
    Ok(page.render("genes", &genes, gene_row))
}

/// The members of a gene in a list.
pub fn gene_row(document: &Object) -> Value {
    let gene = Gene::read(document);
    let summary = field(document, "summary");
    json!({
        "id": gene.id, "category": gene.category, "signals_match": gene.signals_match,
        "summary": inert_line(cut(summary, 200)), "asset_id": document.get("asset_id"),
    })
}

/// The members of a capsule in a list.
pub fn capsule_row(document: &Object) -> Value {
    let capsule = Capsule::read(document);
    let mut row = json!({
        "id": capsule.id, "gene": capsule.gene, "summary": inert_line(cut(&capsule.summary, 200)),
        "trigger": capsule.trigger, "confidence": capsule.confidence, "streak": capsule.success_streak,
        "failure_reason": document.get("failure_reason"), "asset_id": capsule.asset_id,
    });
    learned::add_to_row(&mut row, document);
    row
}

/// The members of an event in a list.
pub fn event_row(document: &Object) -> Value {
    let Some(event) = EvolutionEvent::read(document) else { return json!({"id": document.get("id")}) };
    let mut row = json!({
        "id": event.id, "intent": event.intent, "status": event.outcome.status, "score": event.outcome.score,
        "genes": event.genes_used, "files": event.blast_radius.files, "lines": event.blast_radius.lines,
        "failure_class": event.failure_class,
    });
    if let Some(meta) = learned::meta(document) {
        learned::add_to_row(&mut row, meta);
    }
    row
}

fn staged_row(document: &Object) -> Value {
    json!({
        "id": document.get("id"), "type": document.get("type"), "asset_id": document.get("asset_id"),
        "summary": inert_line(cut(field(document, "summary"), 200)),
    })
}

/// Events, newest first.
fn events(workspace: &Workspace, page: ListPage) -> Result<Value> {
    let newest = workspace.store.events.recent_documents(page.offset + page.limit + 1)?;
    let rows: Vec<Value> = newest.iter().rev().skip(page.offset).take(page.limit).map(event_row).collect();
    let end = page.offset + rows.len();
    Ok(json!({"events": rows, "next_offset": (newest.len() > end).then_some(end)}))
}

/// A record in full.
pub fn one(workspace: &Workspace, what: &str, id: &str) -> Result<Value> {
    let store = &workspace.store;
    let asset = match what {
        "genes" => store.genes.find(id)?,
        "capsules" | "failed" => match store.capsules.find(id)? {
            None => store.failed.find(id)?,
            asset => asset,
        },
        "events" => store.events.find(id)?,
        "staged" => stage::staged(workspace)?
            .into_iter()
            .find(|asset| field(asset, "id") == id || field(asset, "asset_id") == id),
        _ => required(None, "what")?,
    };
    let missing = || {
        Problem::new(Code::NotFound, format!("`{}` is not among the {what}.", inert_line(cut(id, 100))))
            .fix(format!("The tool `status` with what `{what}` lists them."))
    };
    Ok(asset.ok_or_else(missing)?.into())
}

fn summary(server: &ServerContext, workspace: &Workspace) -> Result<Value> {
    let store = &workspace.store;
    let mut stats = EventStats::default();
    let (mut events, mut successes) = (0_u64, 0_u64);
    store.events.each(|event, _| {
        events += 1;
        successes += u64::from(event.outcome.is_success());
        stats.add_event(&event);
        ControlFlow::Continue(())
    })?;
    let waiting = pending::pending(workspace)?;
    let hub = workspace.config.hub.settings(&*server.env).ok().flatten();
    Ok(json!({
        "repository": workspace.repository.root.display().to_string(),
        "version": env!("CARGO_PKG_VERSION"),
        "genes": store.genes.texts()?.len(),
        "capsules": store.capsules.texts()?.len(),
        "failed": store.failed.texts()?.len(),
        "events": events,
        "success_rate": (events > 0).then(|| successes as f64 / events as f64),
        "memory_graph_bytes": std::fs::metadata(workspace.paths.memory_graph()).map_or(0, |meta| meta.len()),
        "waiting_run": waiting.map(|(run, _)| run.run_id),
        "last_event": store.events.next_parents()?.parent,
        "hub": hub.map(|settings| settings.url),
    }))
}

fn signals(server: &ServerContext, text: Option<&str>) -> Result<Value> {
    let (problem, signals) = match text {
        Some(text) => (problem_in(text), signals_in(text)),
        None => {
            let sources = Sources { sessions: true, ..Sources::default() };
            let seen = observation::observe(&server.workspace()?, &sources)?;
            (seen.diagnosis.to_record(), seen.signals)
        }
    };
    Ok(json!({"problem": problem, "signals": signals, "signal_key": signal_key(&signals)}))
}

fn explained(workspace: &Workspace, run: Option<&str>) -> Result<Value> {
    let record = record::read(workspace, run)?;
    let replayed = record.selection.replay();
    Ok(json!({
        "ok": replayed == record.selection, "run_id": record.run_id, "at": record.at, "strategy": record.strategy,
        "mutation": record.mutation, "selection": record.selection.to_value(),
    }))
}

/// This node, without asking anybody.
fn node(server: &ServerContext) -> Result<Value> {
    let node = server.node()?;
    let known = node.known()?;
    Ok(json!({
        "node_id": node.id(), "hub": node.hub_url(), "hub_node_id": known.hub_node_id,
        "registered": known.secret.is_some(), "secret_version": known.secret_version,
    }))
}
