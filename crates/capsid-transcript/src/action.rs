//! What every reader makes of a transcript: one action after the other, ready to be sealed.

use crate::status::{OutcomeStatus, StatusSignals};
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
    /// Work that was handed to a subagent.
    Agent,
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
            Self::Agent => "agent",
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
    /// What began it.
    pub trigger: TriggerKind,
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
    /// What came of it.
    pub status: OutcomeStatus,
    /// What came of it, in a line.
    pub summary: String,
    pub side_effects: Vec<String>,
    /// The response or the structured result; null when there is none.
    pub result: ExactJson,
    /// Whether a result is still to come: the call is in the transcript and its result is not, yet.
    pub open: bool,
}

impl Action {
    /// Whether it failed or was refused.
    pub fn has_failed(&self) -> bool {
        matches!(self.status, OutcomeStatus::Failure | OutcomeStatus::Blocked)
    }

    /// Takes in how it ended. What it claims to have changed counts only if it succeeded.
    pub(crate) fn end_with(&mut self, signals: &StatusSignals, failure: &str) {
        self.status = signals.outcome();
        self.summary += &signals.suffix(failure);
        match signals.words() {
            [] => {}
            [word] => drop(self.environment.insert("tool_status".to_owned(), word.as_str().into())),
            words => drop(self.environment.insert("tool_status".to_owned(), words.to_vec().into())),
        }
        self.keep_effects_apart();
    }

    /// Moves side effects that nothing confirms into the environment.
    pub(crate) fn keep_effects_apart(&mut self) {
        if self.status != OutcomeStatus::Success && !self.side_effects.is_empty() {
            let effects = std::mem::take(&mut self.side_effects);
            self.environment.insert("unconfirmed_effects".to_owned(), effects.into());
        }
    }
}

/// What began an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TriggerKind {
    #[default]
    UserRequest,
    /// Set-up, or a message that a program generated.
    System,
    /// A subagent's work, which another agent began.
    Agent,
    /// A schedule that the transcript names.
    Scheduled,
}

impl TriggerKind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::UserRequest => "user_request",
            Self::System => "system",
            Self::Agent => "agent",
            Self::Scheduled => "scheduled",
        }
    }
}

/// Who or what approved an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// `autonomous`, `policy`, `human_approved` or `escalated`.
    pub kind: &'static str,
    /// The rule by which it was, such as `permission_mode=acceptEdits`; empty when none is known.
    pub policy_reference: String,
    /// What a person answered, where one was asked; empty when nobody was.
    pub decision: String,
}

impl Authority {
    /// A rule or a mode allowed it, or denied it.
    pub(crate) fn policy(policy_reference: impl Into<String>) -> Self {
        Self { kind: "policy", policy_reference: policy_reference.into(), ..Self::default() }
    }

    /// A person approved it.
    pub(crate) fn approved(policy_reference: impl Into<String>) -> Self {
        Self { kind: "human_approved", policy_reference: policy_reference.into(), ..Self::default() }
    }

    /// It was put to a person, who did not approve it, or it ran with more rights than usual.
    pub(crate) fn escalated(policy_reference: impl Into<String>, decision: &str) -> Self {
        let decision = decision.to_owned();
        Self { kind: "escalated", policy_reference: policy_reference.into(), decision }
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self { kind: "autonomous", policy_reference: String::new(), decision: String::new() }
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

/// Why something of a transcript is in no record. There are no other reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// A message about something under way, whose end is recorded.
    Progress,
    /// A piece of a text that is recorded whole.
    Delta,
    /// What a fork or a compaction repeats of earlier history.
    RepeatedHistory,
    /// A second form of something that is recorded.
    Repeated,
    /// Recorded by its length or its hash: images, whole files, encrypted thinking.
    Summarised,
    /// Identifiers and times that link the lines of a transcript.
    Identifier,
}

impl DropReason {
    /// All of them.
    pub const ALL: [DropReason; 6] = [
        Self::Progress,
        Self::Delta,
        Self::RepeatedHistory,
        Self::Repeated,
        Self::Summarised,
        Self::Identifier,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Delta => "delta",
            Self::RepeatedHistory => "repeated_history",
            Self::Repeated => "repeated",
            Self::Summarised => "summarised",
            Self::Identifier => "identifier",
        }
    }
}

/// What was met besides actions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Entries that are in an action, wholly or beside what is counted below.
    pub kept: u64,
    /// Entries that are stored as they are, as records of the system, by reason.
    pub noted: std::collections::BTreeMap<String, u64>,
    /// What is in no record, by reason.
    pub dropped: std::collections::BTreeMap<DropReason, u64>,
    /// Lines or entries that could not be read.
    pub broken: u64,
    /// Record types the reader does not know, and how many of each were stored verbatim.
    pub unknown: std::collections::BTreeMap<String, u64>,
    /// Whether the transcript records that the session is over.
    pub finished: bool,
}
