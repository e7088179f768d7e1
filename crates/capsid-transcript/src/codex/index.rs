//! The first reading: where outputs are, and where the last turn begins.

use crate::jsonl::{
    BytePosition, IgnoredValue, KeyNumbers, KeyTable, LineReader, LooseValue, PeekLine, short,
};
use capsid_model::Result;
use serde::Deserialize;

/// What the first reading found.
#[derive(Debug, Default)]
pub(super) struct CodexIndex {
    outputs: KeyTable<BytePosition>,
    calls: KeyNumbers,
    /// Calls that were put to a person.
    asked: KeyNumbers,
    /// For each line, whether it is the output of a known call.
    output_only: Vec<bool>,
    /// From where on an output may still come.
    last_turn: u64,
    /// An output came; what the model answers next is a new turn.
    answered: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexLine {
    #[serde(rename = "type")]
    kind: LooseValue<IgnoredValue>,
    call_id: LooseValue<IgnoredValue>,
    role: LooseValue<IgnoredValue>,
    payload: LooseValue<CodexItem>,
}

impl PeekLine for CodexLine {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexItem {
    #[serde(rename = "type")]
    kind: LooseValue<IgnoredValue>,
    call_id: LooseValue<IgnoredValue>,
    role: LooseValue<IgnoredValue>,
}

impl CodexIndex {
    pub(super) fn build(mut lines: LineReader) -> Result<Self> {
        let mut index = Self::default();
        while let Some(line) = lines.next()? {
            let Some(seen) = CodexLine::peek(line.bytes) else { continue };
            let (kind, call, role) = match seen.payload.one() {
                // A line of another type is stored as it is; nothing in it counts.
                Some(_) if !matches!(seen.kind.text(), "response_item" | "event_msg") => continue,
                Some(item) => (item.kind.text(), item.call_id.text(), item.role.text()),
                None => (seen.kind.text(), seen.call_id.text(), seen.role.text()),
            };
            if index.record(kind, call, role, line.position) {
                let number = usize::try_from(line.number).unwrap_or(usize::MAX);
                index.output_only.resize(number, false);
                index.output_only.push(true);
            }
        }
        Ok(index)
    }

    /// Takes a line in; true if it is the output of a known call.
    fn record(&mut self, kind: &str, call: &str, role: &str, position: BytePosition) -> bool {
        match kind {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                if std::mem::take(&mut self.answered) {
                    self.last_turn = position.offset;
                }
                self.calls.insert(short(call));
            }
            _ if super::output::is_output(kind) => {
                self.answered = true;
                // A second output of a call is a record of its own.
                let first = *self.outputs.entry(short(call)).or_insert(position);
                return first == position && self.calls.contains(&short(call));
            }
            "exec_approval_request" | "apply_patch_approval_request" => {
                self.asked.insert(short(call));
            }
            "reasoning" if self.answered => {
                self.answered = false;
                self.last_turn = position.offset;
            }
            "agent_message" | "user_message" | "task_complete" | "turn_complete" | "turn_aborted" => {
                self.last_turn = position.offset;
            }
            "message" if matches!(role, "assistant" | "user") => self.last_turn = position.offset,
            _ => {}
        }
        false
    }

    pub(super) fn is_output_only(&self, line: u64) -> bool {
        usize::try_from(line).ok().and_then(|line| self.output_only.get(line)).copied().unwrap_or_default()
    }

    /// Whether a line is the output of a call that is in the file.
    pub(super) fn is_output_of(&self, call: &str, line: BytePosition) -> bool {
        self.is_called(call) && self.output_of(call) == Some(line)
    }

    pub(super) fn is_called(&self, call: &str) -> bool {
        self.calls.contains(&short(call))
    }

    /// Whether a person was asked about a call.
    pub(super) fn is_asked(&self, call: &str) -> bool {
        self.asked.contains(&short(call))
    }

    pub(super) fn output_of(&self, call: &str) -> Option<BytePosition> {
        self.outputs.get(&short(call)).copied()
    }

    pub(super) fn is_last_turn(&self, line: BytePosition) -> bool {
        line.offset >= self.last_turn
    }
}
