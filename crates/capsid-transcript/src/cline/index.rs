//! Which messages a task has: their order, and which of them only complete an earlier one.

use super::array::items;
use crate::jsonl::{BytePosition, IgnoredValue, LooseValue, PeekLine};
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

/// How much of an item that is no message is held.
const BROKEN_BYTES: usize = 64 << 10;

/// Whether a kind of message is no action by itself.
pub(super) fn is_silent(kind: &str) -> bool {
    SILENT.contains(&kind)
}

/// The messages of a task in the order of their times.
pub(super) struct ClineIndex {
    pub(super) entries: Vec<ClineEntry>,
    /// Items that are no messages.
    pub(super) broken: Vec<BrokenItem>,
    /// Whether the agent reported completion as the last thing.
    pub(super) finished: bool,
    pub(super) last_action: Option<usize>,
    /// An entry and one that completes it.
    parts: Vec<(usize, usize)>,
    /// For each entry, whether it completes another one.
    completing: Vec<bool>,
}

/// An item that is no message.
pub(super) struct BrokenItem {
    pub(super) position: BytePosition,
    pub(super) start: Vec<u8>,
}

/// Where a message is.
pub(super) struct ClineEntry {
    pub(super) position: BytePosition,
    /// Its time as it was written.
    pub(super) stamp: String,
    time: f64,
    kind: ClinePart,
}

/// What a message has to do with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClinePart {
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
struct ClineHead {
    ts: serde_json::Value,
    say: LooseValue<IgnoredValue>,
    ask: LooseValue<IgnoredValue>,
}

impl PeekLine for ClineHead {}

impl ClineIndex {
    /// Looks through the file of messages once.
    pub(super) fn build(path: &Path) -> Result<Self> {
        let mut entries = Vec::new();
        let mut broken = Vec::new();
        items(path, &mut |position, bytes| match ClineHead::peek(bytes) {
            Some(head) => entries.push(head.entry(position)),
            None => {
                let start = bytes[..bytes.len().min(BROKEN_BYTES)].to_vec();
                broken.push(BrokenItem { position, start });
            }
        })?;
        entries.sort_by(|a, b| a.time.partial_cmp(&b.time).unwrap_or(Ordering::Equal));
        let mut index = Self {
            entries,
            broken,
            finished: false,
            last_action: None,
            parts: Vec::new(),
            completing: Vec::new(),
        };
        index.relate();
        Ok(index)
    }

    fn relate(&mut self) {
        let (mut command, mut browser) = (None, None);
        for (at, entry) in self.entries.iter().enumerate() {
            match entry.kind {
                ClinePart::Command => command = Some(at),
                ClinePart::Browser => browser = Some(at),
                ClinePart::CommandOutput => self.parts.extend(command.map(|command| (command, at))),
                // Each action has one result; a further one belongs to none.
                ClinePart::BrowserResult => self.parts.extend(browser.take().map(|browser| (browser, at))),
                ClinePart::Silent | ClinePart::Completion | ClinePart::Other => {}
            }
            match entry.kind {
                ClinePart::Silent | ClinePart::CommandOutput | ClinePart::BrowserResult => {}
                kind => {
                    self.last_action = Some(at);
                    self.finished = kind == ClinePart::Completion;
                }
            }
        }
        self.parts.sort_unstable();
        self.completing = vec![false; self.entries.len()];
        for (_, part) in &self.parts {
            self.completing[*part] = true;
        }
    }

    /// Whether a message completes an earlier one.
    pub(super) fn is_part(&self, entry: usize) -> bool {
        self.completing.get(entry).copied().unwrap_or_default()
    }

    /// The places of the messages that complete an entry, in their order.
    pub(super) fn parts_of(&self, entry: usize) -> impl Iterator<Item = BytePosition> {
        let from = self.parts.partition_point(|(id, _)| *id < entry);
        let parts = self.parts[from..].iter().take_while(move |(id, _)| *id == entry);
        parts.map(|(_, part)| self.entries[*part].position)
    }
}

impl ClineHead {
    fn entry(&self, position: BytePosition) -> ClineEntry {
        let stamp = match &self.ts {
            serde_json::Value::Null => "0".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let time = stamp.parse().ok().filter(|time: &f64| time.is_finite()).unwrap_or_default();
        let kind = if self.say.is_there() { self.say.text() } else { self.ask.text() };
        let kind = match kind {
            "command" => ClinePart::Command,
            "command_output" => ClinePart::CommandOutput,
            "browser_action" => ClinePart::Browser,
            "browser_action_result" => ClinePart::BrowserResult,
            "completion_result" => ClinePart::Completion,
            kind if is_silent(kind) => ClinePart::Silent,
            _ => ClinePart::Other,
        };
        ClineEntry { position, stamp, time, kind }
    }
}
