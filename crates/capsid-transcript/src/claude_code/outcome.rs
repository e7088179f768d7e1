//! What came of a call, shaped by its tool.

use crate::shape::{LineCounts, added_lines, cap, first_text, joined, one_line, without_images};
use crate::status::{OutcomeStatus, StatusSignals};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;

/// Most addresses of a search that are stored.
const URLS_MAX: usize = 30;
/// A line that holds the results of more calls than this cannot be assigned to a single one of them.
pub(super) const SHARED_MAX: usize = 16;

/// A result as the transcript has it.
#[derive(Debug, Default)]
pub(super) struct RawResult {
    pub(super) content: ExactJson,
    pub(super) signals: StatusSignals,
    pub(super) refusal: Option<Refusal>,
    pub(super) timestamp: String,
    /// What the tool reports about it apart from the content.
    pub(super) payload: Option<ExactJson>,
}

impl RawResult {
    /// The result of a call in the line that holds it.
    pub(super) fn find(line: &ExactJson, block: u32, call: &str) -> Option<Self> {
        let blocks = line.at(&["message", "content"])?.as_array()?;
        let result_block =
            blocks.get(block as usize).filter(|block| block.text("tool_use_id") == Some(call))?;
        let payload = line.get("toolUseResult").filter(|_| blocks.len() <= SHARED_MAX);
        Some(Self {
            content: result_block.get("content").cloned().unwrap_or_default(),
            signals: signals(result_block, line.get("toolUseResult")),
            refusal: answer_of(result_block),
            timestamp: line.text("timestamp").unwrap_or_default().to_owned(),
            payload: payload.filter(|payload| payload.as_object().is_some()).cloned(),
        })
    }
}

/// The part of a line that belongs to one result: all of it where the line holds nothing else.
pub(super) fn entry_of(tool: &str, line: &ExactJson, block: u32) -> ExactJson {
    let blocks = line.at(&["message", "content"]).and_then(ExactJson::as_array).unwrap_or_default();
    let mut entry = match blocks {
        [_] => line.clone(),
        _ => {
            let own = blocks.get(block as usize).cloned().unwrap_or_default();
            let payload = line.get("toolUseResult").filter(|_| blocks.len() <= SHARED_MAX).cloned();
            fields! { "block": own, "toolUseResult": payload.unwrap_or_default() }.into()
        }
    };
    // Whole transcripts of subagents are left out: they are read from their own files.
    if matches!(tool, "Agent" | "Task")
        && let ExactJson::Object(fields) = &mut entry
        && let Some(ExactJson::Object(payload)) = fields.get_mut("toolUseResult")
    {
        payload.shift_remove("content");
    }
    entry
}

/// What a result says about how its call ended. The API marks errors, and a result without a mark is a good one.
fn signals(block: &ExactJson, payload: Option<&ExactJson>) -> StatusSignals {
    let mut signals = StatusSignals::default();
    signals.add(OutcomeStatus::Success);
    signals.error_mark(block.get("is_error"));
    if answer_of(block).is_some() {
        signals.add(OutcomeStatus::Blocked);
    }
    if let Some(payload) = payload {
        let is_interrupted = payload.get("interrupted").is_some_and(ExactJson::is_truthy);
        if is_interrupted {
            signals.add(OutcomeStatus::Failure);
        }
        signals.exit_code(payload.get("exitCode").or_else(|| payload.get("exit_code")));
        signals.success_mark(payload.get("success"));
        signals.parts(payload.get("results"));
    }
    signals
}

/// Who refused a call that was not run: the user, or a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    User,
    /// A rule, in the tool's words.
    Rule(String),
}

const BY_USER: [&str; 3] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "[Request interrupted by user for tool use]",
];
const BY_RULE: [&str; 3] =
    ["Permission to use ", "Permission for this action has been denied", "Claude requested permissions "];

/// Who refused the call, in the words of its result.
pub(super) fn answer_of(block: &ExactJson) -> Option<Refusal> {
    if !block.get("is_error").is_some_and(ExactJson::is_truthy) {
        return None;
    }
    let text = match block.get("content")? {
        ExactJson::String(text) => text.as_str(),
        ExactJson::Array(blocks) => blocks.iter().find_map(|block| block.text("text"))?,
        _ => return None,
    };
    let starts = |starts: &[&str]| starts.iter().any(|start| text.trim_start().starts_with(start));
    match () {
        () if starts(&BY_USER) => Some(Refusal::User),
        () if starts(&BY_RULE) => Some(Refusal::Rule(one_line(text))),
        () => None,
    }
}

/// What an action stores about its result.
#[derive(Debug, Default)]
pub(super) struct ShapedResult {
    pub(super) result: ExactJson,
    pub(super) payload: ExactJson,
    pub(super) suffix: String,
    pub(super) side_effects: Vec<String>,
}

/// Shapes the result of a call.
pub(super) fn shape(tool: &str, arguments: &ExactJson, raw: RawResult) -> ShapedResult {
    let Some(ExactJson::Object(mut payload)) = raw.payload else {
        return ShapedResult {
            result: cap(without_images(raw.content)),
            payload: ExactFields::new().into(),
            ..ShapedResult::default()
        };
    };
    let mut shaped = match tool {
        "Edit" | "Write" | "NotebookEdit" | "MultiEdit" => edited(tool, arguments, &payload),
        "Bash" => ran(&payload),
        "Read" => was_read(&payload),
        "WebSearch" => searched(&payload),
        "WebFetch" => fetched(&payload),
        "Agent" | "Task" => delegated(arguments, &payload),
        _ => ShapedResult::default(),
    };
    if shaped.result.is_null() {
        shaped.result = raw.content;
    }
    lighten(tool, &mut payload);
    shaped.result = cap(without_images(shaped.result));
    shaped.payload = cap(without_images(payload.into()));
    shaped
}

/// Leaves out what is large and stored elsewhere: complete files and transcripts.
fn lighten(tool: &str, payload: &mut ExactFields) {
    match tool {
        "Edit" | "Write" | "NotebookEdit" | "MultiEdit" => {
            for name in ["originalFile", "original_file", "updated_file"] {
                payload.shift_remove(name);
            }
        }
        "Agent" | "Task" => {
            let messages = messages_in(payload);
            payload.shift_remove("content");
            payload.insert("subagent_message_count".to_owned(), messages.into());
        }
        _ => {}
    }
}

fn edited(tool: &str, arguments: &ExactJson, payload: &ExactFields) -> ShapedResult {
    let Some(hunks) = payload.get("structuredPatch").and_then(ExactJson::as_array) else {
        return ShapedResult::default();
    };
    let mut counts = LineCounts::default();
    let mut diff = Vec::new();
    for hunk in hunks {
        let number = |name: &str| hunk.get(name).map(|value| joined(value, "")).unwrap_or_default();
        let [old, old_lines, new, new_lines] = ["oldStart", "oldLines", "newStart", "newLines"].map(number);
        diff.push(format!("@@ -{old},{old_lines} +{new},{new_lines} @@"));
        for line in hunk.get("lines").and_then(ExactJson::as_array).unwrap_or_default() {
            let line = joined(line, "");
            counts.line(&line);
            diff.push(line);
        }
    }
    let path = first_text(arguments, &["file_path", "notebook_path", "path"])
        .or_else(|| payload.get("filePath").map(|path| joined(path, "")))
        .unwrap_or_default();
    let verb = if tool == "Write" { "wrote" } else { "edited" };
    let mut side_effects = vec![format!("{verb} {path}")];
    if payload.get("userModified").is_some_and(ExactJson::is_truthy) {
        side_effects.push("user modified after".to_owned());
    }
    let mut diff = diff.join("\n");
    // A new file has no hunks.
    let content = payload.get("content").or_else(|| arguments.get("content")).and_then(ExactJson::as_str);
    if let Some(content) = content.filter(|_| diff.is_empty() && is_new(tool, payload)) {
        (diff, counts) = added_lines(content);
    }
    let (result, suffix) = if diff.is_empty() {
        (ExactJson::Null, String::new())
    } else {
        (ExactJson::from(diff), counts.suffix())
    };
    ShapedResult { result, suffix, side_effects, ..ShapedResult::default() }
}

/// Whether a file was written that was not there.
fn is_new(tool: &str, payload: &ExactFields) -> bool {
    let is_created = payload.get("type").and_then(ExactJson::as_str) == Some("create");
    tool == "Write" && (is_created || payload.get("originalFile").is_some_and(ExactJson::is_null))
}

fn ran(payload: &ExactFields) -> ShapedResult {
    let text = |name: &str| payload.get(name).and_then(ExactJson::as_str).unwrap_or_default();
    if !payload.contains_key("stdout") && !payload.contains_key("stderr") {
        return ShapedResult::default();
    }
    let mut output = text("stdout").to_owned();
    if !text("stderr").is_empty() {
        output.push_str("\n[stderr]\n");
        output.push_str(text("stderr"));
    }
    let interrupted = payload.get("interrupted").is_some_and(ExactJson::is_truthy);
    let suffix = if interrupted { " (interrupted)" } else { "" };
    ShapedResult { result: output.into(), suffix: suffix.to_owned(), ..ShapedResult::default() }
}

fn was_read(payload: &ExactFields) -> ShapedResult {
    let file = payload.get("file").unwrap_or(&ExactJson::Null);
    let lines = file.get("numLines").filter(|lines| !lines.is_null());
    ShapedResult {
        result: file.get("content").filter(|content| content.as_str().is_some()).cloned().unwrap_or_default(),
        suffix: lines.map(|lines| format!(" ({} lines)", joined(lines, ""))).unwrap_or_default(),
        ..ShapedResult::default()
    }
}

fn searched(payload: &ExactFields) -> ShapedResult {
    let results = payload.get("results").and_then(ExactJson::as_array).unwrap_or_default();
    let pages = results.iter().filter_map(|result| result.get("content")?.as_array()).flatten();
    let urls: Vec<&str> = pages.filter_map(|page| page.text("url")).collect();
    let query = payload.get("query").cloned().unwrap_or_else(|| "".into());
    let shown: Vec<&str> = urls.iter().copied().take(URLS_MAX).collect();
    ShapedResult {
        result: fields! { "query": query, "urls": shown }.into(),
        suffix: format!(" ({} results)", urls.len()),
        ..ShapedResult::default()
    }
}

fn fetched(payload: &ExactFields) -> ShapedResult {
    let code = payload.get("code").filter(|code| !code.is_null());
    ShapedResult {
        result: payload.get("result").cloned().unwrap_or_default(),
        suffix: code.map(|code| format!(" (HTTP {})", joined(code, ""))).unwrap_or_default(),
        ..ShapedResult::default()
    }
}

fn messages_in(payload: &ExactFields) -> usize {
    payload.get("content").and_then(ExactJson::as_array).map_or(0, <[ExactJson]>::len)
}

fn delegated(arguments: &ExactJson, payload: &ExactFields) -> ShapedResult {
    let kind = payload.get("agentType").filter(|kind| kind.is_truthy()).or(arguments.get("subagent_type"));
    let kind = kind.filter(|kind| kind.is_truthy()).map_or("subagent".to_owned(), |kind| joined(kind, ""));
    let number = |value: Option<&ExactJson>| {
        value.filter(|value| value.is_truthy()).map_or("0".into(), |v| joined(v, ""))
    };
    let stat = |name: &str| number(payload.get("toolStats").and_then(|stats| stats.get(name)));
    let suffix = format!(
        " [{kind}: {} edits, +{}/-{}, {} tool calls]",
        stat("editFileCount"),
        stat("linesAdded"),
        stat("linesRemoved"),
        number(payload.get("totalToolUseCount"))
    );
    let effect = format!("delegated to {kind} subagent ({} messages)", messages_in(payload));
    ShapedResult { suffix, side_effects: vec![effect], ..ShapedResult::default() }
}
