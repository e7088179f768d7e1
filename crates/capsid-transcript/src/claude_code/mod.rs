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
//! A prompt is in the actions that follow it; one that nothing follows, and a queued one that never became a prompt, are
//! records of their own once the session is over. `progress` is not stored, since the result supersedes it. What else
//! a line holds, and no action shows, is in `environment.other` of its action or of the next one.

mod files;
mod index;
mod lines;
mod message;
mod outcome;
mod unanswered;

use crate::jsonl::{KeyNumbers, LineReader, LineRereader};
use crate::ledger::EntryLedger;
use crate::{Action, ReadReport, TranscriptSource};
use capsid_model::Result;
use capsid_model::exact::{ExactJson, parse_lossy};
use files::{SessionFiles, Subagent};
use index::ClaudeIndex;
use std::collections::HashMap;
use std::rc::Rc;
use unanswered::UnansweredPrompts;

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
        ledger: EntryLedger::default(),
        unanswered: UnansweredPrompts::default(),
    };
    let mut conversation = ConversationState::default();
    reader.file(lines, &source.path.clone(), None, &mut conversation, 0)?;
    while let Some(subagent) = reader.files.next_unread() {
        reader.subagent(&subagent, &mut conversation, 0)?;
    }
    reader.rest()
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
    ledger: EntryLedger,
    unanswered: UnansweredPrompts,
}

/// The state of the conversation.
#[derive(Debug, Clone, Default)]
struct ConversationState {
    mode: String,
    /// Whether a schedule gave the last prompt.
    is_scheduled: bool,
    /// The last request by agent; the empty name is the main agent.
    prompts: HashMap<String, String>,
    /// The record of each request that nothing followed yet, by agent.
    unanswered: HashMap<String, Action>,
    thinking: PendingThinking,
    /// The last title of each kind, so that only a new one is reported.
    titles: HashMap<String, String>,
}

/// Thinking that waits for the action that it led to.
#[derive(Debug, Clone, Default)]
struct PendingThinking {
    blocks: u64,
    signatures: Vec<ExactJson>,
    /// Whether there was a block without its text.
    is_redacted: bool,
    /// The record that it becomes if no action follows.
    alone: Option<Box<Action>>,
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
            self.ledger.count_noted("a subagent's file that cannot be opened");
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
            let document = parse_lossy(line.bytes).ok().filter(|document| document.as_object().is_some());
            match document.map(Rc::new) {
                Some(document) => {
                    self.ledger.begin(Rc::clone(&document));
                    self.line(&document, &line, conversation, &mut position)?;
                    self.ledger.end();
                    if self.ledger.is_full() {
                        self.leftovers(&line, conversation, &position)?;
                    }
                }
                None if line.is_too_long() => self.too_long(&line, conversation, &position)?,
                None => self.unreadable(&line, conversation, &position)?,
            }
        }
        self.unanswered.file_ends(conversation);
        Ok(())
    }

    /// Gives an action, with what else its line holds.
    fn emit(&mut self, mut action: Action) -> Result<()> {
        self.ledger.show(&mut action);
        (self.each)(action)
    }

    /// What is left when the session is over: prompts without an answer, and entries without an action.
    fn rest(mut self) -> Result<ReadReport> {
        for action in std::mem::take(&mut self.unanswered).into_records() {
            self.emit(Action { open: true, ..action })?;
        }
        if let Some(rest) = self.ledger.rest() {
            let key = "leftover:end".to_owned();
            (self.each)(Action { open: true, ..crate::ledger::leftover(key, rest, Action::default()) })?;
        }
        self.ledger.count_into(&mut self.report);
        Ok(self.report)
    }
}
