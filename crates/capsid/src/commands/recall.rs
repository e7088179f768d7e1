//! `capsid recall`: what this repository has proven before about what is seen now, and what its past tells of some words.

mod trail;

use super::{inputs, trail as trail_command, variable, workspace};
use crate::cli::Json;
use crate::output::{self, DIM, NAME, paint};
use capsid_engine::recall::past::{self, Found, Search};
use capsid_engine::recall::{self, BUDGET, Proven, SHOWN};
use capsid_engine::workspace::Workspace;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Result, Value, json};
use capsid_seal::Home;
use capsid_trail::payload;
use capsid_transcript::Tool;
use clap::{Args, ValueEnum};
use std::collections::HashSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a starting session may wait for us.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much of that is left to the tool for telling where it works.
const PAYLOAD_PATIENCE: Duration = Duration::from_millis(500);

/// The signal of a log in which nothing is wrong.
const QUIET: &str = "stable_success_plateau";

/// How many answers of the past are shown.
const PAST: usize = 10;

/// Show the proven solutions of this repository that answer what is seen now, or what its past tells of some words.
///
/// Proven is what succeeded under a validation that ran and has not failed since. What came from others counts once it
/// was promoted. Words, in English or Chinese, are looked for by their meaning in the events, the memory graph and the
/// sealed records of what agents did here. Nothing is written and nobody is asked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid recall                                      for what is in the logs and sessions now
  capsid recall log_error perf_bottleneck            for these signals
  capsid recall cart total wrong for an empty list   what the past tells of these words
  capsid recall 购物车 总价 --in events,trail        the same, in the events and the sealed records alone
  capsid recall --query 'TypeError: x is undefined'  for an error message
  npm test 2>&1 | capsid recall --log -              for what a log or a stack trace says
  capsid recall --hook claude-code                   what Claude Code is told when a session starts

With --hook it never fails and prints at most 3 solutions in at most 2000 characters; `capsid init --agent` sets it up.")]
pub struct Arguments {
    /// Recall for these words; those that are signals count as such. Without any, and without a query or a log, the inputs
    /// are read.
    #[arg(value_name = "WORD")]
    words: Vec<String>,

    /// Recall for this text, such as an error message: by its signals, and by its words.
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// Recall for what is in this log; may be given more than once, `-` reads stdin.
    #[arg(long = "log", value_name = "FILE")]
    logs: Vec<PathBuf>,

    /// The most solutions to show, and the most else (default: 3 and 10).
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Look only there.
    #[arg(long = "in", value_name = "PLACE", value_enum, value_delimiter = ',')]
    places: Vec<Where>,

    /// Answer as the start hook of claude-code, codex, cursor or cline. Another name does nothing.
    #[arg(long, value_name = "TOOL")]
    hook: Option<String>,

    /// The most characters that a hook tells.
    #[arg(long, value_name = "CHARS", default_value_t = BUDGET)]
    budget: usize,

    #[command(flatten)]
    pub(crate) json: Json,
}

/// Where it is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Where {
    /// Solutions that were proven here.
    Proven,
    /// The event log and the narrative.
    Events,
    /// The memory graph.
    Memory,
    /// Sealed records of what agents did here.
    Trail,
}

/// Runs the command.
pub fn run(arguments: &Arguments, folder: &Path) -> Result<u8> {
    if let Some(tool) = &arguments.hook {
        hook(tool, arguments, folder);
        return Ok(0);
    }
    let workspace = workspace(folder)?;
    workspace.require_store()?;
    let recalled = arguments.recall(&workspace)?;
    if arguments.json.json {
        output::document(&recalled.to_json());
        return Ok(0);
    }
    recalled.print();
    Ok(0)
}

/// What was asked for, and what answers it.
struct Recalled {
    signals: Vec<String>,
    words: String,
    proven: Vec<Proven>,
    /// What the past tells; nothing where it was not looked at.
    past: Option<Vec<Found>>,
}

impl Recalled {
    fn to_json(&self) -> Value {
        let mut value = json!({"signals": self.signals, "proven": self.proven});
        if let Some(past) = &self.past {
            value["words"] = self.words.as_str().into();
            value["found"] = json!(past);
        }
        value
    }

    fn print(&self) {
        let tells = self.past.as_ref().is_some_and(|past| !past.is_empty());
        match (self.proven.is_empty(), &self.past) {
            (true, None) => output::talk("Nothing that was proven here answers these signals."),
            (true, Some(_)) if !tells => output::talk("Nothing in this repository's past tells of that."),
            _ => {}
        }
        output::print(&list(&self.proven));
        output::print(&told(self.past.as_deref().unwrap_or_default()));
        output::talk(paint(DIM, format_args!("signals: {}", inert_line(&self.signals.join(", ")))));
    }
}

impl Arguments {
    /// What is asked for, and what answers it.
    fn recall(&self, workspace: &Workspace) -> Result<Recalled> {
        let (mut signals, words) = self.split(workspace)?;
        let text = self.text()?;
        // A log without any trouble is a sign of its own; words about something are not.
        let says_something = |signal: &String| words.is_empty() || signal != QUIET;
        let told = [Some(words.clone()).filter(|words| !words.is_empty()), text].into_iter().flatten();
        let told: Vec<String> = told.collect();
        match told.is_empty() {
            false => signals.extend(recall::signals_in(&told.join("\n")).into_iter().filter(says_something)),
            true if signals.is_empty() => signals = recall::signals_here(workspace)?,
            true => {}
        }
        let asked = self.asked(&words);
        let search = self.question(&asked, &signals);
        let limit = self.limit.unwrap_or(SHOWN);
        let text = told.join("\n");
        let proven = match self.looks_at(Where::Proven) {
            false => Vec::new(),
            true if words.is_empty() => recall::proven_for(workspace, &signals, &text, limit)?,
            true => {
                let question = capsid_rules::meaning::Question::of(&words, &[]);
                recall::proven_meant(workspace, &signals, &text, &question, limit)?
            }
        };
        let past = search.map(|search| self.past(workspace, search)).transpose()?;
        Ok(Recalled { signals, words: asked, proven, past })
    }

    /// The signals among the words, and the others as they were written.
    fn split(&self, workspace: &Workspace) -> Result<(Vec<String>, String)> {
        if self.words.is_empty() {
            return Ok(Default::default());
        }
        let known = past::known_signals(workspace)?;
        let (signals, words): (Vec<&String>, Vec<&String>) =
            self.words.iter().partition(|word| is_signal(word, &known));
        Ok((
            signals.into_iter().cloned().collect(),
            words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        ))
    }

    /// What the past is asked for: the words with the signals among them, and the query. Words that are all signals ask
    /// for what is proven about them, as no words at all do.
    fn asked(&self, words: &str) -> String {
        let typed = if words.is_empty() { String::new() } else { self.words.join(" ") };
        [typed.as_str(), self.query.as_deref().unwrap_or_default()].join(" ").trim().to_owned()
    }

    /// The search of the past: for what is asked, or for the signals where somebody says where to look.
    fn question(&self, asked: &str, signals: &[String]) -> Option<Search> {
        let says_where = self.places.iter().any(|place| *place != Where::Proven);
        match asked.is_empty() {
            false => Some(Search::new(asked, &[])),
            true => says_where.then(|| Search::new("", signals)),
        }
    }

    fn past(&self, workspace: &Workspace, mut search: Search) -> Result<Vec<Found>> {
        if search.is_empty() {
            return Ok(Vec::new());
        }
        if self.looks_at(Where::Events) {
            past::look_at_events(workspace, &mut search)?;
        }
        if self.looks_at(Where::Memory) {
            past::look_at_memory(workspace, &mut search)?;
        }
        if self.looks_at(Where::Trail)
            && let Ok(home) = Home::find(None, &variable)
        {
            trail::look(&home, &workspace.repository.root, &mut search);
        }
        Ok(search.best(self.limit.unwrap_or(PAST)))
    }

    fn looks_at(&self, place: Where) -> bool {
        self.places.is_empty() || self.places.contains(&place)
    }

    fn text(&self) -> Result<Option<String>> {
        text_of(self.query.as_ref(), &self.logs)
    }
}

/// The query and the logs, if any were given.
fn text_of(query: Option<&String>, logs: &[PathBuf]) -> Result<Option<String>> {
    let mut texts: Vec<String> = query.into_iter().cloned().collect();
    for log in logs {
        texts.push(inputs::log(log)?);
    }
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

/// Whether a word names a signal: one that is known here, or one of the form that only signals have.
fn is_signal(word: &str, known: &HashSet<String>) -> bool {
    let has_form = word.contains(['_', ':']) && !word.contains(char::is_whitespace);
    has_form || known.contains(&word.to_lowercase())
}

/// What the past tells, each on a few lines, with the command that shows it.
fn told(found: &[Found]) -> String {
    let mut text = String::new();
    for one in found {
        let piece = &one.piece;
        let at = piece.at.as_deref().map(|at| cut(&inert_line(at), 10).to_owned()).unwrap_or_default();
        text += &format!(
            "{}  {}\n  {}\n  {}\n",
            paint(NAME, inert_line(&piece.id)),
            paint(
                DIM,
                format_args!(
                    "{} {at} {}",
                    piece.place.as_str(),
                    inert_line(piece.ended.as_deref().unwrap_or(""))
                )
            ),
            cut(&inert_line(&piece.text), 300),
            paint(DIM, inert_line(&piece.show)),
        );
    }
    text
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
    let (words, query, logs) = (arguments.words.clone(), arguments.query.clone(), arguments.logs.clone());
    let limit = arguments.limit.unwrap_or(SHOWN).min(SHOWN);
    let budget = arguments.budget.min(BUDGET);
    let (send, answer) = sync_channel(1);
    std::thread::spawn(move || {
        let asked = Hooked { signals: words, query, logs, limit, budget };
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

/// What a start hook asks for: what is proven about signals, and nothing else.
struct Hooked {
    signals: Vec<String>,
    query: Option<String>,
    logs: Vec<PathBuf>,
    limit: usize,
    budget: usize,
}

impl Hooked {
    fn recall(&self, workspace: &Workspace) -> Result<Vec<Proven>> {
        let text = text_of(self.query.as_ref(), &self.logs)?;
        let mut signals = self.signals.clone();
        match &text {
            Some(text) => signals.extend(recall::signals_in(text)),
            None if signals.is_empty() => signals = recall::signals_here(workspace)?,
            None => {}
        }
        recall::proven_for(workspace, &signals, &text.unwrap_or_default(), self.limit)
    }
}

/// What the agent is told; nothing when there is nothing to tell.
fn context(asked: &Hooked, named: Option<PathBuf>) -> Option<String> {
    let folders = named.map_or_else(told_folders, |folder| vec![folder]);
    let workspace =
        folders.iter().filter_map(|folder| workspace(folder).ok()).find(|place| place.store.exists())?;
    let found = asked.recall(&workspace).ok()?;
    Some(recall::render(&found, asked.budget)).filter(|text| !text.is_empty())
}

/// Where the tool says that it works: each tells it in its own way.
fn told_folders() -> Vec<PathBuf> {
    let told = trail_command::hook_payload(PAYLOAD_PATIENCE).unwrap_or_default();
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
