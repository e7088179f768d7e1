//! `capsid signals`: what the engine sees.

use super::inputs::InputArgs;
use crate::commands::workspace;
use crate::output::{self, DIM, NAME, paint};
use capsid_engine::cycle::observation::{self, Observation, Sources};
use capsid_engine::files::inputs;
use capsid_engine::files::inputs::InputRequest;
use capsid_engine::files::paths::RepositoryPaths;
use capsid_engine::signals;
use capsid_model::signal::{is_control, is_cosmetic, signal_key};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, json};
use clap::Args;
use std::path::{Path, PathBuf};

/// Show the signals in the logs, notes and sessions of this repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid signals                      what the next cycle would see
  capsid signals --log build.log      what it would see in a log
  npm test 2>&1 | capsid signals --log - --json

With a named input it also works outside of a git repository.")]
pub struct SignalsArgs {
    #[command(flatten)]
    inputs: InputArgs,
}

/// Runs the command.
pub fn run(arguments: &SignalsArgs, folder: &Path) -> Result<u8> {
    let sources = arguments.inputs.sources()?;
    let sight = match workspace(folder) {
        Ok(workspace) => observation::observe(&workspace, &sources)?,
        Err(problem) if problem.code == Code::NotAGitRepository && arguments.inputs.names_any() => {
            extract_without_history(folder, &sources)?
        }
        Err(problem) => return Err(problem),
    };
    let key = signal_key(&sight.signals);
    if output::is_json() {
        output::document(&json!({"signals": sight.signals, "signal_key": key}));
        return Ok(0);
    }
    for signal in &sight.signals {
        let kind = match signal.as_str() {
            signal if is_control(signal) => "  steers the engine",
            signal if is_cosmetic(signal) => "  an input is absent",
            _ => "",
        };
        output::line(format_args!("{}{}", paint(NAME, inert_line(signal)), paint(DIM, kind)));
    }
    output::talk(paint(DIM, format_args!("key: {}", inert_line(&key))));
    for source in &sight.inputs.sources {
        output::talk(paint(DIM, format_args!("read: {} ({} bytes)", inert_line(&source.name), source.bytes)));
    }
    Ok(0)
}

/// What is in the inputs of a folder that is no repository, so that no cycle ever ran there.
fn extract_without_history(folder: &Path, sources: &Sources) -> Result<Observation> {
    let env = |name: &str| std::env::var(name).ok();
    let folder = folder.canonicalize().map_err(|error| Problem::io("read", folder, &error))?;
    let paths = RepositoryPaths::resolve(&folder, &env);
    let home = env("HOME").or_else(|| env("USERPROFILE")).map(PathBuf::from);
    let inputs = inputs::gather(&InputRequest {
        repository: &folder,
        workspace: &paths.workspace,
        memory_dir: &paths.memory,
        log_files: &sources.logs,
        user_file: sources.user.as_deref(),
        memory_file: sources.memory.as_deref(),
        stdin: sources.stdin.clone(),
        sessions: sources.sessions,
        home: home.as_deref(),
        env: &env,
        now: SystemClock.now(),
    })?;
    let signals = signals::extract(&inputs.corpus, &[]);
    Ok(Observation {
        inputs,
        diagnosis: Default::default(),
        is_explicit: true,
        decision: Default::default(),
        signals,
        history: Vec::new(),
        scan_ms: 0,
    })
}
