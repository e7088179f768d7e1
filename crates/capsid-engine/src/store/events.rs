//! `events.jsonl`: the append-only log of reports and events, one JSON object a line.

use super::lines;
use super::reuse_ledger::{FailureTimes, ReuseLedger};
use crate::files::phase;
use capsid_disk::files;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Result, Value, canonical};
use memchr::memmem::Finder;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The log of one store.
#[derive(Debug, Clone)]
pub struct EventLog {
    path: PathBuf,
}

impl EventLog {
    /// The log at a path; it need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the last record whatever its type, in time that does not depend on the length of the log.
    pub fn last_id(&self) -> Result<Option<String>> {
        let mut reader = lines::ReverseLines::open(&self.path)?;
        while let Some(line) = reader.next_line()? {
            // A line that is no record is a torn end or a stranger; the tree goes on from the record before it.
            if let Some(record) = object(&line) {
                return Ok(record.get("id").and_then(Value::as_str).map(str::to_owned));
            }
        }
        Ok(None)
    }

    /// The newest `count` EvolutionEvents, oldest first. Lines that are no events or no JSON are passed over.
    pub fn recent(&self, count: usize) -> Result<Vec<EvolutionEvent>> {
        let mut events =
            self.recent_documents(count)?.iter().filter_map(EvolutionEvent::read).collect::<Vec<_>>();
        events.truncate(count);
        Ok(events)
    }

    /// The documents of the newest `count` EvolutionEvents, oldest first.
    pub fn recent_documents(&self, count: usize) -> Result<Vec<Object>> {
        let mut reader = lines::ReverseLines::open(&self.path)?;
        let mut events = Vec::new();
        while events.len() < count {
            let Some(line) = reader.next_line()? else {
                break;
            };
            events.extend(object(&line).filter(is_event));
        }
        events.reverse();
        Ok(events)
    }

    /// Walks over all EvolutionEvents, oldest first, one at a time.
    pub fn each(&self, mut visit: impl FnMut(EvolutionEvent, Object) -> ControlFlow<()>) -> Result<()> {
        lines::scan(&self.path, |line| match object(line) {
            Some(document) => match EvolutionEvent::read(&document) {
                Some(event) => visit(event, document),
                None => ControlFlow::Continue(()),
            },
            None => ControlFlow::Continue(()),
        })
    }

    /// The record with an id, newest first; reports included.
    pub fn find(&self, id: &str) -> Result<Option<Object>> {
        let quoted = serde_json::to_string(id).unwrap_or_default();
        let needle = memchr::memmem::Finder::new(quoted.as_bytes()).into_owned();
        let mut reader = lines::ReverseLines::open(&self.path)?;
        while let Some(line) = reader.next_line()? {
            if needle.find(&line).is_some()
                && let Some(record) = object(&line)
                && record.get("id").and_then(Value::as_str) == Some(id)
            {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Whether a command proved the success that an event records. It names its report; our own events also say
    /// whether anything ran, for those of other engines the report has to be in the log and say so.
    pub fn was_validated(&self, event: &Object) -> Result<bool> {
        let meta = |name: &str| event.get("meta").and_then(|meta| meta.get(name)).and_then(Value::as_bool);
        let Some(id) = event.get("validation_report_id").and_then(Value::as_str) else { return Ok(false) };
        if meta("validation_ok") == Some(false) {
            return Ok(false);
        }
        if let Some(vacuous) = meta("validation_vacuous") {
            return Ok(!vacuous);
        }
        let Some(report) = self.find(id)? else { return Ok(false) };
        let has_commands =
            report.get("commands").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        Ok(has_commands && report.get("overall_ok").and_then(Value::as_bool) == Some(true))
    }

    /// The reports of other nodes that stand beside this log.
    pub fn reuse_ledger(&self) -> ReuseLedger {
        ReuseLedger::beside(&self.path)
    }

    /// Successes in a row of a capsule, counted back from the end until the first failure, with those of other nodes.
    pub fn success_streak(&self, capsule_id: &str) -> Result<u64> {
        let mut reader = lines::ReverseLines::open(&self.path)?;
        let mut streak = 0;
        let mut failures = FailureTimes::default();
        let needle = memchr::memmem::Finder::new(capsule_id.as_bytes()).into_owned();
        while let Some(line) = reader.next_line()? {
            if needle.find(&line).is_none() {
                continue;
            }
            let event = object(&line).as_ref().and_then(EvolutionEvent::read);
            let Some(event) = event else { continue };
            match event.streak_step(capsule_id) {
                Some(true) => streak += 1,
                Some(false) => {
                    failures.add_failure(capsule_id, event.at);
                    break;
                }
                None => {}
            }
        }
        let reuses = self.reuse_ledger().count_reuses(&failures)?;
        Ok(streak + reuses.get(capsule_id).copied().unwrap_or_default())
    }

    /// Successes in a row of each of these capsules that an event of this store concerns, in one pass, with those of
    /// other nodes.
    pub fn capsule_streaks(&self, ids: &HashSet<String>) -> Result<HashMap<String, u64>> {
        // Most events concern other capsules, which the bytes of a few ids show without parsing the line.
        const SEARCHED_IDS: usize = 16;
        let finders: Vec<_> =
            ids.iter().take(SEARCHED_IDS + 1).map(|id| Finder::new(id.as_bytes())).collect();
        let may_concern = |line: &[u8]| {
            finders.len() > SEARCHED_IDS || finders.iter().any(|finder| finder.find(line).is_some())
        };
        let mut streaks: HashMap<String, u64> = HashMap::new();
        let mut failures = FailureTimes::default();
        if ids.is_empty() {
            return Ok(streaks);
        }
        lines::scan(&self.path, |line| {
            let record =
                may_concern(line).then(|| object(line)).flatten().filter(|record| !is_foreign(record));
            let Some(event) = record.as_ref().and_then(EvolutionEvent::read) else {
                return ControlFlow::Continue(());
            };
            failures.add_event(&event);
            let named: BTreeSet<&String> = event
                .capsule_id
                .iter()
                .chain(&event.reused_capsule_id)
                .chain(&event.failed_capsules)
                .collect();
            for id in named.into_iter().filter(|id| ids.contains(*id)) {
                let Some(grows) = event.streak_step(id) else { continue };
                let streak = streaks.entry(id.clone()).or_default();
                *streak = if grows { *streak + 1 } else { 0 };
            }
            ControlFlow::Continue(())
        })?;
        for (id, reuses) in self.reuse_ledger().count_reuses(&failures)? {
            if let Some(streak) = streaks.get_mut(&id) {
                *streak += reuses;
            }
        }
        Ok(streaks)
    }

    /// Appends records in one write; durable when it returns.
    pub fn append(&self, records: &[Object]) -> Result<()> {
        phase::enter("events");
        let mut text = String::new();
        for record in records {
            text.push_str(&serde_json::to_string(record).unwrap_or_default());
            text.push('\n');
        }
        files::append(&self.path, &text)
    }
}

/// The object on a line, read as tolerantly as existing stores need.
pub(crate) fn object(line: &[u8]) -> Option<Object> {
    if let Ok(record) = serde_json::from_slice(line) {
        return Some(record);
    }
    match canonical::read(std::str::from_utf8(line).ok()?) {
        Ok(Value::Object(record)) => Some(record),
        _ => None,
    }
}

/// Whether a record came from another node.
pub(super) fn is_foreign(record: &Object) -> bool {
    record.get("a2a").and_then(|a2a| a2a.get("source")).is_some_and(Value::is_string)
}

fn is_event(record: &Object) -> bool {
    record.get("type").and_then(Value::as_str) == Some("EvolutionEvent")
}
