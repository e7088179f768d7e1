//! The uses of capsules in the event log.

use crate::exchange::origin::source;
use crate::store::events::{EventLog, object};
use crate::store::lines::ReverseLines;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Result, Time};
use regex::bytes::Regex;
use std::collections::HashMap;

/// The uses of one capsule in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CapsuleUses {
    /// The newest event about it.
    pub event_id: String,
    pub at: Option<Time>,
    /// Whether that went well, under a validation that ran.
    pub proves: bool,
    /// Successes in a row up to it, of those that the capsule claims.
    pub streak: u64,
    /// Whether older events cannot change anything.
    is_complete: bool,
}

impl CapsuleUses {
    fn newest(event: &EvolutionEvent, validated: bool) -> Self {
        let proves = event.outcome.is_success() && validated;
        Self { event_id: event.id.clone(), at: event.at, proves, streak: 0, is_complete: false }
    }

    /// Counts an event that grows the streak or ends it.
    fn count(&mut self, grows: bool, claimed: u64) {
        if !self.is_complete {
            self.streak += u64::from(grows);
            self.is_complete = !grows || self.streak >= claimed;
        }
    }
}

/// The uses of each capsule, given with the streak that it claims, read from the end of the log until all are complete.
/// Events of others say nothing about what happened here.
pub(super) fn uses(events: &EventLog, claims: &[(&str, u64)]) -> Result<HashMap<String, CapsuleUses>> {
    let mut by_id: HashMap<String, CapsuleUses> = HashMap::new();
    let mut open = claims.to_vec();
    // Most lines concern none of them, which one pass over their bytes shows.
    let any = claims.iter().map(|(id, _)| regex::escape(id)).collect::<Vec<_>>().join("|");
    let Ok(any) = Regex::new(&any) else { return Ok(by_id) };
    let mut reader = ReverseLines::open(events.path())?;
    while !open.is_empty()
        && let Some(line) = reader.next_line()?
    {
        if !any.is_match(&line) {
            continue;
        }
        let Some(document) = object(&line).filter(|document| source(document).is_none()) else { continue };
        let Some(event) = EvolutionEvent::read(&document) else { continue };
        let validated = events.was_validated(&document)?;
        open.retain(|(id, claimed)| {
            let step = event.streak_step(id);
            if step.is_none() && !event.concerns_capsule(id) {
                return true;
            }
            let uses =
                by_id.entry((*id).to_owned()).or_insert_with(|| CapsuleUses::newest(&event, validated));
            if let Some(grows) = step {
                uses.count(grows, *claimed);
            }
            !uses.is_complete
        });
    }
    Ok(by_id)
}
