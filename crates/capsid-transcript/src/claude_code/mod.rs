//! Claude Code: one JSONL file per session, and one for each of its subagents.
//!
//! The file is read twice. The first time only says where each result stands, which message a line belongs to and
//! whether something came after it; the second time makes actions, and reads a result again when its call is met.
//!
//! What becomes an action, beside tool calls and what the agent said: attachments, lines of the tool itself
//! (`system`), text that the tool put into the user's mouth (`isMeta`), summaries that a compaction left,
//! interruptions, titles when they change, results without a call, lines that were too long to read, tokens of a
//! message that did nothing else, and every line of a type that is not known, verbatim.
//!
//! What does not, for it repeats what is sealed anyway: `progress` (superseded by the result), `queue-operation` and
//! `last-prompt` (the text comes again as a prompt), `file-history-snapshot` (the edits are actions themselves),
//! `permission-mode` and `mode` (they stand in the authority of what follows).

mod files;
mod index;
mod lines;
mod message;
mod outcome;

use crate::jsonl::{JsonLine, KeyNumbers, LineReader, LineRereader};
use crate::{Action, ReadReport, TranscriptSource};
use capsid_model::Result;
use capsid_model::exact::{ExactJson, parse_lossy};
use files::{SessionFiles, Subagent};
use index::ClaudeIndex;
use std::collections::HashMap;

/// A subagent may call another one; deeper ones than this come after the rest.
const DEEPEST: usize = 16;

/// Reads a session, its subagents right after the calls that started them.
pub fn read(source: &TranscriptSource, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<ReadReport> {
    let lines = LineReader::open(&source.path)?;
    let files = SessionFiles::find(&source.path, &source.session);
    let mut reader = ClaudeReader {
        files,
        each,
        report: ReadReport::default(),
        lines_read: KeyNumbers::default(),
        messages_counted: KeyNumbers::default(),
    };
    let mut conversation = ConversationState::default();
    reader.file(lines, &source.path.clone(), None, &mut conversation, 0)?;
    while let Some(subagent) = reader.files.next_unread() {
        reader.subagent(&subagent, &mut conversation, 0)?;
    }
    Ok(reader.report)
}

/// The state while a session is read.
struct ClaudeReader<'a> {
    files: SessionFiles,
    each: &'a mut dyn FnMut(Action) -> Result<()>,
    report: ReadReport,
    /// Lines by their uuid: a subagent's file can repeat those of its parent.
    lines_read: KeyNumbers,
    /// Messages whose tokens are in an action already.
    messages_counted: KeyNumbers,
}

/// The state of the conversation.
#[derive(Debug, Clone, Default)]
struct ConversationState {
    mode: String,
    /// Whether a schedule gave the last prompt.
    is_scheduled: bool,
    /// The last request by agent; the empty name is the main agent.
    prompts: HashMap<String, String>,
    thinking: PendingThinking,
    /// The last title of each kind, so that only a new one is reported.
    titles: HashMap<String, String>,
}

/// Thinking that waits for the action that it led to.
#[derive(Debug, Clone, Default)]
struct PendingThinking {
    blocks: u64,
    signatures: Vec<String>,
}

/// The file that is being read.
struct TranscriptPosition<'a> {
    index: &'a ClaudeIndex,
    again: &'a mut LineRereader,
    subagent: Option<&'a Subagent>,
    depth: usize,
}

impl ClaudeReader<'_> {
    fn subagent(
        &mut self,
        subagent: &Subagent,
        conversation: &mut ConversationState,
        depth: usize,
    ) -> Result<()> {
        let Ok(lines) = LineReader::open(&subagent.path) else {
            self.report.broken += 1;
            return Ok(());
        };
        let mut own = ConversationState {
            mode: conversation.mode.clone(),
            prompts: conversation.prompts.clone(),
            ..ConversationState::default()
        };
        self.file(lines, &subagent.path, Some(subagent), &mut own, depth)
    }

    fn file(
        &mut self,
        lines: LineReader,
        path: &std::path::Path,
        subagent: Option<&Subagent>,
        conversation: &mut ConversationState,
        depth: usize,
    ) -> Result<()> {
        let mut second = lines.reread()?;
        let index = ClaudeIndex::build(lines)?;
        let mut again = LineRereader::open(path)?;
        while let Some(line) = second.next()? {
            if index.is_result_only(line.number) {
                continue;
            }
            let mut position = TranscriptPosition { index: &index, again: &mut again, subagent, depth };
            match self.document(&line) {
                Some(document) => self.line(&document, &line, conversation, &mut position)?,
                None if line.is_too_long() && line.ended => self.too_long(&line, conversation, &position)?,
                None => {}
            }
        }
        Ok(())
    }

    /// The line's object. A last line that its writer has not ended is not broken.
    fn document(&mut self, line: &JsonLine<'_>) -> Option<ExactJson> {
        let document = parse_lossy(line.bytes).ok().filter(|document| document.as_object().is_some());
        if document.is_none() && line.ended && !line.is_too_long() {
            self.report.broken += 1;
        }
        document
    }
}
