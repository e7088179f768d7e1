//! `capsid signals`: what the engine sees.

use super::inputs::InputArgs;
use super::problem_text::{print_also, print_lines, print_problem, to_json};
use crate::commands::workspace;
use crate::output::{self, DIM, NAME, paint};
use capsid_engine::cycle::observation::{self, NAME_SOMETHING, Observation, Sources};
use capsid_engine::files::inputs;
use capsid_engine::files::inputs::InputRequest;
use capsid_engine::files::paths::RepositoryPaths;
use capsid_model::signal::{is_control, is_cosmetic, signal_key};
use capsid_model::text::inert_line;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::diagnosis::Diagnostic;
use clap::Args;
use std::path::{Path, PathBuf};

/// Show the problem and the signals in the logs, notes and sessions of this repository.
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
    let seen = match workspace(folder) {
        Ok(workspace) => observation::observe(&workspace, &sources)?,
        Err(problem) if problem.code == Code::NotAGitRepository && arguments.inputs.names_any() => {
            observe_without_history(folder, &sources)?
        }
        Err(problem) => return Err(problem),
    };
    let key = signal_key(&seen.signals);
    if output::is_json() {
        output::document(&json!({
            "signals": seen.signals,
            "signal_key": key,
            "problem": seen.diagnosis.problem.as_ref().map(|found| problem_view(found, &seen)),
            "also": seen.diagnosis.also.iter().map(to_json).collect::<Vec<_>>(),
            "logs": seen.inputs.named_logs.iter().map(|log| json!({
                "name": log.name, "lines": log.lines, "warnings": log.warnings, "has_problem": log.has_problem,
            })).collect::<Vec<_>>(),
        }));
        return Ok(0);
    }
    match &seen.diagnosis.problem {
        Some(problem) => {
            print_problem(problem, seen.inputs.problem_source.as_deref());
            print_lines(problem, &seen.diagnosis.windows);
            print_also(&seen.diagnosis.also);
        }
        None if !seen.inputs.named_logs.is_empty() => {
            let logs = inert_line(&seen.inputs.describe_named_logs());
            output::line(format_args!("No problem found in {logs}. {NAME_SOMETHING}"));
        }
        None => {}
    }
    for signal in &seen.signals {
        let kind = match signal.as_str() {
            signal if is_control(signal) => "  steers the engine",
            signal if is_cosmetic(signal) => "  an input is absent",
            _ => "",
        };
        output::line(format_args!("{}{}", paint(NAME, inert_line(signal)), paint(DIM, kind)));
    }
    output::talk(paint(DIM, format_args!("key: {}", inert_line(&key))));
    for source in &seen.inputs.sources {
        output::talk(paint(DIM, format_args!("read: {} ({} bytes)", inert_line(&source.name), source.bytes)));
    }
    Ok(0)
}

fn problem_view(problem: &Diagnostic, seen: &Observation) -> Value {
    let mut view = to_json(problem);
    view["source"] = json!(seen.inputs.problem_source);
    view["windows"] = serde_json::to_value(&seen.diagnosis.windows).unwrap_or_default();
    view["command"] = json!(seen.diagnosis.command);
    view
}

/// What is in the inputs of a folder that is no repository, so that no cycle ever ran there.
fn observe_without_history(folder: &Path, sources: &Sources) -> Result<Observation> {
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
        matchers: &[],
        now: SystemClock.now(),
    })?;
    Ok(observation::interpret(sources, inputs, Vec::new()))
}
