//! Which messages a task has: their order, and which of them only complete an earlier one.

use super::array::items;
use crate::jsonl::{Loose, Nothing, Peek, Place};
use capsid_model::Result;
use serde::Deserialize;
use std::cmp::Ordering;
use std::path::Path;

/// Messages that carry something to the next action, or nothing at all.
const SILENT: [&str; 16] = [
    "api_req_started",
    "api_req_finished",
    "api_req_retried",
    "api_req_deleted",
    "deleted_api_reqs",
    "reasoning",
    "checkpoint_created",
    "browser_action_launch",
    "browser_action_result",
    "command_output",
    "mcp_server_request_started",
    "load_mcp_documentation",
    "resume_task",
    "resume_completed_task",
    "shell_integration_warning",
    "shell_integration_warning_with_suggestion",
];

/// Whether a kind of message is no action by itself.
pub(super) fn is_silent(kind: &str) -> bool {
    SILENT.contains(&kind)
}

/// The messages of a task in the order of their times.
pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// Items that are no messages.
    pub(super) broken: u64,
    /// Whether the last that happened was that the agent said it is done.
    pub(super) finished: bool,
    /// The entry that is the last action.
    pub(super) last_action: Option<usize>,
    /// An entry and one that completes it.
    parts: Vec<(usize, usize)>,
}

/// Where a message is.
pub(super) struct Entry {
    pub(super) place: Place,
    /// Its time as it was written.
    pub(super) stamp: String,
    time: f64,
    kind: Part,
}

/// What a message has to do with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Command,
    CommandOutput,
    Browser,
    BrowserResult,
    Completion,
    Silent,
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    ts: serde_json::Value,
    say: Loose<Nothing>,
    ask: Loose<Nothing>,
}

impl Peek for Head {}

impl Index {
    /// Looks through the file of messages once.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let mut entries = Vec::new();
        let mut broken = 0;
        items(path, &mut |place, bytes| match Head::peek(bytes) {
            Some(head) => entries.push(head.entry(place)),
            None => broken += 1,
        })?;
        entries.sort_by(|a, b| a.time.partial_cmp(&b.time).unwrap_or(Ordering::Equal));
        let mut index = Self { entries, broken, finished: false, last_action: None, parts: Vec::new() };
        index.relate();
        Ok(index)
    }

    fn relate(&mut self) {
        let (mut command, mut browser) = (None, None);
        for (at, entry) in self.entries.iter().enumerate() {
            match entry.kind {
                Part::Command => command = Some(at),
                Part::Browser => browser = Some(at),
                Part::CommandOutput => self.parts.extend(command.map(|command| (command, at))),
                // Each action has one result; a further one belongs to none.
                Part::BrowserResult => self.parts.extend(browser.take().map(|browser| (browser, at))),
                Part::Silent | Part::Completion | Part::Other => {}
            }
            match entry.kind {
                Part::Silent | Part::CommandOutput | Part::BrowserResult => {}
                kind => {
                    self.last_action = Some(at);
                    self.finished = kind == Part::Completion;
                }
            }
        }
        self.parts.sort_unstable();
    }

    /// The places of the messages that complete an entry, in their order.
    pub(super) fn parts_of(&self, entry: usize) -> impl Iterator<Item = Place> {
        let from = self.parts.partition_point(|(whole, _)| *whole < entry);
        let parts = self.parts[from..].iter().take_while(move |(whole, _)| *whole == entry);
        parts.map(|(_, part)| self.entries[*part].place)
    }
}

impl Head {
    fn entry(&self, place: Place) -> Entry {
        let stamp = match &self.ts {
            serde_json::Value::Null => "0".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let time = stamp.parse().ok().filter(|time: &f64| time.is_finite()).unwrap_or_default();
        let kind = if self.say.is_there() { self.say.text() } else { self.ask.text() };
        let kind = match kind {
            "command" => Part::Command,
            "command_output" => Part::CommandOutput,
            "browser_action" => Part::Browser,
            "browser_action_result" => Part::BrowserResult,
            "completion_result" => Part::Completion,
            kind if is_silent(kind) => Part::Silent,
            _ => Part::Other,
        };
        Entry { place, stamp, time, kind }
    }
}
