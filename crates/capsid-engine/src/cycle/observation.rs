//! What a cycle sees: its inputs, its history, and the signals in them.

use super::choice::ChoiceContext;
use super::past_cycles::PastCycles;
use crate::files::inputs::{self, InputRequest, Inputs};
use crate::files::matchers::load_matchers;
use crate::signals;
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_model::event::EvolutionEvent;
use capsid_model::signal::{is_cosmetic, with_problem};
use capsid_rules::diagnosis::Diagnosis;
use capsid_rules::learning::history::{HistoryDecision, HistoryInputs, apply_history};
use std::path::PathBuf;
use std::time::Instant;

/// Events looked at for history.
const HISTORY: usize = 80;

/// Where signals are read from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Logs that were named.
    pub logs: Vec<PathBuf>,
    /// Instead of USER.md.
    pub user: Option<PathBuf>,
    /// Instead of MEMORY.md.
    pub memory: Option<PathBuf>,
    /// What was piped in.
    pub stdin: Option<String>,
    /// Whether sessions of coding agents are read.
    pub sessions: bool,
    /// Something that somebody else asks for, instead of what is seen here.
    pub given: Option<ForeignRequest>,
    /// The command that reproduces the problem, if the user named one.
    pub repro: Option<String>,
    /// Signals that the user named.
    pub signals: Vec<String>,
    /// Whether the cycle belongs to a loop.
    pub is_loop: bool,
}

/// What somebody else asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignRequest {
    /// Their signals; where there are none they are looked for in the text.
    pub signals: Vec<String>,
    /// Their text, which is evidence and nothing else.
    pub text: String,
}

/// What was seen.
#[derive(Debug, Clone)]
pub struct Observation {
    /// What was read.
    pub inputs: Inputs,
    /// The problem in it, and where the logs show it.
    pub diagnosis: Diagnosis,
    /// Whether the user named the input: a log, standard input, a command, a signal or a task.
    pub is_explicit: bool,
    /// What earlier cycles mean for the signals.
    pub decision: HistoryDecision,
    /// The signals in it, in the light of earlier cycles.
    pub signals: Vec<String>,
    /// The last events, oldest first.
    pub history: Vec<EvolutionEvent>,
    /// How long looking took.
    pub scan_ms: u64,
}

/// Reads the inputs and the history and extracts the signals. Writes nothing.
pub fn observe(workspace: &Workspace, sources: &Sources) -> Result<Observation> {
    let start = Instant::now();
    let matchers = load_matchers(&workspace.repository.root, &workspace.config.problems.matchers)?;
    let inputs = inputs::gather(&InputRequest {
        workspace: &workspace.paths.workspace,
        repository: &workspace.repository.root,
        memory_dir: &workspace.paths.memory,
        log_files: &sources.logs,
        user_file: sources.user.as_deref(),
        memory_file: sources.memory.as_deref(),
        stdin: sources.given.as_ref().map(|given| given.text.clone()).or_else(|| sources.stdin.clone()),
        sessions: sources.sessions && workspace.config.cycle.sessions,
        home: workspace.home.as_deref(),
        env: &*workspace.env,
        matchers: &matchers,
        now: workspace.now(),
    })?;
    let history = workspace.store.events.recent(HISTORY)?;
    let mut seen = interpret(sources, inputs, history);
    seen.scan_ms = start.elapsed().as_millis() as u64;
    Ok(seen)
}

/// The signals of what was read, in the light of earlier cycles. Pure.
pub fn interpret(sources: &Sources, inputs: Inputs, history: Vec<EvolutionEvent>) -> Observation {
    let is_explicit = !sources.logs.is_empty()
        || sources.stdin.is_some()
        || sources.given.is_some()
        || sources.repro.is_some()
        || !sources.signals.is_empty();
    let given = sources.given.as_ref().map(|given| given.signals.as_slice()).unwrap_or_default();
    // Signals that somebody else gives stand for themselves.
    let diagnosis = if given.is_empty() { inputs.diagnosis.clone() } else { Diagnosis::default() };
    let mut found = sources.signals.clone();
    match given.is_empty() {
        true => found.extend(signals::extract(&inputs.corpus, &diagnosis)),
        false => found.extend(given.iter().cloned()),
    }
    remove_repeated(&mut found);
    let message_id = diagnosis.problem.as_ref().map(|problem| problem.ids().message);
    let past = PastCycles::new(&history, diagnosis.problem.as_ref());
    let cycles = past.as_cycles();
    let mut decision = apply_history(&HistoryInputs {
        cycles: &cycles,
        message_id: message_id.as_deref(),
        is_explicit,
        // Until a command decides, what a log shows is there.
        is_live: message_id.is_some(),
        is_loop: sources.is_loop,
        signals: &found,
    });
    decision.is_problem_free = message_id.is_none() && is_problem_free(sources, &inputs);
    let signals = decision.signals.clone();
    Observation { inputs, diagnosis, is_explicit, decision, signals, history, scan_ms: 0 }
}

/// Whether a log was named, nothing was recognised in it, and nothing else was asked for.
fn is_problem_free(sources: &Sources, inputs: &Inputs) -> bool {
    let asks_otherwise = !sources.signals.is_empty() || sources.repro.is_some() || sources.given.is_some();
    if inputs.named_logs.is_empty() || asks_otherwise {
        return false;
    }
    let corpus = signals::SignalCorpus {
        transcript: inputs.named_text.clone(),
        windows: Some(String::new()),
        ..signals::SignalCorpus::default()
    };
    signals::extract(&corpus, &Diagnosis::default()).iter().all(|signal| is_cosmetic(signal))
}

fn remove_repeated(signals: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    signals.retain(|signal| seen.insert(signal.clone()));
}

impl Observation {
    /// The message id of the problem.
    pub fn message_id(&self) -> Option<String> {
        self.diagnosis.problem.as_ref().map(|problem| problem.ids().message)
    }

    /// What the choice of a gene depends on besides the signals.
    pub fn choice_context(&self) -> ChoiceContext {
        ChoiceContext {
            learning: with_problem(&self.signals, self.message_id().as_deref()),
            passed_over: self.decision.passed_over_genes.clone(),
            problem: self.diagnosis.to_record(),
        }
    }

    /// Why there is nothing to do with a log that was named: what to say, and what to name instead.
    pub fn describe_problem_free(&self) -> Option<String> {
        self.decision
            .is_problem_free
            .then(|| format!("No problem found in {}. {NAME_SOMETHING}", self.inputs.describe_named_logs()))
    }
}

/// What to do where nothing was recognised.
pub const NAME_SOMETHING: &str = "Name a command with `--repro` or a signal with `--signal`.";

#[cfg(test)]
#[path = "observation_tests.rs"]
mod tests;
