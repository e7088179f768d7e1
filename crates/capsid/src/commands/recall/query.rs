//! What is asked for, and what answers it.

use super::{RecallArgs, RecallScope, trail};
use crate::commands::cycle::inputs;
use crate::commands::variable;
use capsid_engine::recall::history::{self, RecallHit, RecallSearch};
use capsid_engine::recall::{self, ProvenSolution, SHOWN};
use capsid_engine::workspace::Workspace;
use capsid_model::{Result, Value, json};
use capsid_rules::meaning::SemanticQuestion;
use capsid_seal::TrailHome;
use std::collections::HashSet;
use std::path::PathBuf;

/// The signal of a log in which nothing is wrong.
const QUIET: &str = "stable_success_plateau";

/// How many answers of the past are shown.
const PAST: usize = 10;

/// What was asked for, and what answers it.
pub(super) struct RecallResult {
    pub signals: Vec<String>,
    pub words: String,
    pub proven: Vec<ProvenSolution>,
    /// What the past tells; nothing where it was not looked at.
    pub past: Option<RecallHistory>,
}

/// What the past tells.
pub(super) struct RecallHistory {
    pub found: Vec<RecallHit>,
    /// Whether the words say nothing that could be looked for.
    pub is_vague: bool,
    /// Whether only a part of it was looked at.
    pub is_part: bool,
}

impl RecallResult {
    pub fn to_json(&self) -> Value {
        let mut value = json!({"signals": self.signals, "proven": self.proven});
        if let Some(past) = &self.past {
            value["words"] = self.words.as_str().into();
            value["found"] = json!(past.found);
        }
        value
    }
}

impl RecallArgs {
    /// What is asked for, and what answers it.
    pub(super) fn recall(&self, workspace: &Workspace) -> Result<RecallResult> {
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
        let proven = match self.includes_scope(RecallScope::Proven) {
            false => Vec::new(),
            true if words.is_empty() => recall::proven_for(workspace, &signals, &text, limit)?,
            true => {
                let question = SemanticQuestion::parse(&words, &[]);
                recall::proven_meant(workspace, &signals, &text, &question, limit)?
            }
        };
        let past = search.map(|search| self.past(workspace, search)).transpose()?;
        Ok(RecallResult { signals, words: asked, proven, past })
    }

    /// The signals among the words, and the others as they were written.
    fn split(&self, workspace: &Workspace) -> Result<(Vec<String>, String)> {
        if self.words.is_empty() {
            return Ok(Default::default());
        }
        let known = history::known_signals(workspace)?;
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
    fn question(&self, asked: &str, signals: &[String]) -> Option<RecallSearch> {
        let says_where = self.places.iter().any(|place| *place != RecallScope::Proven);
        match asked.is_empty() {
            false => Some(RecallSearch::new(asked, &[])),
            true => says_where.then(|| RecallSearch::new("", signals)),
        }
    }

    fn past(&self, workspace: &Workspace, mut search: RecallSearch) -> Result<RecallHistory> {
        let (is_vague, is_part) = (search.is_empty(), !self.places.is_empty());
        if is_vague {
            return Ok(RecallHistory { found: Vec::new(), is_vague, is_part });
        }
        if self.includes_scope(RecallScope::Events) {
            history::scan_events(workspace, &mut search)?;
        }
        if self.includes_scope(RecallScope::Memory) {
            history::scan_memory(workspace, &mut search)?;
        }
        if self.includes_scope(RecallScope::Trail)
            && let Ok(home) = TrailHome::find(None, &variable)
        {
            trail::search_trail(&home, &workspace.repository.root, &mut search);
        }
        let found = search.best(self.limit.unwrap_or(PAST));
        Ok(RecallHistory { found, is_vague, is_part })
    }

    fn includes_scope(&self, place: RecallScope) -> bool {
        self.places.is_empty() || self.places.contains(&place)
    }

    fn text(&self) -> Result<Option<String>> {
        text_of(self.query.as_ref(), &self.logs)
    }
}

/// The query and the logs, if any were given.
pub(super) fn text_of(query: Option<&String>, logs: &[PathBuf]) -> Result<Option<String>> {
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
