//! What every reader makes of a transcript: one action after the other, ready to be sealed.

use capsid_model::exact::{ExactFields, ExactJson};

/// One of the agents whose transcripts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    ClaudeCode,
    Codex,
    Cursor,
    Cline,
}

impl Tool {
    /// All of them.
    pub const ALL: [Tool; 4] = [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Cline];

    /// Its name in commands, folders and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Cline => "cline",
        }
    }

    /// The tool of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// What kind of action it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActionKind {
    Tool,
    #[default]
    Chat,
    /// Everything else: instructions, attachments, compaction, what the reader did not know.
    System,
}

impl ActionKind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Chat => "chat",
            Self::System => "system",
        }
    }
}

/// One action of an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Action {
    /// Identifies the action within the session, and stays the same however often the transcript is read.
    pub key: String,
    /// What kind of action it was.
    pub kind: ActionKind,
    /// Who did it; empty means the tool itself.
    pub agent_id: String,
    /// The user's request.
    pub prompt: String,
    /// Provenance: folder, branch, versions, times.
    pub environment: ExactFields,
    pub analysis: String,
    /// The hidden reasoning, if the tool stores it.
    pub reasoning: String,
    pub model: String,
    pub authority: Authority,
    /// The tool call, where it was one.
    pub call: Option<ToolInvocation>,
    pub usage: ExactFields,
    pub failed: bool,
    /// What came of it, in a line.
    pub summary: String,
    pub side_effects: Vec<String>,
    /// The response or the structured result; null when there is none.
    pub result: ExactJson,
    /// Whether a result is still to come: the call is in the transcript and its result is not, yet.
    pub open: bool,
}

/// Who or what approved an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// `autonomous`, `policy`, `human_approved` or `escalated`.
    pub kind: &'static str,
    /// The rule by which it was, such as `permission_mode=acceptEdits`; empty when none is known.
    pub policy_reference: String,
}

impl Default for Authority {
    fn default() -> Self {
        Self { kind: "autonomous", policy_reference: String::new() }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolInvocation {
    pub tool: String,
    pub arguments: ExactJson,
    pub result: ExactJson,
    /// How long it took, where that is known.
    pub duration_ms: Option<i64>,
}

/// The path of one session's transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptSource {
    /// The tool that wrote it.
    pub tool: Tool,
    pub session: String,
    /// The transcript: a JSONL file (Claude Code, Codex), a state database (Cursor), a task folder (Cline).
    pub path: std::path::PathBuf,
    /// Cursor's text transcript, read when the database has nothing about the session.
    pub text_transcript: Option<std::path::PathBuf>,
    pub authorship: Option<std::path::PathBuf>,
    /// What the hook reported about the session, for the environment of each action (Cursor).
    pub hook_fields: ExactFields,
}

/// What was met besides actions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Lines or entries that could not be read.
    pub broken: u64,
    /// Record types the reader does not know, and how many of each were stored verbatim.
    pub unknown: std::collections::BTreeMap<String, u64>,
    /// Whether the transcript records that the session is over.
    pub finished: bool,
}
