//! The query of `capsid recall`, and its result.

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

/// The query and its result.
pub(super) struct RecallResult {
    pub signals: Vec<String>,
    pub words: String,
    pub proven: Vec<ProvenSolution>,
    /// What the history holds; none where it was not searched.
    pub past: Option<RecallHistory>,
}

/// What the history holds.
pub(super) struct RecallHistory {
    pub hits: Vec<RecallHit>,
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
            value["found"] = json!(past.hits);
        }
        value
    }
}

impl RecallArgs {
    /// Runs the query.
    pub(super) fn recall(&self, workspace: &Workspace) -> Result<RecallResult> {
        let (mut signals, words) = self.split(workspace)?;
        let text = self.text()?;
        // A log without any trouble is a sign of its own; words about something are not.
        let says_something = |signal: &String| words.is_empty() || signal != QUIET;
        let texts = [Some(words.clone()).filter(|words| !words.is_empty()), text].into_iter().flatten();
        let texts: Vec<String> = texts.collect();
        match texts.is_empty() {
            false => signals.extend(recall::signals_in(&texts.join("\n")).into_iter().filter(says_something)),
            true if signals.is_empty() => signals = recall::signals_here(workspace)?,
            true => {}
        }
        let query = self.query_text(&words);
        let search = self.build_search(&query, &signals);
        let limit = self.limit.unwrap_or(SHOWN);
        let text = texts.join("\n");
        let proven = match self.includes_scope(RecallScope::Proven) {
            false => Vec::new(),
            true if words.is_empty() => recall::proven_for(workspace, &signals, &text, limit)?,
            true => {
                let question = SemanticQuestion::parse(&words, &[]);
                recall::proven_meant(workspace, &signals, &text, &question, limit)?
            }
        };
        let past = search.map(|search| self.past(workspace, search)).transpose()?;
        Ok(RecallResult { signals, words: query, proven, past })
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

    /// The text that the history is searched for: the words with the signals among them, and the query. Words that are all
    /// signals search the proven solutions only, as no words at all do.
    fn query_text(&self, words: &str) -> String {
        let typed = if words.is_empty() { String::new() } else { self.words.join(" ") };
        [typed.as_str(), self.query.as_deref().unwrap_or_default()].join(" ").trim().to_owned()
    }

    /// The search of the history: for the query, or for the signals where `--in` names a scope.
    fn build_search(&self, query: &str, signals: &[String]) -> Option<RecallSearch> {
        let says_where = self.scopes.iter().any(|scope| *scope != RecallScope::Proven);
        match query.is_empty() {
            false => Some(RecallSearch::new(query, &[])),
            true => says_where.then(|| RecallSearch::new("", signals)),
        }
    }

    fn past(&self, workspace: &Workspace, mut search: RecallSearch) -> Result<RecallHistory> {
        let (is_vague, is_part) = (search.is_empty(), !self.scopes.is_empty());
        if is_vague {
            return Ok(RecallHistory { hits: Vec::new(), is_vague, is_part });
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
        let hits = search.best(self.limit.unwrap_or(PAST));
        Ok(RecallHistory { hits, is_vague, is_part })
    }

    fn includes_scope(&self, scope: RecallScope) -> bool {
        self.scopes.is_empty() || self.scopes.contains(&scope)
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
