//! The reasons for a cycle's choice: the reasons are in the event, the scores in the record of its run if it is stored.

use super::{clean, text, texts};
use crate::cycle::record;
use crate::rules::select::Selection;
use crate::workspace::Workspace;
use capsid_model::{Object, Value};
use serde::Serialize;

/// The most candidates of one selection.
const MAX: usize = 12;

/// The reasons behind a selection.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SelectionReasons {
    /// The run, for `capsid explain`; empty when the event does not name it.
    pub run: String,
    /// What won: a gene or a capsule.
    pub selected: Option<String>,
    /// The reasons as they were recorded.
    pub reasons: Vec<String>,
    /// What was weighed, best first. Without the record of the run, the names of the alternatives alone.
    pub candidates: Vec<SelectionCandidate>,
    /// Whether the recorded inputs give the recorded choice; `None` if the record of the run is no longer stored.
    pub follows: Option<bool>,
}

/// A gene or a capsule that was weighed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SelectionCandidate {
    pub id: String,
    /// `gene` or `capsule`.
    pub kind: &'static str,
    /// Its score, if it was stored.
    pub score: Option<f64>,
    /// The parts of the score, in words.
    pub parts: Vec<String>,
    /// Whether it may not be chosen.
    pub banned: bool,
}

/// The reasons of an event; nothing when it names neither a selection nor a run that is still on record.
pub(super) fn read(workspace: &Workspace, event: &Object) -> Option<SelectionReasons> {
    let meta = |name: &str| event.get("meta").and_then(|meta| meta.get(name));
    let run = text(meta("run_id"));
    let selection = recorded(workspace, &run);
    let selector = meta("selector").filter(|selector| selector.is_object());
    if selector.is_none() && selection.is_none() {
        return None;
    }
    let reasons = SelectionReasons { run, ..selector.map(from_event).unwrap_or_default() };
    Some(match selection {
        Some(selection) => with_scores(reasons, &selection),
        None => reasons,
    })
}

/// The record of the run, unless its name belongs to another one.
fn recorded(workspace: &Workspace, run: &str) -> Option<Selection> {
    if run.is_empty() {
        return None;
    }
    let record = record::read(workspace, Some(run)).ok()?;
    (record.run_id == run).then_some(record.selection)
}

fn from_event(selector: &Value) -> SelectionReasons {
    let alternatives = texts(selector.get("alternatives")).into_iter().take(MAX);
    SelectionReasons {
        selected: selector.get("selected").and_then(Value::as_str).map(str::to_owned),
        reasons: texts(selector.get("reason")).iter().take(MAX).map(|reason| clean(reason)).collect(),
        candidates: alternatives
            .map(|id| SelectionCandidate { id, kind: "gene", ..SelectionCandidate::default() })
            .collect(),
        ..SelectionReasons::default()
    }
}

fn with_scores(base: SelectionReasons, selection: &Selection) -> SelectionReasons {
    let capsule = selection.capsule.iter().map(|capsule| SelectionCandidate {
        id: capsule.id.clone(),
        kind: "capsule",
        score: Some(capsule.score),
        parts: vec![
            format!("{} of {} triggers", capsule.matched, capsule.considered),
            format!("confidence {:.2}", capsule.confidence),
            format!("streak {}", capsule.streak),
        ],
        banned: false,
    });
    let genes = selection.scores.iter().take(MAX).map(|scored| SelectionCandidate {
        id: scored.gene.clone(),
        kind: "gene",
        score: Some(scored.score),
        parts: vec![
            format!("{} pattern{}", scored.hits, if scored.hits == 1 { "" } else { "s" }),
            format!("memory {:+.2}", scored.memory),
            format!("environment {:+.2}", scored.epigenetic),
        ],
        banned: scored.banned,
    });
    let mut candidates: Vec<SelectionCandidate> = capsule.chain(genes).collect();
    candidates.sort_by(|a, b| b.score.unwrap_or_default().total_cmp(&a.score.unwrap_or_default()));
    let reasons = selection.reason.iter().take(MAX).map(|reason| clean(reason));
    SelectionReasons {
        selected: base.selected.or_else(|| selection.selected.clone()),
        reasons: if base.reasons.is_empty() { reasons.collect() } else { base.reasons },
        candidates,
        follows: Some(selection.replay() == *selection),
        ..base
    }
}
