//! The text transcript: one message per line, with words and calls but without results.

use super::bubble::user_query;
use crate::jsonl::LineReader;
use crate::shape::{CHAT_MAX, cap, cap_text, first_text, one_line, summary, without_images};
use crate::{Action, ActionKind, ReadReport, ToolInvocation, TranscriptSource};
use capsid_model::Result;
use capsid_model::exact::{ExactJson, parse_lossy};
use std::path::Path;

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
    let mut prompt = String::new();
    while let Some(line) = lines.next()? {
        let Ok(record) = parse_lossy(line.bytes) else {
            // What no newline ends is still being written.
            report.broken += u64::from(line.ended);
            continue;
        };
        let base = base(source, line.number, &prompt);
        report.finished = record.text("type") == Some("turn_ended");
        let content = record.at(&["message", "content"]).unwrap_or(&ExactJson::Null);
        match (record.text("role"), record.text("type")) {
            (Some("user"), _) => {
                let text = message_text(content);
                if !text.is_empty() {
                    prompt = user_query(&text);
                }
            }
            (Some("assistant"), _) => assistant(content, &base, each)?,
            (_, Some("turn_ended")) => {
                if let Some(error) = record.get("error").filter(|error| error.is_truthy()) {
                    each(Action {
                        kind: ActionKind::System,
                        status: crate::OutcomeStatus::Failure,
                        summary: format!("turn ended: {}", one_line(&crate::shape::plain(error))),
                        result: cap(error.clone()),
                        ..base
                    })?;
                }
            }
            (role, kind) => {
                let name = one_line(kind.or(role).unwrap_or("none"));
                *report.unknown.entry(name.clone()).or_default() += 1;
                let summary = format!("unknown record type {name}");
                each(Action {
                    kind: ActionKind::System,
                    summary,
                    result: cap(without_images(record)),
                    ..base
                })?;
            }
        }
    }
    Ok(())
}

fn base(source: &TranscriptSource, line: u64, prompt: &str) -> Action {
    let mut environment = source.hook_fields.clone();
    environment.insert("transcript_line".to_owned(), line.into());
    Action {
        key: format!("line:{line}"),
        prompt: prompt.to_owned(),
        environment,
        model: source.hook_fields.get("model").and_then(ExactJson::as_str).unwrap_or_default().to_owned(),
        ..Action::default()
    }
}

/// The messages, and each tool that was called.
fn assistant(content: &ExactJson, base: &Action, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<()> {
    let text = message_text(content);
    if !text.is_empty() {
        each(Action {
            analysis: text.clone(),
            summary: cap_text(&text, CHAT_MAX),
            result: text.into(),
            ..base.clone()
        })?;
    }
    let blocks = content.as_array().unwrap_or_default().iter();
    for (index, block) in blocks.enumerate().filter(|(_, block)| block.text("type") == Some("tool_use")) {
        let tool = block.text("name").unwrap_or("tool").to_owned();
        let arguments = without_images(block.get("input").cloned().unwrap_or_default());
        each(Action {
            key: format!("{}:{index}", base.key),
            kind: ActionKind::Tool,
            // The text has no results.
            status: crate::OutcomeStatus::Pending,
            summary: summary(&tool, &first_text(&arguments, &TARGETS).unwrap_or_default()),
            call: Some(ToolInvocation { tool, arguments, ..ToolInvocation::default() }),
            ..base.clone()
        })?;
    }
    Ok(())
}

fn message_text(content: &ExactJson) -> String {
    match content {
        ExactJson::String(text) => text.clone(),
        ExactJson::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block.text("type") == Some("text"));
            let texts: Vec<&str> = texts.filter_map(|block| block.text("text")).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
