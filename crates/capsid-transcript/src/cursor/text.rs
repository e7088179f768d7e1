//! The text transcript: one message per line, with words and calls but without results.

use super::request::UserRequest;
use crate::jsonl::{JsonLine, LineReader};
use crate::ledger::EntryLedger;
use crate::shape::{CHAT_MAX, cap, cap_text, first_text, iso_time, one_line, summary, without_images};
use crate::{Action, ActionKind, ReadReport, ToolInvocation, TranscriptSource, TriggerKind};
use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_model::{Result, fields};
use std::path::Path;
use std::rc::Rc;

const TARGETS: [&str; 9] =
    ["command", "file_path", "path", "target_file", "pattern", "query", "url", "description", "prompt"];

/// Reads the transcript; the actions are named by their lines.
pub(super) fn read(
    source: &TranscriptSource,
    path: &Path,
    report: &mut ReadReport,
    each: &mut dyn FnMut(Action) -> Result<()>,
) -> Result<()> {
    let mut lines = LineReader::open(path)?;
    let mut reader = TextReader {
        source,
        prompt: String::new(),
        unanswered: None,
        request_raw: None,
        ledger: EntryLedger::default(),
    };
    while let Some(line) = lines.next()? {
        let Some(record) = parse_lossy(line.bytes).ok().filter(|record| record.as_object().is_some()) else {
            each(reader.unreadable(&line, report))?;
            continue;
        };
        let record = Rc::new(record);
        reader.ledger.begin(Rc::clone(&record));
        reader.record(&record, line.number, report).into_iter().try_for_each(&mut *each)?;
        reader.ledger.end();
    }
    reader.rest().into_iter().try_for_each(&mut *each)?;
    reader.ledger.count_into(report);
    Ok(())
}

/// The state while a text transcript is read.
struct TextReader<'a> {
    source: &'a TranscriptSource,
    prompt: String,
    /// The record of a request that nothing followed yet.
    unanswered: Option<Action>,
    /// The request as the editor stored it, for the action that follows.
    request_raw: Option<String>,
    ledger: EntryLedger,
}

impl TextReader<'_> {
    fn record(&mut self, record: &ExactJson, line: u64, report: &mut ReadReport) -> Vec<Action> {
        let base = base(self.source, line, &self.prompt, record);
        report.finished = record.text("type") == Some("turn_ended");
        let content = record.at(&["message", "content"]).unwrap_or(&ExactJson::Null);
        match (record.text("role"), record.text("type")) {
            (Some("user"), _) => self.by_user(content, base),
            (Some("assistant"), _) => {
                let mut actions = assistant(content, &base);
                if let Some(first) = actions.first_mut() {
                    self.unanswered = None;
                    if let Some(raw) = self.request_raw.take() {
                        first.environment.insert("request_raw".to_owned(), raw.into());
                    }
                }
                self.show(&mut actions);
                actions
            }
            (_, Some("turn_ended")) => {
                let Some(error) = record.get("error").filter(|error| error.is_truthy()) else {
                    return Vec::new();
                };
                let mut actions = vec![Action {
                    kind: ActionKind::System,
                    status: crate::OutcomeStatus::Failure,
                    summary: format!("turn ended: {}", one_line(&crate::shape::plain(error))),
                    result: cap(error.clone()),
                    ..base
                }];
                self.show(&mut actions);
                actions
            }
            (role, kind) => {
                let name = one_line(kind.or(role).unwrap_or("none"));
                *report.unknown.entry(name.clone()).or_default() += 1;
                self.ledger.count_noted("unknown record type");
                let summary = format!("unknown record type {name}");
                let mut actions = vec![Action {
                    kind: ActionKind::System,
                    trigger: TriggerKind::System,
                    summary,
                    result: cap(without_images(record.clone())),
                    ..base
                }];
                self.show(&mut actions);
                actions
            }
        }
    }

    /// The first action of a line gets what none of them shows.
    fn show(&mut self, actions: &mut [Action]) {
        let Some((first, others)) = actions.split_first_mut() else { return };
        let values: Vec<ExactJson> = others
            .iter()
            .filter_map(|action| action.call.as_ref())
            .map(|call| fields! { "tool": call.tool.as_str(), "arguments": call.arguments.clone() }.into())
            .collect();
        let ids = others.iter().map(|action| action.environment.clone().into());
        let elsewhere: Vec<ExactJson> = values.into_iter().chain(ids).collect();
        self.ledger.show_with(first, &elsewhere.iter().collect::<Vec<_>>());
    }

    fn by_user(&mut self, content: &ExactJson, base: Action) -> Vec<Action> {
        let text = message_text(content);
        if text.is_empty() {
            return Vec::new();
        }
        let request = UserRequest::parse(&text);
        let parts = texts(content);
        let shown: Vec<&str> = parts.iter().copied().chain([text.as_str(), &request.prompt]).collect();
        self.ledger.carry(&shown);
        self.request_raw = request.raw;
        self.prompt.clone_from(&request.prompt);
        let record = Action {
            key: format!("{}:prompt", base.key),
            kind: ActionKind::System,
            summary: format!("prompt without an answer: {}", one_line(&request.prompt)),
            prompt: request.prompt,
            result: text.into(),
            ..base
        };
        self.unanswered.replace(record).into_iter().collect()
    }

    /// A line that is no object. What no newline ends is still being written.
    fn unreadable(&mut self, line: &JsonLine<'_>, report: &mut ReadReport) -> Action {
        if line.ended {
            report.broken += 1;
            self.ledger.count_noted("line that cannot be read");
        }
        let base = base(self.source, line.number, &self.prompt, &ExactJson::Null);
        let key = format!("{}:broken", base.key);
        let record = crate::ledger::unreadable(key, line.bytes, base.environment, !line.ended);
        Action { prompt: base.prompt, model: base.model, ..record }
    }

    fn rest(&mut self) -> Vec<Action> {
        let mut rest: Vec<Action> = self.unanswered.take().into_iter().collect();
        if let Some(left) = self.ledger.rest() {
            let base = Action { prompt: self.prompt.clone(), ..Action::default() };
            rest.push(crate::ledger::leftover("leftover:end".to_owned(), left, base));
        }
        rest.into_iter().map(|action| Action { open: true, ..action }).collect()
    }
}

fn base(source: &TranscriptSource, line: u64, prompt: &str, record: &ExactJson) -> Action {
    let mut environment = source.hook_fields.clone();
    environment.insert("transcript_line".to_owned(), line.into());
    if let Some(time) = record.get("timestamp").and_then(iso_time) {
        environment.insert("timestamp".to_owned(), time);
    }
    if let Some(cwd) = super::only_root(&environment) {
        environment.entry("cwd".to_owned()).or_insert(cwd);
    }
    Action {
        key: format!("line:{line}"),
        prompt: prompt.to_owned(),
        environment,
        model: source.hook_fields.get("model").and_then(ExactJson::as_str).unwrap_or_default().to_owned(),
        ..Action::default()
    }
}

/// The messages, and each tool that was called.
fn assistant(content: &ExactJson, base: &Action) -> Vec<Action> {
    let text = message_text(content);
    let mut actions = Vec::new();
    if !text.is_empty() {
        actions.push(Action {
            analysis: text.clone(),
            summary: cap_text(&text, CHAT_MAX),
            result: text.into(),
            ..base.clone()
        });
    }
    let blocks = content.as_array().unwrap_or_default().iter();
    for (index, block) in blocks.enumerate().filter(|(_, block)| block.text("type") == Some("tool_use")) {
        let tool = block.text("name").unwrap_or("tool").to_owned();
        let arguments = without_images(block.get("input").cloned().unwrap_or_default());
        let mut environment = base.environment.clone();
        if let Some(id) = block.text("id").filter(|id| !id.is_empty()) {
            environment.insert("call_id".to_owned(), id.into());
        }
        actions.push(Action {
            key: format!("{}:{index}", base.key),
            environment,
            kind: ActionKind::Tool,
            // The text has no results.
            status: crate::OutcomeStatus::Pending,
            summary: summary(&tool, &first_text(&arguments, &TARGETS).unwrap_or_default()),
            call: Some(ToolInvocation { tool, arguments, ..ToolInvocation::default() }),
            ..base.clone()
        });
    }
    actions
}

fn message_text(content: &ExactJson) -> String {
    match content {
        ExactJson::String(text) => text.clone(),
        other => texts(other).join("\n"),
    }
}

fn texts(content: &ExactJson) -> Vec<&str> {
    let blocks = content.as_array().unwrap_or_default();
    let texts = blocks.iter().filter(|block| block.text("type") == Some("text"));
    texts.filter_map(|block| block.text("text")).collect()
}
