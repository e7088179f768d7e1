//! The start hook of a coding agent: a session that begins gets what is proven here.

use super::{RecallArgs, query};
use crate::commands::{trail as trail_command, variable, workspace};
use crate::output;
use capsid_engine::recall::{self, BUDGET, ProvenSolution, SHOWN};
use capsid_engine::workspace::Workspace;
use capsid_model::{Result, Value, json};
use capsid_trail::payload;
use capsid_transcript::Tool;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a starting session may wait for us.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much of that the tool has to send its payload.
const PAYLOAD_PATIENCE: Duration = Duration::from_millis(500);

/// Answers a tool that starts a session. Whatever happens, the session starts: no failure, no word, no long wait.
pub(super) fn answer(tool: &str, arguments: &RecallArgs, folder: &Path) {
    let Some(tool) = Tool::named(tool) else { return };
    // A panic is nobody's business here; the agent's terminal is not ours.
    std::panic::set_hook(Box::new(|_| {}));
    let named = (folder != Path::new(".")).then(|| folder.to_owned());
    let (words, query, logs) = (arguments.words.clone(), arguments.query.clone(), arguments.logs.clone());
    let limit = arguments.limit.unwrap_or(SHOWN).min(SHOWN);
    let budget = arguments.budget.min(BUDGET);
    let (send, answer) = sync_channel(1);
    std::thread::spawn(move || {
        let request = StartHookRequest { signals: words, query, logs, limit, budget };
        let text = catch_unwind(move || context(&request, named)).ok().flatten();
        // Nobody waits any more when this fails.
        let _ = send.send(text.unwrap_or_default());
    });
    let text = answer.recv_timeout(PATIENCE).unwrap_or_default();
    match text.is_empty() {
        true => output::print(payload::reply(tool)),
        false => output::print(&format!("{}\n", recall_answer(tool, &text))),
    }
}

/// What a start hook asks for: what is proven about signals, and nothing else.
struct StartHookRequest {
    signals: Vec<String>,
    query: Option<String>,
    logs: Vec<PathBuf>,
    limit: usize,
    budget: usize,
}

impl StartHookRequest {
    fn recall(&self, workspace: &Workspace) -> Result<Vec<ProvenSolution>> {
        let text = query::text_of(self.query.as_ref(), &self.logs)?;
        let mut signals = self.signals.clone();
        match &text {
            Some(text) => signals.extend(recall::signals_in(text)),
            None if signals.is_empty() => signals = recall::signals_here(workspace)?,
            None => {}
        }
        recall::proven_for(workspace, &signals, &text.unwrap_or_default(), self.limit)
    }
}

/// The context for the agent; none when nothing matches.
fn context(request: &StartHookRequest, named: Option<PathBuf>) -> Option<String> {
    let folders = named.map_or_else(payload_folders, |folder| vec![folder]);
    let workspace = folders
        .iter()
        .filter_map(|folder| workspace(folder).ok())
        .find(|candidate| candidate.store.exists())?;
    let recalled = request.recall(&workspace).ok()?;
    Some(recall::render(&recalled, request.budget)).filter(|text| !text.is_empty())
}

/// The folders that the tool names in its payload: each tool uses its own members.
fn payload_folders() -> Vec<PathBuf> {
    let payload = trail_command::hook_payload(PAYLOAD_PATIENCE).unwrap_or_default();
    let payload: Value = serde_json::from_str(payload.trim_start_matches('\u{feff}')).unwrap_or_default();
    let roots = ["workspace_roots", "workspaceRoots"].map(|name| payload[name].as_array());
    let listed = roots.into_iter().flatten().flatten().filter_map(Value::as_str).map(str::to_owned);
    let variables = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"].into_iter().filter_map(variable);
    let mut folders: Vec<String> = payload["cwd"].as_str().map(str::to_owned).into_iter().collect();
    folders.extend(listed.take(8).chain(variables));
    folders.push(".".to_owned());
    folders.into_iter().filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}

/// The answer in the form that a tool reads.
fn recall_answer(tool: Tool, text: &str) -> Value {
    match tool {
        Tool::ClaudeCode | Tool::Codex => {
            json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})
        }
        Tool::Cursor => json!({ "additional_context": text }),
        Tool::Cline => json!({"cancel": false, "contextModification": text}),
    }
}

/// Whether the program was called as a start hook, so that even wrong usage must not stop the agent.
pub(crate) fn is_hook_call(words: impl Iterator<Item = String>) -> bool {
    let words: Vec<String> = words.collect();
    let hook = |word: &String| word == "--hook" || word.starts_with("--hook=");
    words.iter().any(|word| word == "recall") && words.iter().any(hook)
}
