//! Codex CLI: one JSONL file per session, its rollout.
//!
//! The rollout is read twice: first for where each output stands, then for the actions, and an output is read again
//! when its call is met. An action waits for the next one before it is given, for its tokens are written after it.
//!
//! Codex writes most things in two forms, as an item of the model's answer and as an event for the screen. Each is
//! an action once, in the form that comes first. Beside tool calls and what was said, these become actions: instructions,
//! compactions, snapshots, aborted turns, reviews, errors, thinking that led to nothing, tokens that belong to
//! nothing, outputs without a call, set-up messages, and every line or item of a type that is not known, verbatim.
//! Events about the beginning, the progress and the end of a call do not if the call is in the file: the call and its
//! output say the same. What else a line holds, and no action shows, is in `environment.other` of its action or of the
//! next one.
//!
//! A forked rollout begins with its parent's history. Where the parent's rollout is still there, what is repeated is
//! passed over and one action says so; where it is not, the repeated part cannot be distinguished, and stays.

mod action;
mod context;
mod duplicate_filter;
mod events;
mod fork;
mod held_action;
mod index;
mod items;
mod output;
mod patch;
mod reasoning;
mod tokens;

use crate::jsonl::{JsonLine, KeyNumbers, LineReader, LineRereader};
use crate::ledger::EntryLedger;
use crate::{Action, DropReason, ReadReport, TranscriptSource};
use capsid_model::Result;
use capsid_model::exact::{ExactJson, parse_lossy};
use context::CodexContext;
use duplicate_filter::DuplicateFilter;
use held_action::HeldAction;
use index::CodexIndex;
use reasoning::PendingReasoning;
use std::path::Path;
use std::rc::Rc;
use tokens::TokenTotals;

/// The session that a rollout names.
pub fn session_id(path: &Path) -> Option<String> {
    let mut lines = LineReader::open(path).ok()?;
    let line = lines.next().ok()??;
    let document = parse_lossy(line.bytes).ok()?;
    let (kind, payload) = parts(&document);
    let id = payload.text("id").filter(|id| kind == "session_meta" && !id.is_empty())?;
    Some(id.to_owned())
}

/// Reads a session.
pub fn read(source: &TranscriptSource, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<ReadReport> {
    let first = LineReader::open(&source.path)?;
    let mut second = first.reread()?;
    let index = CodexIndex::build(first)?;
    let again = LineRereader::open(&source.path)?;
    let mut reader = CodexReader {
        path: &source.path,
        index,
        again,
        report: ReadReport::default(),
        held: HeldAction::new(each),
        keys: KeyNumbers::default(),
        context: CodexContext::default(),
        thoughts: PendingReasoning::default(),
        duplicates: DuplicateFilter::default(),
        searched: DuplicateFilter::default(),
        requests: DuplicateFilter::default(),
        instructed: KeyNumbers::default(),
        tokens: TokenTotals::default(),
        repeated_until: None,
        ledger: EntryLedger::default(),
        plans: KeyNumbers::default(),
        said: String::new(),
        unasked: None,
    };
    let mut last = 0;
    while let Some(line) = second.next()? {
        last = line.number;
        reader.line(&line)?;
    }
    reader.end(last)
}

/// The state while a session is read.
struct CodexReader<'a> {
    path: &'a Path,
    index: CodexIndex,
    again: LineRereader,
    report: ReadReport,
    held: HeldAction<'a>,
    keys: KeyNumbers,
    context: CodexContext,
    thoughts: PendingReasoning,
    duplicates: DuplicateFilter,
    searched: DuplicateFilter,
    requests: DuplicateFilter,
    /// Instructions that were given: many are repeated for every turn.
    instructed: KeyNumbers,
    tokens: TokenTotals,
    /// The last line that a fork repeats from its parent.
    repeated_until: Option<u64>,
    ledger: EntryLedger,
    /// Plans that a call recorded.
    plans: KeyNumbers,
    /// The last message of the agent.
    said: String,
    /// The record of a request that nothing followed yet.
    unasked: Option<Action>,
}

impl CodexReader<'_> {
    fn line(&mut self, line: &JsonLine<'_>) -> Result<()> {
        if self.index.is_output_only(line.number) {
            return Ok(());
        }
        let document = parse_lossy(line.bytes).ok().filter(|document| document.as_object().is_some());
        match document.map(Rc::new) {
            Some(document) => {
                self.context.at(&document, line.number);
                self.ledger.begin(Rc::clone(&document));
                self.document(&document, line)?;
                if self.repeated_until.is_some() {
                    self.ledger.drop_entry(DropReason::RepeatedHistory);
                }
                self.ledger.end();
                if self.ledger.is_full() {
                    self.leftovers(format!("leftover:{}", line.number), false)?;
                }
            }
            None if line.is_too_long() && !line.ended => {}
            None if line.is_too_long() => self.too_long(line)?,
            None => self.unreadable(line)?,
        }
        if self.repeated_until == Some(line.number) {
            self.repeated_until = None;
            self.thoughts = PendingReasoning::default();
            (self.duplicates, self.searched) = Default::default();
        }
        Ok(())
    }

    fn document(&mut self, document: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let (kind, payload) = parts(document);
        match kind {
            "session_meta" => self.session(payload, line),
            "turn_context" => {
                self.context.turn(payload);
                Ok(())
            }
            "response_item" => self.item(document, payload, line),
            "event_msg" => self.event(document, payload, line),
            "compacted" => self.compacted(payload, line),
            "" if document.get("record_type").is_some() => {
                self.ledger.drop_entry(DropReason::Progress);
                Ok(())
            }
            _ => self.unknown(kind, document, line),
        }
    }

    fn end(mut self, last: u64) -> Result<ReadReport> {
        self.emit_leftover_reasoning(None)?;
        if let Some(prompt) = self.unasked.take() {
            self.emit(Action { open: true, ..prompt })?;
        }
        self.leftovers(format!("leftover:{last}:end"), true)?;
        self.held.emit_all()?;
        self.ledger.count_into(&mut self.report);
        Ok(self.report)
    }
}

/// The type and the payload of a line. The first versions wrote items, and the session's head, without an envelope.
fn parts(document: &ExactJson) -> (&str, &ExactJson) {
    let kind = document.text("type").unwrap_or_default();
    match document.get("payload") {
        Some(payload) => (kind, payload),
        None if items::KNOWN.contains(&kind) => ("response_item", document),
        None if kind.is_empty() && document.get("id").is_some() && document.get("timestamp").is_some() => {
            ("session_meta", document)
        }
        None => (kind, document),
    }
}
