//! The heads of the event log: the events that no later one follows. There is one, until git merges the logs of two
//! clones; the next event then follows the newest and names the others.

use super::events::{EventLog, is_foreign, object};
use super::lines;
use capsid_model::Result;
use capsid_model::event::EvolutionEvent;
use std::collections::HashSet;

/// How many of the newest records are searched for heads, so that the time does not depend on the length of the log.
const SEARCHED: usize = 2_000;

/// The most heads that one event joins.
pub const MAX_JOINED: usize = 16;

/// The event that comes after the present ones follows these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextParents {
    /// The newest head, or the last record of a log with one head.
    pub parent: Option<String>,
    /// The other heads, newest first.
    pub others: Vec<String>,
}

impl EventLog {
    /// The heads, newest first. Events of other nodes are no part of this log's tree.
    pub fn heads(&self) -> Result<Vec<EvolutionEvent>> {
        let mut reader = lines::ReverseLines::open(self.path())?;
        let mut followed: HashSet<String> = HashSet::new();
        let mut heads = Vec::new();
        for _ in 0..SEARCHED {
            let Some(line) = reader.next_line()? else { break };
            let Some(record) = object(&line) else { continue };
            let Some(event) = EvolutionEvent::read(&record).filter(|_| !is_foreign(&record)) else {
                continue;
            };
            followed.extend(event.parent.iter().chain(&event.merge_parents).cloned());
            if !event.id.is_empty() && followed.insert(event.id.clone()) {
                heads.push(event);
            }
        }
        // Lines of another clone may stand before or after ours. The time is the same in every clone.
        heads.sort_by_key(|event| std::cmp::Reverse(event.at));
        Ok(heads)
    }

    /// What the next event follows.
    pub fn next_parents(&self) -> Result<NextParents> {
        let mut heads = self.heads()?.into_iter().map(|event| event.id);
        let (newest, others) = (heads.next(), heads.collect::<Vec<_>>());
        if others.is_empty() {
            return Ok(NextParents { parent: self.last_id()?, others });
        }
        Ok(NextParents { parent: newest, others: others.into_iter().take(MAX_JOINED).collect() })
    }
}

#[cfg(test)]
#[path = "heads_tests.rs"]
mod tests;
