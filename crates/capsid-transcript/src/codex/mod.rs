//! Codex CLI: one JSONL file per session, its rollout.
//!
//! The rollout is read twice: first for where each output stands, then for the actions, and an output is read again
//! when its call is met. An action waits for the next one before it is given, for its tokens are written after it.
//!
//! Codex writes most things in two forms, as an item of the model's answer and as an event for the screen. Each is
//! told once, in the form that comes first. Beside tool calls and what was said, these become actions: instructions,
//! compactions, snapshots, aborted turns, reviews, errors, thinking that led to nothing, tokens that belong to
//! nothing, outputs without a call, and every line or item of a type that is not known, verbatim. Events about the
//! beginning, the progress and the end of a call do not: the call and its output say the same.
//!
//! A forked rollout begins with its parent's history. Where the parent's rollout is still there, what is repeated is
//! passed over and one action says so; where it is not, the repeated part cannot be told apart, and stays.

mod action;
mod context;
mod events;
mod fork;
mod held;
mod index;
mod items;
mod output;
mod patch;
mod thoughts;
mod tokens;
mod twins;

use crate::jsonl::{Again, Line, Lines, Set};
use crate::{Action, Report, Source};
use capsid_model::Result;
use capsid_model::exact::{Json, parse_lossy};
use context::Context;
use held::Held;
use index::Index;
use std::path::Path;
use thoughts::Thoughts;
use tokens::Tokens;
use twins::Twins;

/// The session that a rollout says it is of.
pub fn session_id(path: &Path) -> Option<String> {
    let mut lines = Lines::open(path).ok()?;
    let line = lines.next().ok()??;
    let document = parse_lossy(line.bytes).ok()?;
    let (kind, payload) = parts(&document);
    let id = payload.text("id").filter(|id| kind == "session_meta" && !id.is_empty())?;
    Some(id.to_owned())
}

/// Reads a session.
pub fn read(source: &Source, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<Report> {
    let first = Lines::open(&source.path)?;
    let mut second = first.again()?;
    let index = Index::of(first)?;
    let again = Again::open(&source.path)?;
    let mut reader = Reader {
        path: &source.path,
        index,
        again,
        report: Report::default(),
        held: Held::new(each),
        keys: Set::default(),
        context: Context::default(),
        thoughts: Thoughts::default(),
        said: Twins::default(),
        searched: Twins::default(),
        instructed: Set::default(),
        tokens: Tokens::default(),
        repeated_until: None,
    };
    while let Some(line) = second.next()? {
        reader.line(&line)?;
    }
    reader.end()
}

/// What is kept while a session is read.
struct Reader<'a> {
    path: &'a Path,
    index: Index,
    again: Again,
    report: Report,
    held: Held<'a>,
    /// Actions that were given.
    keys: Set,
    context: Context,
    thoughts: Thoughts,
    said: Twins,
    searched: Twins,
    /// Instructions that were given: many are repeated for every turn.
    instructed: Set,
    tokens: Tokens,
    /// The last line that a fork repeats from its parent.
    repeated_until: Option<u64>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line<'_>) -> Result<()> {
        if self.index.is_output_only(line.number) {
            return Ok(());
        }
        let document = parse_lossy(line.bytes).ok().filter(|document| document.as_object().is_some());
        match document {
            Some(document) => self.document(&document, line)?,
            None if line.ended && line.is_too_long() => self.too_long(line)?,
            None if line.ended => self.report.broken += 1,
            None => {}
        }
        if self.repeated_until == Some(line.number) {
            self.repeated_until = None;
            self.thoughts = Thoughts::default();
            (self.said, self.searched) = Default::default();
        }
        Ok(())
    }

    fn document(&mut self, document: &Json, line: &Line<'_>) -> Result<()> {
        let (kind, payload) = parts(document);
        match kind {
            "session_meta" => self.session(payload, line),
            "turn_context" => {
                self.context.turn(payload);
                Ok(())
            }
            "response_item" => self.item(document, payload, line),
            "event_msg" => self.event(document, payload, line),
            "compacted" => self.compacted(payload.text("message").unwrap_or_default(), line),
            "" if document.get("record_type").is_some() => Ok(()),
            _ => self.unknown(kind, document, line),
        }
    }

    fn end(mut self) -> Result<Report> {
        self.leftover_thoughts(None)?;
        self.held.give_all()?;
        Ok(self.report)
    }
}

/// The type and the payload of a line. The first versions wrote items, and the session's head, without an envelope.
fn parts(document: &Json) -> (&str, &Json) {
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
