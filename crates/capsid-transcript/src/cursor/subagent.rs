//! What a sub-agent did, in a line.

use super::conversation::Composer;
use super::database::{CursorDatabase, CursorValue};
use super::edit;
use crate::shape::LineCounts;
use capsid_model::exact::{ExactJson, parse_lossy};
use std::collections::HashMap;

/// Sub-agents of a conversation that are looked at.
const MAX_CHILDREN: usize = 500;

/// The sub-agents of a conversation, by the call that started each.
#[derive(Default)]
pub(super) struct Subagents(HashMap<String, ChildConversation>);

struct ChildConversation {
    conversation: String,
    kind: String,
}

/// What a sub-agent did.
pub(super) struct Scorecard {
    kind: String,
    edits: usize,
    counts: LineCounts,
    calls: usize,
    messages: usize,
}

impl Scorecard {
    /// What the summary of its call ends with.
    pub(super) fn suffix(&self) -> String {
        let Self { kind, edits, counts, calls, .. } = self;
        format!(" [{kind}: {edits} edits, +{}/-{}, {calls} tool calls]", counts.added, counts.removed)
    }

    /// The side effect of its call.
    pub(super) fn side_effect(&self) -> String {
        format!("delegated to {} subagent ({} messages)", self.kind, self.messages)
    }
}

impl Subagents {
    /// Those that a conversation's description names. What cannot be read of them is passed over.
    pub(super) fn load(state: &CursorDatabase, composer: &Composer) -> Self {
        let child = |id: String| {
            let subagent = Composer::load(state, &id).ok()??;
            let info = subagent.member("subagentInfo");
            let call = info.text("toolCallId")?.to_owned();
            let kind = info.text("subagentTypeName").unwrap_or("subagent").to_owned();
            Some((call, ChildConversation { conversation: id, kind }))
        };
        Self(composer.ids("subagentComposerIds").into_iter().take(MAX_CHILDREN).filter_map(child).collect())
    }

    /// What the sub-agent did that a call started.
    pub(super) fn scorecard(&self, state: &CursorDatabase, call: &str) -> Option<Scorecard> {
        let child = self.0.get(call)?;
        let composer = Composer::load(state, &child.conversation).ok()??;
        let entries = composer.entries();
        let mut card = Scorecard {
            kind: child.kind.clone(),
            edits: 0,
            counts: LineCounts::default(),
            calls: 0,
            messages: entries.len(),
        };
        for entry in &entries {
            let bubble = match entry.inline {
                Some(inline) => parse_lossy(inline.as_bytes()).ok(),
                None => match state.bubble(&child.conversation, &entry.id) {
                    Ok(CursorValue::Bytes(bytes)) => parse_lossy(&bytes).ok(),
                    _ => None,
                },
            };
            if let Some(tool) = bubble.as_ref().and_then(|bubble| bubble.get("toolFormerData")) {
                card.count(tool);
            }
        }
        Some(card)
    }
}

impl Scorecard {
    fn count(&mut self, tool: &ExactJson) {
        let Some(call) = super::tool_call::ToolCall::parse(tool) else { return };
        self.calls += 1;
        if edit::is_file_tool(&call.name) && call.signals.outcome() == crate::OutcomeStatus::Success {
            self.edits += 1;
            if let Some((_, counts)) = edit::diff(&call.arguments, &call.result) {
                self.counts.added += counts.added;
                self.counts.removed += counts.removed;
            }
        }
    }
}
