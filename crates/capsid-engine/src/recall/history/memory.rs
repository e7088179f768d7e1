//! The memory graph: which gene was tried on which signals, and what was reported about it.

use super::{RecallLocation, RecallPiece, RecallSearch, newest, quoted, snippet, text_of};
use crate::store::events::object;
use crate::workspace::Workspace;
use capsid_model::{Object, Result, Value};
use capsid_rules::meaning::SearchableText;
use capsid_rules::memory::graph::{GraphStats, MemoryEdge};

/// Looks through the memory graph. A cycle folds it together long before it is too large to be read whole; of one that
/// came from elsewhere the oldest part may be left out.
pub fn scan_memory(workspace: &Workspace, search: &mut RecallSearch) -> Result<()> {
    let path = workspace.paths.memory_graph();
    let mut statistics = GraphStats::default();
    newest(&path, usize::MAX, |line| {
        if let Some(record) = object(line) {
            scan_words(search, &record, &path.display().to_string());
            statistics.add(&record);
        }
    })?;
    for ((_, gene), edge) in &statistics.edges {
        scan_edge(search, gene, edge);
    }
    Ok(())
}

/// A reported outcome in words.
fn scan_words(search: &mut RecallSearch, record: &Object, path: &str) {
    let outcome = record.get("outcome");
    let Some(summary) = outcome.and_then(|outcome| outcome.get("summary")).and_then(Value::as_str) else {
        return;
    };
    let listed = record.get("signal").and_then(|signal| signal.get("signals")).and_then(Value::as_array);
    let signals: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    search.scan_text(&SearchableText { signals: &signals, title: summary, body: "" }, None, || RecallPiece {
        location: RecallLocation::Memory,
        id: snippet(text_of(record, "id")),
        at: Some(snippet(text_of(record, "ts"))).filter(|at| !at.is_empty()),
        ended: outcome.and_then(|outcome| outcome.get("status")).and_then(Value::as_str).map(snippet),
        text: snippet(summary),
        show: format!("grep {} {}", quoted(text_of(record, "id")), quoted(path)),
    });
}

fn scan_edge(search: &mut RecallSearch, gene: &str, edge: &MemoryEdge) {
    let signals: Vec<&str> = edge.signals.iter().map(String::as_str).collect();
    search.scan_text(&SearchableText { signals: &signals, title: gene, body: "" }, None, || {
        let tally = edge.tally;
        let ended = match (tally.success, tally.fail) {
            (_, 0) => "success",
            (0, _) => "failed",
            _ => "mixed",
        };
        let (went_well, all) = (tally.success, tally.attempts());
        RecallPiece {
            location: RecallLocation::Memory,
            id: snippet(gene),
            at: tally.last.map(|at| at.iso()),
            ended: Some(ended.to_owned()),
            text: snippet(&format!("{gene} on {}: {went_well} of {all} went well", signals.join(", "))),
            show: format!("capsid events --gene {}", quoted(gene)),
        }
    });
}
