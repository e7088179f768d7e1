//! What the agent did: tools, commands, the browser, servers.

use super::action_builder::{ClineActionBuilder, ClineMessage, only, text_only};
use super::api::CallResult;
use crate::shape::{
    LineCounts, added_lines, cap, count_diff, first_text, one_line, start_of, summary, without_images,
};
use crate::status::StatusSignals;
use crate::{Action, ActionKind, Authority, OutcomeStatus, ToolInvocation};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;

const ARGUMENTS: [&str; 9] = [
    "path",
    "diff",
    "content",
    "regex",
    "filePattern",
    "startLineNumbers",
    "readLineStart",
    "readLineEnd",
    "operationIsLocatedInWorkspace",
];
const MCP_TEXT_MAX: usize = 1000;
/// How much output of a command is joined; more than is stored of any result.
const OUTPUT_BYTES: usize = 4 << 20;
/// What Cline appends to a command that needs approval.
const NEEDS_APPROVAL: &str = "REQ_APP";
const DENIED: &str = "The user denied this operation";

/// The names that the model uses for what the user sees under another name.
fn api_names(tool: &str) -> &[&str] {
    match tool {
        "readFile" => &["read_file"],
        "editedExistingFile" | "appliedDiff" => {
            &["replace_in_file", "write_to_file", "apply_diff", "apply_patch"]
        }
        "newFileCreated" => &["write_to_file", "replace_in_file", "apply_patch"],
        "fileDeleted" => &["delete_file", "apply_patch"],
        "listFilesTopLevel" | "listFilesRecursive" => &["list_files"],
        "listCodeDefinitionNames" => &["list_code_definition_names"],
        "searchFiles" => &["search_files"],
        "webFetch" => &["web_fetch"],
        "webSearch" => &["web_search"],
        "summarizeTask" => &["summarize_task", "condense"],
        "useSkill" => &["use_skill"],
        _ => &[],
    }
}

/// The outcome of a call, whether or not the model's side has it.
struct ToolOutcome {
    result: Option<String>,
    signals: StatusSignals,
    denied: bool,
}

impl ToolOutcome {
    /// Takes the call's result, and its reasoning into the action.
    fn resolve(joined: Option<CallResult>, builder: &mut ClineActionBuilder, action: &mut Action) -> Self {
        let joined = joined.unwrap_or_default();
        for thought in &joined.reasoning {
            builder.add_reasoning(action, thought);
        }
        if joined.redacted > 0 {
            action.environment.insert("redacted_thinking".to_owned(), joined.redacted.into());
        }
        if !joined.id.is_empty() {
            action.environment.insert("call_id".to_owned(), joined.id.into());
            action.environment.insert("api_tool".to_owned(), joined.name.into());
        }
        let head = joined.result.as_deref().unwrap_or_default().trim_start();
        let denied = head.starts_with(DENIED);
        let mut signals = StatusSignals::default();
        if joined.result.is_some() {
            signals.add(OutcomeStatus::Success);
        }
        if joined.is_error || head.starts_with("<error>") || head.starts_with("The tool execution failed") {
            signals.add(OutcomeStatus::Failure);
        }
        if denied {
            signals.add(OutcomeStatus::Blocked);
        }
        Self { result: joined.result, signals, denied }
    }

    fn is_done(&self) -> bool {
        self.signals.outcome() == OutcomeStatus::Success
    }
}

/// A tool that works on files or looks for something.
pub(super) fn tool(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Result<Action> {
    let mut action = builder.act(message);
    let object = message.object().unwrap_or_else(|| text_only(message.text).into());
    let name = object.text("tool").unwrap_or("tool").to_owned();
    let mut arguments: ExactJson = only(&object, &ARGUMENTS).into();
    if object.get("tool").is_none() {
        arguments = object.clone();
    }
    let text = |name: &str| object.text(name).filter(|text| !text.is_empty());
    let targets = [text("path").unwrap_or_default(), text("regex").unwrap_or_default()];
    let own = snake(&name);
    let names: Vec<&str> = api_names(&name).iter().copied().chain([own.as_str()]).collect();
    let joined = builder.api.join(&names, &targets)?;
    let outcome = ToolOutcome::resolve(joined, builder, &mut action);
    action.open |= message.is_last && outcome.result.is_none();
    action.summary = summary(
        &name,
        &first_text(&arguments, &["path", "regex", "filePattern", "text"]).unwrap_or_default(),
    );
    let change = text("diff").or(text("content")).filter(|text| is_diff(text));
    let new_file = text("content").filter(|_| name == "newFileCreated");
    let result: ExactJson = match change {
        None if let (Some(content), true) = (new_file, outcome.is_done()) => {
            let (diff, counts) = added_lines(content);
            action.summary += &counts.suffix();
            diff.into()
        }
        Some(change) if outcome.is_done() => {
            action.summary += &counts(change).suffix();
            change.into()
        }
        _ => match (&outcome.result, text("content")) {
            (Some(result), _) => result.as_str().into(),
            // Of a file that was read, the content is only its path.
            (None, Some(content)) if name != "readFile" => content.into(),
            _ => ExactJson::Null,
        },
    };
    let verb = match name.as_str() {
        "editedExistingFile" | "appliedDiff" => Some("edited"),
        "newFileCreated" => Some("wrote"),
        "fileDeleted" => Some("deleted"),
        _ => None,
    };
    if let (Some(verb), Some(path)) = (verb, text("path")) {
        action.side_effects.push(format!("{verb} {path}"));
    }
    let call = ToolInvocation { tool: name, arguments, result, duration_ms: None };
    let mut action = finish(action, message, &outcome, call);
    // A change is shown instead of what the tool said about it.
    if let Some(said) = &outcome.result {
        builder.ledger.add(&fields! { "result": said.as_str() }.into(), &mut action);
    }
    Ok(action)
}

/// A command, with everything it put out, however late.
pub(super) fn command(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Result<Action> {
    let mut action = builder.act(message);
    let command = message.text.strip_suffix(NEEDS_APPROVAL).unwrap_or(message.text);
    let joined = builder.api.join(&["execute_command"], &[command])?;
    let mut outcome = ToolOutcome::resolve(joined, builder, &mut action);
    action.open |= message.is_last;
    action.summary = summary("command", command);
    let mut output = outcome.result.clone();
    for part in message.parts.iter().filter_map(|part| part.text("text")).filter(|text| !text.is_empty()) {
        let output = output.get_or_insert_default();
        if output.len() < OUTPUT_BYTES {
            output.push_str(part);
        }
    }
    if let Some(output) = &output {
        outcome.signals.add(OutcomeStatus::Success);
        if exit_code(output).is_some_and(|code| code != 0) {
            outcome.signals.add(OutcomeStatus::Failure);
        }
    }
    action.side_effects.push(format!("ran {}", one_line(command)));
    let arguments = fields! { "command": command }.into();
    let duration_ms = duration(message);
    let call = ToolInvocation { tool: "command".to_owned(), arguments, result: output.into(), duration_ms };
    Ok(finish(action, message, &outcome, call))
}

/// An action in the browser. Only the length of a screenshot is stored.
pub(super) fn browser(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Result<Action> {
    let mut action = builder.act(message);
    let arguments = message.object().unwrap_or_else(|| text_only(message.text).into());
    let joined = builder.api.join(&["browser_action"], &[arguments.text("action").unwrap_or_default()])?;
    let mut outcome = ToolOutcome::resolve(joined, builder, &mut action);
    let shown = message.parts.first().map(|part| {
        let text = part.text("text").unwrap_or_default();
        capsid_model::exact::parse_lossy(text.as_bytes()).unwrap_or_default()
    });
    action.open |= message.is_last && shown.is_none();
    let mut target = first_text(&arguments, &["url", "text", "action"]).unwrap_or_default();
    let mut result = ExactJson::Null;
    if let Some(shown) = shown {
        outcome.signals.add(OutcomeStatus::Success);
        let url = shown.text("currentUrl").unwrap_or_default();
        let screenshot = shown.text("screenshot").unwrap_or_default();
        if !url.is_empty() {
            target = url.to_owned();
        }
        if !screenshot.is_empty() {
            action.side_effects.push(format!("captured screenshot of {url}"));
        }
        result = fields! {
            "currentUrl": url,
            "logs": shown.text("logs").unwrap_or_default(),
            "has_screenshot": !screenshot.is_empty(),
            "screenshot_bytes": screenshot.chars().count(),
        }
        .into();
    }
    action.summary = summary("browser_action", &target);
    let duration_ms = duration(message);
    let call = ToolInvocation { tool: "browser_action".to_owned(), arguments, result, duration_ms };
    Ok(finish(action, message, &outcome, call))
}

/// A call of a server, or what the server answered.
pub(super) fn mcp(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Result<Action> {
    let mut action = builder.act(message);
    let object = message.object();
    let mut outcome = ToolOutcome { result: None, signals: StatusSignals::default(), denied: false };
    if message.kind == "use_mcp_server" {
        let text = |name: &str| object.as_ref().and_then(|object| object.text(name)).unwrap_or_default();
        let targets = [text("toolName"), text("uri"), text("serverName")];
        let joined = builder.api.join(&["use_mcp_tool", "access_mcp_resource"], &targets)?;
        outcome = ToolOutcome::resolve(joined, builder, &mut action);
        action.open |= message.is_last && outcome.result.is_none();
    } else {
        // What a server answered is its result.
        outcome.signals.add(OutcomeStatus::Success);
    }
    let is_cut = object.is_none() && message.text.chars().nth(MCP_TEXT_MAX).is_some();
    let mut arguments: ExactFields = match object {
        Some(ExactJson::Object(object)) => object,
        _ => text_only(start_of(message.text, MCP_TEXT_MAX)),
    };
    if message.images() > 0 {
        arguments.insert("image_count".to_owned(), message.images().into());
    }
    let result: ExactJson = match &outcome.result {
        Some(result) => result.as_str().into(),
        None if is_cut => message.text.into(),
        None => ExactJson::Null,
    };
    action.summary = summary(message.kind, message.text);
    let arguments = without_images(arguments.into());
    let call = ToolInvocation { tool: message.kind.to_owned(), arguments, result, duration_ms: None };
    Ok(finish(action, message, &outcome, call))
}

/// Work that was handed to subagents, one for each prompt.
pub(super) fn subagents(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Result<Action> {
    let mut action = builder.act(message);
    let arguments = message.object().unwrap_or_else(|| text_only(message.text).into());
    let joined = builder.api.join(&[message.kind], &[])?;
    let outcome = ToolOutcome::resolve(joined, builder, &mut action);
    action.open |= message.is_last && outcome.result.is_none();
    let prompts = arguments.get("prompts").and_then(ExactJson::as_array).unwrap_or_default();
    let first = prompts.first().and_then(ExactJson::as_str).unwrap_or_default();
    action.summary = summary(message.kind, first);
    action.side_effects.push(format!("delegated to {} subagent(s)", prompts.len().max(1)));
    let result = outcome.result.clone().into();
    let call = ToolInvocation { tool: message.kind.to_owned(), arguments, result, duration_ms: None };
    Ok(Action { kind: ActionKind::Agent, ..finish(action, message, &outcome, call) })
}

/// The time from a call to the last message that completes it.
fn duration(message: &ClineMessage<'_>) -> Option<i64> {
    let began = message.json.get("ts")?.as_i64()?;
    let ended = message.parts.iter().filter_map(|part| part.get("ts")?.as_i64()).max()?;
    ended.checked_sub(began).filter(|took| *took >= 0)
}

/// What all calls have in common: who approved it, and whether it failed.
fn finish(
    mut action: Action,
    message: &ClineMessage<'_>,
    outcome: &ToolOutcome,
    mut call: ToolInvocation,
) -> Action {
    action.kind = ActionKind::Tool;
    action.end_with(&outcome.signals, " (error)");
    // A question whose answer is not known is no approval.
    action.authority = match (outcome.denied, message.is_ask, outcome.signals.is_silent()) {
        (true, ..) => Authority::escalated("user_decision=denied", "denied"),
        (false, true, true) => Authority::escalated("", "unknown"),
        (false, true, false) => Authority::approved(""),
        (false, false, _) => Authority::default(),
    };
    call.result = cap(call.result);
    action.call = Some(call);
    action
}

/// Whether a text shows a change: blocks to search and replace, or a unified diff.
fn is_diff(text: &str) -> bool {
    ["<<<<<<< SEARCH", "------- SEARCH", "@@ "].iter().any(|mark| text.contains(mark))
        || text.starts_with("---")
        || text.starts_with("+++")
}

/// The lines that came and went; of blocks to search and replace, those of each side.
fn counts(text: &str) -> LineCounts {
    #[derive(PartialEq)]
    enum DiffSide {
        None,
        Old,
        New,
    }
    let mut counts = LineCounts::default();
    let (mut side, mut has_blocks) = (DiffSide::None, false);
    for line in text.lines() {
        let mark = line.trim_end();
        if mark.starts_with("<<<<<<< SEARCH") || mark.starts_with("------- SEARCH") {
            (side, has_blocks) = (DiffSide::Old, true);
        } else if side == DiffSide::Old && mark == "=======" {
            side = DiffSide::New;
        } else if side == DiffSide::New && (mark == ">>>>>>> REPLACE" || mark == "+++++++ REPLACE") {
            side = DiffSide::None;
        } else if side == DiffSide::Old {
            counts.removed += 1;
        } else if side == DiffSide::New {
            counts.added += 1;
        }
    }
    if has_blocks { counts } else { count_diff(text) }
}

/// The exit code that is printed before a command's output, or in its last line.
fn exit_code(output: &str) -> Option<i64> {
    let head = output.split("\nOutput:").next().unwrap_or_default();
    let head = head.lines().next().unwrap_or_default();
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    [head, last].into_iter().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let (_, rest) = lower.split_once("exit code")?;
        let number = rest.trim_start_matches([':', ' ', '=']);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(number.len());
        number[..end].parse().ok()
    })
}

/// `listFiles` as `list_files`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_blocks_are_counted_by_their_sides() {
        let plain = "------- SEARCH\nlet n = 1\n=======\nlet n = 2\nlet m = 3\n+++++++ REPLACE\n";
        assert_eq!(counts(plain), LineCounts { added: 2, removed: 1 });
        let arrows =
            "<<<<<<< SEARCH\n-a\n+b\n=======\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n";
        assert_eq!(counts(arrows), LineCounts { added: 1, removed: 2 });
        assert_eq!(counts("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n+z"), LineCounts { added: 2, removed: 1 });
        assert!(is_diff(plain) && is_diff(arrows) && is_diff("@@ -1 +1 @@") && !is_diff("let a = 1"));
    }

    #[test]
    fn an_exit_code_is_told_in_the_first_or_the_last_line() {
        assert_eq!(exit_code("Command failed with exit code 2.\nOutput:\nx"), Some(2));
        assert_eq!(exit_code("Command executed.\nOutput:\nall fine\nExit code: 127\n"), Some(127));
        assert_eq!(exit_code("Command completed with exit code 0"), Some(0));
        assert_eq!(exit_code("Command executed.\nOutput:\nabout exit code 3\nmore"), None);
        assert_eq!(exit_code("exit code unknown"), None);
        assert_eq!(exit_code(""), None);
    }
}
