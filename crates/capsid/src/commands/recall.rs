//! `capsid recall`: what this repository has proven before about what is seen now.

use super::{inputs, trail, variable, workspace};
use crate::cli::Json;
use crate::output::{self, DIM, NAME, paint};
use capsid_engine::recall::{self, BUDGET, Proven, SHOWN};
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Result, Value, json};
use capsid_trail::payload;
use capsid_transcript::Tool;
use clap::Args;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a starting session may wait for us.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much of that is left to the tool for telling where it works.
const PAYLOAD_PATIENCE: Duration = Duration::from_millis(500);

/// Show the proven solutions of this repository that answer what is seen now. Nothing is written.
///
/// Proven is what succeeded under a validation that ran and has not failed since. What came from others counts once it
/// was promoted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid recall                                      for what is in the logs and sessions now
  capsid recall log_error perf_bottleneck            for these signals
  capsid recall --query 'TypeError: x is undefined'  for an error message
  npm test 2>&1 | capsid recall --log -              for what a log or a stack trace says
  capsid recall --hook claude-code                   what Claude Code is told when a session starts

With --hook it never fails and prints at most 3 solutions in at most 2000 characters; `capsid init --agent` sets it up.")]
pub struct Arguments {
    /// Recall for these signals. Without any, and without a query or a log, the inputs are read.
    #[arg(value_name = "SIGNAL")]
    signals: Vec<String>,

    /// Recall for this text, such as an error message: by its signals, and by its words.
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// Recall for what is in this log; may be given more than once, `-` reads stdin.
    #[arg(long = "log", value_name = "FILE")]
    logs: Vec<PathBuf>,

    /// The most solutions to show.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    limit: usize,

    /// Answer as the start hook of claude-code, codex, cursor or cline. Another name does nothing.
    #[arg(long, value_name = "TOOL")]
    hook: Option<String>,

    /// The most characters that a hook tells.
    #[arg(long, value_name = "CHARS", default_value_t = BUDGET)]
    budget: usize,

    #[command(flatten)]
    pub(crate) json: Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    if let Some(tool) = &arguments.hook {
        hook(tool, arguments, folder);
        return Ok(0);
    }
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let (signals, found) = arguments.recall(&workspace)?;
    if arguments.json.json {
        output::document(&json!({"signals": signals, "proven": found}));
        return Ok(0);
    }
    if found.is_empty() {
        output::talk("Nothing that was proven here answers these signals.");
    }
    output::print(&list(&found));
    output::talk(paint(DIM, format_args!("signals: {}", inert_line(&signals.join(", ")))));
    Ok(0)
}

impl Arguments {
    /// What is asked for, and what answers it.
    fn recall(&self, workspace: &Workspace) -> Result<(Vec<String>, Vec<Proven>)> {
        let text = self.text()?;
        let mut signals = self.signals.clone();
        match &text {
            Some(text) => signals.extend(recall::signals_in(text)),
            None if signals.is_empty() => signals = recall::signals_here(workspace)?,
            None => {}
        }
        let found = recall::proven_for(workspace, &signals, &text.unwrap_or_default(), self.limit)?;
        Ok((signals, found))
    }

    /// The query and the logs, if any were given.
    fn text(&self) -> Result<Option<String>> {
        let mut texts: Vec<String> = self.query.iter().cloned().collect();
        for log in &self.logs {
            texts.push(inputs::log(log)?);
        }
        Ok((!texts.is_empty()).then(|| texts.join("\n")))
    }
}

/// Each solution on a few lines, with its provenance.
fn list(found: &[Proven]) -> String {
    let mut text = String::new();
    for solution in found {
        let last = match (&solution.last_event_id, &solution.last_used) {
            (Some(event), Some(at)) => format!("{} on {}", inert_line(event), cut(at, 10)),
            (Some(event), None) => inert_line(event),
            (None, _) => "proven elsewhere, not used here yet".to_owned(),
        };
        text += &format!(
            "{}  {}\n  {}\n  {}\n",
            paint(NAME, inert_line(&solution.id)),
            paint(DIM, format_args!("score {:.2}", solution.score)),
            cut(&inert_line(&solution.summary), 200),
            paint(
                DIM,
                format_args!(
                    "{}, gene {}, confidence {:.2}, {} in a row, last: {last}, from: {}",
                    inert_line(&solution.asset_id),
                    inert_line(&solution.gene),
                    solution.confidence,
                    solution.streak,
                    inert_line(solution.source.as_str()),
                )
            ),
        );
    }
    text
}

/// Answers a tool that starts a session. Whatever happens, the session starts: no failure, no word, no long wait.
fn hook(tool: &str, arguments: &Arguments, folder: &Path) {
    let Some(tool) = Tool::named(tool) else { return };
    // A panic is nobody's business here; the agent's terminal is not ours.
    std::panic::set_hook(Box::new(|_| {}));
    let named = (folder != Path::new(".")).then(|| folder.to_owned());
    let (signals, query, logs) = (arguments.signals.clone(), arguments.query.clone(), arguments.logs.clone());
    let (limit, budget) = (arguments.limit.min(SHOWN), arguments.budget.min(BUDGET));
    let (send, answer) = sync_channel(1);
    std::thread::spawn(move || {
        let asked = Arguments { signals, query, logs, limit, budget, hook: None, json: Json { json: false } };
        let text = catch_unwind(move || context(&asked, named)).ok().flatten();
        // Nobody waits any more when this fails.
        let _ = send.send(text.unwrap_or_default());
    });
    let text = answer.recv_timeout(PATIENCE).unwrap_or_default();
    match text.is_empty() {
        true => output::print(payload::reply(tool)),
        false => output::print(&format!("{}\n", answer_of(tool, &text))),
    }
}

/// What the agent is told; nothing when there is nothing to tell.
fn context(arguments: &Arguments, named: Option<PathBuf>) -> Option<String> {
    let folders = named.map_or_else(told_folders, |folder| vec![folder]);
    let workspace =
        folders.iter().filter_map(|folder| workspace(folder).ok()).find(|place| place.store.exists())?;
    let (_, found) = arguments.recall(&workspace).ok()?;
    Some(recall::render(&found, arguments.budget)).filter(|text| !text.is_empty())
}

/// Where the tool says that it works: each tells it in its own way.
fn told_folders() -> Vec<PathBuf> {
    let told = trail::hook_payload(PAYLOAD_PATIENCE).unwrap_or_default();
    let told: Value = serde_json::from_str(told.trim_start_matches('\u{feff}')).unwrap_or_default();
    let roots = ["workspace_roots", "workspaceRoots"].map(|name| told[name].as_array());
    let listed = roots.into_iter().flatten().flatten().filter_map(Value::as_str).map(str::to_owned);
    let variables = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"].into_iter().filter_map(variable);
    let mut folders: Vec<String> = told["cwd"].as_str().map(str::to_owned).into_iter().collect();
    folders.extend(listed.take(8).chain(variables));
    folders.push(".".to_owned());
    folders.into_iter().filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}

/// The answer in the form that a tool reads.
fn answer_of(tool: Tool, text: &str) -> Value {
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
