//! The first reading: where things are, not what they hold.

use crate::jsonl::{
    BytePosition, IgnoredValue, KeyNumbers, KeyTable, LineReader, LooseValue, PeekLine, short,
};
use capsid_model::Result;
use serde::Deserialize;

/// The position of a result: its line, and its index among the line's blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResultPosition {
    pub(super) line: BytePosition,
    pub(super) block: u32,
    number: u64,
}

/// What is known of a message that may be spread over several lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessagePosition {
    /// The last line with a token count.
    pub(super) usage: BytePosition,
    /// Whether any of its lines becomes an action.
    pub(super) acts: bool,
}

/// Where the last turn of an agent begins.
#[derive(Debug, Clone, Copy, Default)]
struct TurnStart {
    message: u64,
    offset: u64,
}

/// What the first reading found.
#[derive(Debug, Default)]
pub(super) struct ClaudeIndex {
    results: KeyTable<ResultPosition>,
    calls: KeyNumbers,
    messages: KeyTable<MessagePosition>,
    turns: KeyTable<TurnStart>,
    /// For each line, whether it holds nothing but results of known calls.
    result_only: Vec<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeLine {
    #[serde(rename = "type")]
    kind: LooseValue<IgnoredValue>,
    is_sidechain: LooseValue<IgnoredValue>,
    is_meta: LooseValue<IgnoredValue>,
    agent_id: LooseValue<IgnoredValue>,
    permission_mode: LooseValue<IgnoredValue>,
    tool_use_result: LooseValue<IgnoredValue>,
    message: LooseValue<ClaudeMessage>,
}

impl PeekLine for ClaudeLine {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeMessage {
    id: LooseValue<IgnoredValue>,
    content: LooseValue<ClaudeBlock>,
    usage: LooseValue<IgnoredValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeBlock {
    #[serde(rename = "type")]
    kind: LooseValue<IgnoredValue>,
    id: LooseValue<IgnoredValue>,
    tool_use_id: LooseValue<IgnoredValue>,
    text: LooseValue<IgnoredValue>,
    thinking: LooseValue<IgnoredValue>,
}

impl ClaudeBlock {
    fn acts(&self) -> bool {
        match self.kind.text() {
            "tool_use" => true,
            "text" => !self.text.text().is_empty(),
            "thinking" => !self.thinking.text().is_empty(),
            _ => false,
        }
    }
}

impl ClaudeIndex {
    pub(super) fn build(mut lines: LineReader) -> Result<Self> {
        let mut index = Self::default();
        while let Some(line) = lines.next()? {
            let Some(seen) = ClaudeLine::peek(line.bytes) else { continue };
            match seen.kind.text() {
                "assistant" => index.assistant(&seen, line.position),
                "user" if index.user(&seen, line.position, line.number) => {
                    let number = usize::try_from(line.number).unwrap_or(usize::MAX);
                    index.result_only.resize(number, false);
                    index.result_only.push(true);
                }
                _ => {}
            }
        }
        Ok(index)
    }

    fn assistant(&mut self, seen: &ClaudeLine, position: BytePosition) {
        let Some(message) = seen.message.one() else { return };
        let id = short(message.id.text());
        let turn = self.turns.entry(side(seen)).or_default();
        if turn.message != id || !message.id.is_there() {
            *turn = TurnStart { message: id, offset: position.offset };
        }
        let blocks = message.content.list();
        self.calls.extend(
            blocks.iter().filter(|block| block.kind.text() == "tool_use").map(|block| short(block.id.text())),
        );
        let acts = blocks.iter().any(ClaudeBlock::acts) || !message.content.text().is_empty();
        let known = self.messages.entry(id).or_insert(MessagePosition { usage: position, acts: false });
        known.acts |= acts;
        if message.usage.is_there() {
            known.usage = position;
        }
    }

    /// Whether the line holds results of known calls and nothing else.
    fn user(&mut self, seen: &ClaudeLine, position: BytePosition, line: u64) -> bool {
        let blocks = seen.message.one().map_or(&[][..], |message| message.content.list());
        let is_result = |block: &ClaudeBlock| block.kind.text() == "tool_result";
        let mut only = !blocks.is_empty() && !seen.permission_mode.is_there();
        for (number, block) in (0_u32..).zip(blocks) {
            let id = short(block.tool_use_id.text());
            only &= is_result(block) && self.calls.contains(&id);
            if is_result(block) {
                let here = ResultPosition { line: position, block: number, number: line };
                // The last result of a call counts; an earlier one is a record of its own.
                if let Some(earlier) = self.results.insert(id, here) {
                    let earlier = usize::try_from(earlier.number).unwrap_or(usize::MAX);
                    self.result_only.get_mut(earlier).into_iter().for_each(|only| *only = false);
                }
            }
        }
        let is_prompt =
            !seen.is_meta.is_yes() && !seen.tool_use_result.is_there() && !blocks.iter().any(is_result);
        if is_prompt {
            self.turns.insert(side(seen), TurnStart { message: 0, offset: position.offset });
        }
        only
    }

    pub(super) fn is_result_only(&self, line: u64) -> bool {
        usize::try_from(line).ok().and_then(|line| self.result_only.get(line)).copied().unwrap_or_default()
    }

    pub(super) fn result_of(&self, call: &str) -> Option<ResultPosition> {
        self.results.get(&short(call)).copied()
    }

    /// Whether the result of a known call is the one in this line.
    pub(super) fn is_result_in(&self, call: &str, line: BytePosition) -> bool {
        self.is_called(call) && self.result_of(call).is_some_and(|result| result.line == line)
    }

    pub(super) fn is_called(&self, call: &str) -> bool {
        self.calls.contains(&short(call))
    }

    pub(super) fn message(&self, id: &str) -> Option<MessagePosition> {
        self.messages.get(&short(id)).copied()
    }

    /// Whether the line belongs to the last turn of its agent, so that more may come.
    pub(super) fn is_last_turn(&self, is_sidechain: bool, agent: &str, line: BytePosition) -> bool {
        self.turns.get(&side_of(is_sidechain, agent)).is_some_and(|turn| line.offset >= turn.offset)
    }
}

fn side(seen: &ClaudeLine) -> u64 {
    side_of(seen.is_sidechain.is_yes(), seen.agent_id.text())
}

/// Agents that work side by side write into the same file; each has turns of its own.
fn side_of(is_sidechain: bool, agent: &str) -> u64 {
    if is_sidechain { short(agent) } else { 0 }
}
