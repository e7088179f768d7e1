//! The records of cycles: the event log, and entries of the narrative that the log lacks.

use super::{RecallLocation, RecallPiece, RecallSearch, newest, quoted, shortened, snippet, text_of};
use crate::run::narrative;
use crate::store::events::object;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Result, Value};
use capsid_rules::meaning::SearchableText;
use std::collections::{HashMap, HashSet};

/// The most events that are looked through.
const MAX_EVENTS: usize = 20_000;
/// How much of its signals an event shows that has no summary.
const SHOWN_SIGNALS: usize = 120;

/// Searches the records of cycles: the event log, and entries of the narrative that the log lacks.
pub fn scan_events(workspace: &Workspace, search: &mut RecallSearch) -> Result<()> {
    let capsules = workspace.store.capsules.documents()?;
    let summaries: HashMap<&str, &str> =
        capsules.iter().map(|capsule| (text_of(capsule, "id"), text_of(capsule, "summary"))).collect();
    let mut seen: HashSet<String> = HashSet::new();
    newest(workspace.store.events.path(), MAX_EVENTS, |line| {
        let Some(document) = object(line) else { return };
        let Some(event) = EvolutionEvent::read(&document) else { return };
        let summary = event.capsule_id.as_deref().and_then(|id| summaries.get(id).copied());
        scan_event(search, &event, &document, summary.unwrap_or_default());
        seen.insert(event.id);
    })?;
    scan_narrative(workspace, search, &seen)
}

fn scan_event(search: &mut RecallSearch, event: &EvolutionEvent, document: &Object, summary: &str) {
    let meta = document.get("meta");
    let part = |name: &str| meta.and_then(|meta| meta.get(name));
    let reason = part("failure_reason").and_then(Value::as_str).unwrap_or_default();
    let own = text_of(document, "summary");
    let title = [summary, own, reason].into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let effect =
        part("mutation").and_then(|mutation| mutation.get("expected_effect")).and_then(Value::as_str);
    let mut body = vec![event.intent.as_str(), reason, effect.unwrap_or_default()];
    body.extend(event.genes_used.iter().map(String::as_str));
    let files = part("git").and_then(|git| git.get("files")).and_then(Value::as_array);
    body.extend(files.into_iter().flatten().filter_map(Value::as_str));
    let signals: Vec<&str> = event.signals.iter().map(String::as_str).collect();
    let text = SearchableText { signals: &signals, title, body: &body.join("\n") };
    // A solution that was used often is represented by its newest uses.
    search.scan_text(&text, event.capsule_id.as_deref(), || {
        let content = match [summary, own].into_iter().find(|text| !text.is_empty()) {
            Some(summary) => summary.to_owned(),
            None => {
                let signals = shortened(&event.signals.join(", "), SHOWN_SIGNALS);
                if reason.is_empty() { signals } else { format!("{signals} → {reason}") }
            }
        };
        let status = match &event.failure_class {
            Some(class) => format!("{} ({class})", event.outcome.status),
            None => event.outcome.status.clone(),
        };
        RecallPiece {
            location: RecallLocation::Event,
            id: event.id.clone(),
            at: event.at.map(|at| at.iso()),
            ended: Some(snippet(&status)),
            text: snippet(&format!("{content} ({} by {})", event.intent, event.genes_used.join(", "))),
            show: format!("capsid events show {}", quoted(&event.id)),
        }
    });
}

/// The narrative describes the same cycles; an entry counts only if its event is not in the log.
fn scan_narrative(workspace: &Workspace, search: &mut RecallSearch, events: &HashSet<String>) -> Result<()> {
    let narrative = files::read_optional(&workspace.paths.narrative())?.unwrap_or_default();
    for entry in narrative::entries(&narrative) {
        let (head, rest) = entry.split_once('\n').unwrap_or((entry, ""));
        let event = rest.split_once("Event: ").and_then(|(_, rest)| rest.split_whitespace().next());
        if event.is_some_and(|event| events.contains(event)) {
            continue;
        }
        let at = head.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(at, _)| at.to_owned());
        search.scan_text(
            &SearchableText { title: head, body: rest, ..SearchableText::default() },
            None,
            || RecallPiece {
                location: RecallLocation::Narrative,
                id: snippet(event.unwrap_or(head.trim_start_matches("# "))),
                ended: head.rsplit_once(" - ").map(|(_, ended)| snippet(ended)),
                at,
                text: snippet(entry),
                show: format!("less {}", quoted(&workspace.paths.narrative().display().to_string())),
            },
        );
    }
    Ok(())
}
