//! The same commands without the change: a test that passes there proves nothing.

use super::scratch::{self, CreatedFile, CreatedFiles};
use super::trial::{TrialReport, apply_diff, run_all};
use capsid_model::gate::CommandPolicy;
use capsid_model::{Problem, Result, Value, json};
use capsid_rules::assets::reproduction::CapsuleReproduction;
use capsid_rules::learning::check_files::is_check_file;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// What a folder without anything in it has.
pub(super) const BARE_MANIFEST: &str = "{\"name\":\"bare\",\"version\":\"1.0.0\",\"private\":true}\n";

/// Files that say how tests are run stay as they are, so that the commands of the change still find their tests.
const MANIFESTS: [&str; 3] = ["package.json", "Cargo.toml", "pyproject.toml"];

/// Whether all commands passed without the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ControlRuns {
    /// Beside a lone `package.json`.
    pub bare: Option<bool>,
    /// With every file of the change emptied that is no test, or in the reproduction of the capsule.
    pub base: Option<bool>,
}

impl ControlRuns {
    /// For a report.
    pub fn to_value(self) -> Value {
        json!({"bare": self.bare, "base": self.base})
    }
}

/// Runs the commands of a change that is made from scratch without it.
pub fn run_control(diff: &str, commands: &[String], timeout: Duration) -> Result<ControlRuns> {
    let Ok(made) = scratch::created(diff) else { return Ok(ControlRuns::default()) };
    let policy = CommandPolicy::default();
    let bare = run_bare(&policy, commands, timeout)?;
    let base = run_files(&policy, &empty_sources(&made, commands), commands, timeout)?;
    Ok(ControlRuns { bare, base: base.and_then(|run| as_control(&run)) })
}

/// Tries a change in the reproduction of its capsule: the commands have to fail there before it is applied.
pub fn run_on_reproduction(
    policy: &CommandPolicy,
    diff: &str,
    commands: &[String],
    reproduction: &CapsuleReproduction,
    timeout: Duration,
) -> Result<(TrialReport, ControlRuns)> {
    let files = to_created(reproduction);
    let changed = Folder::filled(&files)?;
    let is_applied = match &changed {
        Some(folder) => apply_diff(&folder.root, diff)?,
        None => false,
    };
    let Some(changed) = changed.filter(|_| is_applied) else {
        return Ok((TrialReport::nothing("env_files_missing", commands.len()), ControlRuns::default()));
    };
    let trial = run_all(&changed.root, commands, &CreatedFiles::default(), timeout, policy);
    let run = |commands: &[String]| -> Result<Option<bool>> {
        Ok(run_files(policy, &files, commands, timeout)?.and_then(|run| as_control(&run)))
    };
    let reproduces = std::slice::from_ref(&reproduction.command);
    let by_commands = run(commands)?;
    let by_its_own = if commands == reproduces { by_commands } else { run(reproduces)? };
    let base = match (by_commands, by_its_own) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), _) => Some(false),
        _ => None,
    };
    Ok((trial, ControlRuns { bare: run_bare(policy, commands, timeout)?, base }))
}

fn to_created(reproduction: &CapsuleReproduction) -> CreatedFiles {
    let files = reproduction.files.iter();
    let files = files.map(|file| CreatedFile { path: file.path.clone(), content: file.text.clone() });
    CreatedFiles { files: files.collect(), missing: 0 }
}

/// The files of a change as the control has them: empty, unless they are tests or say how tests are run.
pub(super) fn empty_sources(made: &CreatedFiles, commands: &[String]) -> CreatedFiles {
    let mut emptied = made.clone();
    for file in &mut emptied.files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if !MANIFESTS.contains(&name) && !is_check_file(&file.path, commands) {
            file.content.clear();
        }
    }
    emptied
}

fn run_bare(policy: &CommandPolicy, commands: &[String], timeout: Duration) -> Result<Option<bool>> {
    let manifest = CreatedFile { path: "package.json".to_owned(), content: BARE_MANIFEST.to_owned() };
    let bare = CreatedFiles { files: vec![manifest], missing: 0 };
    Ok(run_files(policy, &bare, commands, timeout)?.and_then(|run| as_control(&run)))
}

fn run_files(
    policy: &CommandPolicy,
    files: &CreatedFiles,
    commands: &[String],
    timeout: Duration,
) -> Result<Option<TrialReport>> {
    let folder = Folder::filled(files)?;
    Ok(folder.map(|folder| run_all(&folder.root, commands, files, timeout, policy)))
}

/// Whether the commands passed. A run that the sandbox or the gate prevented says neither.
fn as_control(run: &TrialReport) -> Option<bool> {
    let is_prevented = run.class.starts_with("sandbox_")
        || matches!(
            run.class,
            "spawn_failed" | "parse_failed" | "executable_not_allowed" | "env_no_commands"
        );
    (!is_prevented).then_some(run.ok)
}

/// A folder of its own that is removed afterwards.
struct Folder {
    _guard: TempDir,
    root: PathBuf,
}

impl Folder {
    /// A new folder with these files; none if they cannot be written next to each other.
    fn filled(files: &CreatedFiles) -> Result<Option<Self>> {
        let guard = tempfile::tempdir()
            .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), &error))?;
        let root = guard.path().join("work");
        std::fs::create_dir(&root).map_err(|error| Problem::io("create", &root, &error))?;
        Ok(scratch::fill(&root, files).ok().map(|()| Self { _guard: guard, root }))
    }
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
