//! What the event log says of capsules.

use crate::store::events::{EventLog, object};
use crate::store::lines::Backwards;
use capsid_model::event::Event;
use capsid_model::{Object, Result, Time, Value};
use regex::bytes::Regex;
use std::collections::HashMap;

/// The newest event that says something about a capsule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LastUse {
    pub event_id: String,
    pub at: Option<Time>,
    /// Whether it went well, under a validation that ran.
    pub proves: bool,
}

/// The newest use of each capsule, read from the end of the log until all are found.
pub(super) fn last_uses(events: &EventLog, ids: &[&str]) -> Result<HashMap<String, LastUse>> {
    let mut found = HashMap::new();
    // Most lines concern none of them, and one pass over their bytes tells so.
    let any = ids.iter().map(|id| regex::escape(id)).collect::<Vec<_>>().join("|");
    let Ok(any) = Regex::new(&any) else { return Ok(found) };
    let mut reader = Backwards::open(events.path())?;
    while found.len() < ids.len()
        && let Some(line) = reader.next_line()?
    {
        if !any.is_match(&line) {
            continue;
        }
        let Some(document) = object(&line) else { continue };
        let Some(event) = Event::read(&document) else { continue };
        for id in ids.iter().filter(|id| event.concerns_capsule(id)) {
            found.entry((*id).to_owned()).or_insert_with(|| LastUse {
                event_id: event.id.clone(),
                at: event.at,
                proves: event.outcome.is_success() && was_validated(&event, &document),
            });
        }
    }
    Ok(found)
}

/// Whether a validation ran and passed. Records of other engines say so by naming a report only.
fn was_validated(event: &Event, document: &Object) -> bool {
    let said = |name: &str| document.get("meta").and_then(|meta| meta.get(name)).and_then(Value::as_bool);
    event.validation_report_id.is_some()
        && said("validation_vacuous") != Some(true)
        && said("validation_ok") != Some(false)
}
