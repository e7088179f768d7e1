//! What the memory graph knows: which gene was tried on which signals, and what was told of it.

use super::{Piece, Place, Search, newest, quoted, shown, text_of};
use crate::memory::graph::{Edge, GraphStats};
use crate::store::events::object;
use crate::workspace::Workspace;
use capsid_model::{Object, Result, Value};
use capsid_rules::meaning::Text;

/// Looks through the memory graph. A cycle folds it together long before it is too large to be read whole; of one that
/// came from elsewhere the oldest part may be left out.
pub fn look_at_memory(workspace: &Workspace, search: &mut Search) -> Result<()> {
    let path = workspace.paths.memory_graph();
    let mut statistics = GraphStats::default();
    newest(&path, usize::MAX, |line| {
        if let Some(record) = object(line) {
            look_at_words(search, &record, &path.display().to_string());
            statistics.add(&record);
        }
    })?;
    for ((_, gene), edge) in &statistics.edges {
        look_at_edge(search, gene, edge);
    }
    Ok(())
}

/// What somebody told about an outcome in words.
fn look_at_words(search: &mut Search, record: &Object, path: &str) {
    let outcome = record.get("outcome");
    let Some(summary) = outcome.and_then(|outcome| outcome.get("summary")).and_then(Value::as_str) else {
        return;
    };
    let listed = record.get("signal").and_then(|signal| signal.get("signals")).and_then(Value::as_array);
    let signals: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    search.look(&Text { signals: &signals, title: summary, body: "" }, None, || Piece {
        place: Place::Memory,
        id: shown(text_of(record, "id")),
        at: Some(shown(text_of(record, "ts"))).filter(|at| !at.is_empty()),
        ended: outcome.and_then(|outcome| outcome.get("status")).and_then(Value::as_str).map(shown),
        text: shown(summary),
        show: format!("grep {} {}", quoted(text_of(record, "id")), quoted(path)),
    });
}

fn look_at_edge(search: &mut Search, gene: &str, edge: &Edge) {
    let signals: Vec<&str> = edge.signals.iter().map(String::as_str).collect();
    search.look(&Text { signals: &signals, title: gene, body: "" }, None, || {
        let tally = edge.tally;
        let ended = match (tally.success, tally.fail) {
            (_, 0) => "success",
            (0, _) => "failed",
            _ => "mixed",
        };
        let (went_well, all) = (tally.success, tally.attempts());
        Piece {
            place: Place::Memory,
            id: shown(gene),
            at: tally.last.map(|at| at.iso()),
            ended: Some(ended.to_owned()),
            text: shown(&format!("{gene} on {}: {went_well} of {all} went well", signals.join(", "))),
            show: format!("capsid events --gene {}", quoted(gene)),
        }
    });
}
