//! The history of a repository as the page of `capsid events --web` shows it: what happened, how it ended and why it was
//! chosen, in one answer of bounded size. Texts are redacted, because a page is easily shown to others.

mod cycle;
mod seals;
mod why;

pub use cycle::{CycleChecks, CycleFailure, CyclePlan, EvolutionCycle};
pub use seals::{LineSeal, LogSeal, LogState};
pub use why::{SelectionCandidate, SelectionReasons};

use crate::store::events::object;
use crate::store::lines;
use crate::view::stats::{EventStats, OutcomeTally};
use crate::workspace::Workspace;
use capsid_model::capsule::Capsule;
use capsid_model::event::EvolutionEvent;
use capsid_model::gene::Gene;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::cut;
use capsid_model::{Object, Result, Value};
use serde::Serialize;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The most events that an answer holds.
pub const MAX_EVENTS: usize = 5000;

/// The most genes, and the most capsules.
const MAX_ASSETS: usize = 1000;

/// The most of one text, in UTF-16 units.
const MAX_LEN: usize = 400;

/// The history of one repository.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evolution {
    /// The name of its folder.
    pub repository: String,
    /// Whether `capsid init` was run here.
    pub has_store: bool,
    /// All cycles of the log, also those that `events` leaves out.
    pub totals: EvolutionTotals,
    /// The newest events, oldest first.
    pub events: Vec<EvolutionCycle>,
    /// The genes of the store, and those that only the log still knows.
    pub genes: Vec<GeneRecord>,
    pub capsules: Vec<CapsuleRecord>,
    /// How many capsules the store has.
    pub capsules_total: u64,
    /// Lines of the log that could not be read.
    pub unreadable: u64,
    /// Whether the log is what was sealed.
    pub seal: LogSeal,
}

/// Counts over the complete log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvolutionTotals {
    pub cycles: u64,
    pub successes: u64,
    /// Successes in a row up to now.
    pub streak: u64,
}

/// How a gene did here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GeneRecord {
    pub id: String,
    /// What it is for; empty when the store does not hold it.
    pub category: String,
    pub summary: String,
    /// Cycles it took part in.
    pub runs: u64,
    pub successes: u64,
    /// Successes in a row up to now.
    pub streak: u64,
    pub mean_files: f64,
    pub mean_lines: f64,
}

/// A capsule and how it did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapsuleRecord {
    pub id: String,
    /// The gene it came from.
    pub gene: String,
    pub summary: String,
    /// Successes in a row, by the log.
    pub streak: u64,
    /// From 0 to 1.
    pub confidence: f64,
}

/// Reads the history, with at most `limit` events. The log is read once, whatever its length; nothing is written.
pub fn read(workspace: &Workspace, limit: usize) -> Result<Evolution> {
    let log = EvolutionLog::read(workspace, limit)?;
    let seals = seals::LogSeals::load(workspace);
    let events = log.newest.iter().map(|line| {
        let sealed = seals.seal_of_line(line.number);
        EvolutionCycle::read(&line.event, &line.document, sealed, why::read(workspace, &line.document))
    });
    let capsules = workspace.store.capsules.documents()?;
    Ok(Evolution {
        repository: clean(&workspace.repository.root.file_name().unwrap_or_default().to_string_lossy()),
        has_store: workspace.store.exists(),
        totals: EvolutionTotals {
            cycles: log.stats.all.cycles,
            successes: log.stats.all.successes,
            streak: log.stats.all.streak,
        },
        events: events.collect(),
        genes: genes(&workspace.store.genes.documents()?, &log.stats),
        capsules_total: capsules.len() as u64,
        capsules: capsules.iter().rev().take(MAX_ASSETS).map(|c| capsule(c, &log.stats)).collect(),
        unreadable: log.unreadable,
        seal: seals.seal_of_log(),
    })
}

/// An event with its position in the file.
struct LogLine {
    number: u64,
    event: EvolutionEvent,
    document: Object,
}

/// What one walk over the log finds.
#[derive(Default)]
struct EvolutionLog {
    stats: EventStats,
    newest: VecDeque<LogLine>,
    unreadable: u64,
}

impl EvolutionLog {
    fn read(workspace: &Workspace, limit: usize) -> Result<Self> {
        let mut log = Self::default();
        lines::scan_numbered(workspace.store.events.path(), |number, line| {
            match line.and_then(object) {
                Some(document) => log.add_event(number, document, limit),
                None => log.unreadable += 1,
            }
            ControlFlow::Continue(())
        })?;
        Ok(log)
    }

    /// Other records, such as reports, are no cycles.
    fn add_event(&mut self, number: u64, document: Object, limit: usize) {
        let Some(event) = EvolutionEvent::read(&document) else { return };
        self.stats.add_event(&event);
        self.newest.push_back(LogLine { number, event, document });
        if self.newest.len() > limit {
            self.newest.pop_front();
        }
    }
}

/// The most used genes come first; then those that were never used, in the order of the store.
fn genes(documents: &[Object], stats: &EventStats) -> Vec<GeneRecord> {
    let stored = documents.iter().map(Gene::read);
    let mut records: Vec<GeneRecord> = stored
        .map(|gene| {
            let tally = stats.genes.get(&gene.id).cloned().unwrap_or_default();
            gene_record(&gene, &tally)
        })
        .collect();
    for (id, tally) in &stats.genes {
        if !records.iter().any(|record| record.id == *id) {
            records.push(gene_record(&Gene { id: id.clone(), ..Gene::default() }, tally));
        }
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.runs));
    records.truncate(MAX_ASSETS);
    records
}

fn gene_record(gene: &Gene, tally: &OutcomeTally) -> GeneRecord {
    GeneRecord {
        id: gene.id.clone(),
        category: gene.category.clone(),
        summary: clean(&gene.summary),
        runs: tally.cycles,
        successes: tally.successes,
        streak: tally.streak,
        mean_files: tally.mean_files(),
        mean_lines: tally.mean_lines(),
    }
}

fn capsule(document: &Object, stats: &EventStats) -> CapsuleRecord {
    let capsule = Capsule::read(document);
    CapsuleRecord {
        streak: stats.capsule_streaks.get(&capsule.id).copied().unwrap_or_default(),
        summary: clean(&capsule.summary),
        confidence: capsule.confidence,
        id: capsule.id,
        gene: capsule.gene,
    }
}

/// A text as it may be shown: without secrets, and not too long. It is cut last, because half a secret is not known as one.
fn clean(text: &str) -> String {
    cut(&redact(text, RedactProfile::Secrets), MAX_LEN).to_owned()
}

/// A text of a document; what is no text is empty.
fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The texts of a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
