//! What a cycle sees: its inputs, its history, and the signals in them.

use crate::files::inputs;
use crate::files::inputs::{InputRequest, Inputs};
use crate::signals;
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_model::event::EvolutionEvent;
use capsid_rules::diagnosis::Diagnosis;
use capsid_rules::learning::history::HistoryDecision;
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
        now: workspace.now(),
    })?;
    let history = workspace.store.events.recent(HISTORY)?;
    let named = sources.given.iter().flat_map(|given| given.signals.iter().cloned());
    let named: Vec<String> = named.collect();
    let signals = if named.is_empty() { signals::extract(&inputs.corpus, &history) } else { named };
    let is_explicit = !sources.logs.is_empty() || sources.stdin.is_some() || sources.given.is_some();
    let (diagnosis, decision) = Default::default();
    Ok(Observation {
        inputs,
        diagnosis,
        is_explicit,
        decision,
        signals,
        history,
        scan_ms: start.elapsed().as_millis() as u64,
    })
}
