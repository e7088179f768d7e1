//! What the event log says of capsules.

use crate::store::events::{EventLog, object};
use crate::store::lines::Backwards;
use capsid_model::event::Event;
use capsid_model::{Result, Time};
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
            if !found.contains_key(*id) {
                let proves = event.outcome.is_success() && events.was_validated(&document)?;
                let last = LastUse { event_id: event.id.clone(), at: event.at, proves };
                found.insert((*id).to_owned(), last);
            }
        }
    }
    Ok(found)
}
