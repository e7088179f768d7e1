//! Runs one bundle for a hub: in an empty folder, without its change, and twice with it. Everything runs in the sandbox
//! for strangers.

use super::control::{BARE_MANIFEST, empty_sources};
use super::scratch::{self, CreatedFile, CreatedFiles};
use super::trial::{self, TrialReport};
use capsid_model::env::{arch, platform};
use capsid_model::gate::CommandPolicy;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use capsid_rules::evaluation::runner_job::RunnerJob;
use capsid_rules::evaluation::runner_outcome::{BundleRuns, FolderRun, RunnerOutcome};
use capsid_sandbox::{Confinement, IsolationPolicy, ProcessLimits, ValidationProfile, run_validation};
use std::time::Duration;

const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// What the runs of a bundle showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunBundle {
    pub outcome: RunnerOutcome,
    /// What was missing or how it failed; may be empty.
    pub reason: String,
    pub duration: Duration,
}

/// Refuses to run as root: should foreign commands ever leave the sandbox, they find an ordinary user.
pub fn refuse_root() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Problem::new(Code::InputInvalid, "The runner does not run as root.")
        .fix("Start it as a user of its own, such as `sudo -u capsid-runner capsid hub runner ...`."))
}

/// Where the commands run, such as `linux x64, node v20.20.0`.
pub fn describe_runtime() -> String {
    let machine = format!("{} {}", platform(), arch());
    match read_node_version() {
        Some(version) => format!("{machine}, node {version}"),
        None => machine,
    }
}

/// The version of Node that the sandbox has.
pub fn read_node_version() -> Option<String> {
    read_version("node", "--version").ok()
}

/// What a program says of its version in the sandbox for strangers, or why it does not run there.
pub fn read_version(program: &str, option: &str) -> Result<String> {
    let folder = tempfile::tempdir()
        .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), &error))?;
    let confinement = Confinement { profile: ValidationProfile::Untrusted, ..Confinement::to(folder.path()) };
    let argv = [program, option].map(str::to_owned);
    let limits = ProcessLimits { timeout: VERSION_TIMEOUT, ..ProcessLimits::default() };
    let finished = run_validation(&argv, &confinement, IsolationPolicy::Require, &limits)?;
    let first_line = |text: &str| inert_line(text.trim().lines().next().unwrap_or_default());
    if finished.end.ok() {
        return Ok(first_line(&finished.stdout));
    }
    let said = first_line(&finished.stderr);
    Err(Problem::new(Code::ProgramNotFound, format!("`{program}` does not run in the sandbox: {said}"))
        .fix(format!("Install `{program}` where every user can run it, such as in /usr/bin.")))
}

/// Runs a bundle.
pub fn run_bundle(job: &RunnerJob) -> Result<RunBundle> {
    let folders = match BundleFolders::from_job(job) {
        Ok(folders) => folders,
        Err(reason) => return Ok(inconclusive(reason)),
    };
    let mut policy = CommandPolicy::default();
    policy.programs.extend(job.programs.iter().cloned());
    let mut runner = FolderRunner {
        job,
        policy,
        timeout: Duration::from_secs(job.command_seconds.max(1)),
        spent: Duration::ZERO,
    };
    let bare = runner.run(&folders.bare, None)?;
    if bare.ok {
        return Ok(runner.conclude(RunnerOutcome::VacuousEmpty, ""));
    }
    let base = runner.run(&folders.base, None)?;
    let first = runner.run(&folders.change, folders.diff)?;
    if base.ok && first.ok {
        return Ok(runner.conclude(RunnerOutcome::VacuousBase, ""));
    }
    let second = runner.run(&folders.change, folders.diff)?;
    let outcome = RunnerOutcome::from_runs(&BundleRuns {
        bare: control_run(&bare),
        base: control_run(&base),
        change: [change_run(&first), change_run(&second)],
        is_same_output: first.steady_hash == second.steady_hash,
    });
    let shown = if first.ok { &second } else { &first };
    let reason = shown.commands.last().filter(|last| !last.ok).map(|last| last.stderr_tail.clone());
    let reason = match outcome {
        RunnerOutcome::Inconclusive => format!("{}: {}", shown.class, reason.unwrap_or_default()),
        RunnerOutcome::Failed | RunnerOutcome::Flaky => reason.unwrap_or_default(),
        _ => String::new(),
    };
    Ok(runner.conclude(outcome, reason.trim_end_matches(": ")))
}

fn inconclusive(reason: &str) -> RunBundle {
    RunBundle { outcome: RunnerOutcome::Inconclusive, reason: reason.to_owned(), duration: Duration::ZERO }
}

/// The files of each run.
struct BundleFolders<'a> {
    bare: CreatedFiles,
    base: CreatedFiles,
    change: CreatedFiles,
    /// What is applied to `change` before it runs, where the bundle brings a project.
    diff: Option<&'a str>,
}

impl<'a> BundleFolders<'a> {
    /// The folders, or why they cannot be made.
    fn from_job(job: &'a RunnerJob) -> std::result::Result<Self, &'static str> {
        let bare = from_files([("package.json", BARE_MANIFEST)]);
        let made = scratch::created(&job.diff).map_err(|_| "The change cannot be put into a folder.")?;
        if !job.files.is_empty() {
            let files = job.files.iter().map(|file| (file.path.as_str(), file.text.as_str()));
            let project = from_files(files);
            if project.files.iter().any(|file| !scratch::is_safe_path(&file.path)) {
                return Err("The bundle's project holds a path that leaves its folder.");
            }
            return Ok(Self { bare, base: project.clone(), change: project, diff: Some(&job.diff) });
        }
        if made.missing > 0 {
            return Err("The change is to files that the bundle does not bring.");
        }
        if made.files.is_empty() {
            return Err("The bundle brings no change.");
        }
        let base = empty_sources(&made, &job.commands);
        Ok(Self { bare, base, change: made, diff: None })
    }
}

fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> CreatedFiles {
    let file = |(path, text): (&str, &str)| CreatedFile { path: path.to_owned(), content: text.to_owned() };
    CreatedFiles { files: files.into_iter().map(file).collect(), missing: 0 }
}

/// Runs the commands of a job in one folder after the other.
struct FolderRunner<'a> {
    job: &'a RunnerJob,
    policy: CommandPolicy,
    timeout: Duration,
    spent: Duration,
}

impl FolderRunner<'_> {
    fn run(&mut self, files: &CreatedFiles, diff: Option<&str>) -> Result<TrialReport> {
        let folder = tempfile::tempdir()
            .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), &error))?;
        let root = folder.path().join("work");
        std::fs::create_dir(&root).map_err(|error| Problem::io("create", &root, &error))?;
        scratch::fill(&root, files)?;
        if let Some(diff) = diff
            && !trial::apply_diff(&root, diff)?
        {
            return Ok(TrialReport::nothing("env_files_missing", self.job.commands.len()));
        }
        let trial = trial::run_all(&root, &self.job.commands, files, self.timeout, &self.policy);
        self.spent += trial.duration();
        Ok(trial)
    }

    fn conclude(&self, outcome: RunnerOutcome, reason: &str) -> RunBundle {
        RunBundle { outcome, reason: reason.to_owned(), duration: self.spent }
    }
}

/// In a control, a missing file is a failure like any other: the commands do not pass there.
fn control_run(trial: &TrialReport) -> FolderRun {
    match trial.class {
        _ if trial.ok => FolderRun::Passed,
        "command_failed" | "timeout" | "env_files_missing" => FolderRun::Failed,
        _ => FolderRun::NotRun,
    }
}

fn change_run(trial: &TrialReport) -> FolderRun {
    match trial.class {
        _ if trial.ok => FolderRun::Passed,
        "command_failed" | "timeout" => FolderRun::Failed,
        _ => FolderRun::NotRun,
    }
}

#[cfg(test)]
#[path = "bundle_runs_tests.rs"]
mod tests;
