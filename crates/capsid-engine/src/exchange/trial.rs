//! Trying what somebody else published: its commands, through the gate, in the sandbox, without network.

use super::scratch::{self, CreatedFiles, DiffRefusal};
use crate::files::script::check_script;
use crate::workspace::os_release;
use capsid_model::env::{EnvFingerprint, arch, platform};
use capsid_model::gate::{self, CommandPolicy, CommandRefusalCode};
use capsid_model::hash::sha256_hex;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::{cut_front, inert};
use capsid_model::{Code, Object, Problem, Result, Time, Value, json};
use capsid_sandbox::git::Git;
use capsid_sandbox::{
    Confinement, IsolationPolicy, ProcessEnd, ProcessLimits, ValidationProfile, run_validation,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most commands that are run.
const MAX_COMMANDS: usize = 20;
/// How much of what a command complained goes into a report.
const TAIL: usize = 600;
/// What a program prints when a file that it needs is missing. Hubs read the same signs.
const MISSING_SIGNS: [&str; 4] = ["Cannot find module", "MODULE_NOT_FOUND", "ENOENT", "Missing script"];

/// One command of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCommand {
    pub command: String,
    pub ok: bool,
    /// How it ended, where it did.
    pub exit_code: Option<i32>,
    pub duration: Duration,
    /// Whether its time was over.
    pub timed_out: bool,
    /// What kind of failure it was; `ok` where it was none.
    pub class: &'static str,
    /// The end of what it complained, without secrets.
    pub stderr_tail: String,
    /// The hash of all that it printed.
    pub output_sha256: String,
}

/// How a trial went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialReport {
    /// Whether everything passed, and there was something to pass.
    pub ok: bool,
    /// What kind of failure it was; `ok` where it was none.
    pub class: &'static str,
    /// The commands that were run or refused.
    pub commands: Vec<TrialCommand>,
    pub total: usize,
    /// How much of the change was there to be tried, in hundredths.
    pub complete: u32,
    /// The hash of all that was printed.
    pub log_hash: String,
    /// The same without digits and the folder's name, for times, ports and folders differ from run to run.
    pub steady_hash: String,
    pub isolation: &'static str,
}

impl TrialReport {
    /// How many commands passed.
    pub fn passed(&self) -> usize {
        self.commands.iter().filter(|command| command.ok).count()
    }

    /// How long the commands took.
    pub fn duration(&self) -> Duration {
        self.commands.iter().map(|command| command.duration).sum()
    }

    /// What a report says of it, in the form that hubs know.
    pub fn to_members(&self, runtime: &str, now: Time) -> Object {
        let share = if self.total == 0 { 0.0 } else { self.passed() as f64 / self.total as f64 };
        let members = json!({
            "overall_ok": self.ok,
            "commands_passed": self.passed(),
            "commands_total": self.total,
            "duration_ms": self.duration().as_millis() as u64,
            "execution_log_hash": format!("sha256:{}", self.log_hash),
            "env": {"platform": platform(), "arch": arch(), "runtime": runtime},
            "env_fingerprint": EnvFingerprint::new(os_release(), now).to_object(),
            "isolation": self.isolation,
            "reproduction_score": (share * f64::from(self.complete)).round() / 100.0,
            "failure_class": self.class,
            "commands": self.commands.iter().map(TrialCommand::to_value).collect::<Vec<_>>(),
            "created_at": now.iso(),
        });
        members.as_object().cloned().unwrap_or_default()
    }

    /// A trial that could not be made.
    pub(crate) fn nothing(class: &'static str, total: usize) -> Self {
        Self {
            ok: false,
            class,
            commands: Vec::new(),
            total,
            complete: 0,
            log_hash: sha256_hex(class.as_bytes()),
            steady_hash: sha256_hex(class.as_bytes()),
            isolation: "none",
        }
    }
}

/// Tries a diff and its commands in a new folder: an empty one, or a copy of what a repository has committed.
pub fn run(
    diff: &str,
    commands: &[String],
    repository: Option<&Path>,
    timeout: Duration,
) -> Result<TrialReport> {
    run_under(&CommandPolicy::default(), diff, commands, repository, timeout)
}

/// The same under an owner's own rules of what may be run.
pub fn run_under(
    policy: &CommandPolicy,
    diff: &str,
    commands: &[String],
    repository: Option<&Path>,
    timeout: Duration,
) -> Result<TrialReport> {
    let made = match scratch::created(diff) {
        Ok(made) => made,
        Err(DiffRefusal::Hostile) => return Ok(TrialReport::nothing("hostile_diff", commands.len())),
        Err(DiffRefusal::TooLarge) => {
            return Ok(TrialReport::nothing("sandbox_diff_too_large", commands.len()));
        }
    };
    let folder = tempfile::tempdir()
        .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), &error))?;
    let root = folder.path().join("work");
    std::fs::create_dir(&root).map_err(|error| Problem::io("create", &root, &error))?;
    let made = match repository {
        None => fill(&root, made),
        Some(repository) => apply(&root, repository, diff)?,
    };
    match made {
        Some(made) => Ok(run_all(&root, commands, &made, timeout, policy)),
        None => Ok(TrialReport::nothing("env_files_missing", commands.len())),
    }
}

/// A file that cannot be written next to the others counts as missing.
fn fill(root: &Path, made: CreatedFiles) -> Option<CreatedFiles> {
    scratch::fill(root, &made).ok().map(|()| made)
}

/// Copies what a repository has committed and applies the complete diff to it; `None` if it does not apply.
fn apply(root: &Path, repository: &Path, diff: &str) -> Result<Option<CreatedFiles>> {
    let git = Git::at(repository);
    let archive: PathBuf = root.with_file_name("head.tar");
    git.run(&[
        "archive".into(),
        "--format=tar".into(),
        "-o".into(),
        archive.clone().into_os_string(),
        "HEAD".into(),
    ])?;
    let file = std::fs::File::open(&archive).map_err(|error| Problem::io("open", &archive, &error))?;
    tar::Archive::new(file).unpack(root).map_err(|error| Problem::io("fill", root, &error))?;
    Ok(apply_diff(root, diff)?.then(CreatedFiles::default))
}

/// Applies a complete diff to the files of a folder. Whether it applied.
pub(super) fn apply_diff(root: &Path, diff: &str) -> Result<bool> {
    let scratch = Git::at(root);
    scratch.run(&["init", "-q"])?;
    // Without `--unsafe-paths` git itself refuses to leave the folder or to follow a link out of it.
    let applied = scratch.try_run(&["apply", "--whitespace=nowarn", "-"], diff.as_bytes())?;
    let git_dir = root.join(".git");
    std::fs::remove_dir_all(&git_dir).map_err(|error| Problem::io("remove", &git_dir, &error))?;
    Ok(applied.status == 0)
}

/// Runs commands in a folder, one after the other, until one fails.
pub(super) fn run_all(
    root: &Path,
    commands: &[String],
    made: &CreatedFiles,
    timeout: Duration,
    policy: &CommandPolicy,
) -> TrialReport {
    let wanted: Vec<&String> = commands.iter().filter(|command| !command.trim().is_empty()).collect();
    let mut trial = TrialReport { class: "ok", ..TrialReport::nothing("env_no_commands", wanted.len()) };
    let touched = made.files.len() + made.missing;
    trial.complete = (100 * made.files.len()).checked_div(touched).unwrap_or(100) as u32;
    let mut log = String::new();
    // One slow command may take its time; twenty of them may not.
    let mut left = timeout * 2;
    for command in wanted.into_iter().take(MAX_COMMANDS) {
        let granted = timeout.min(left).max(Duration::from_millis(1));
        let mut tried = run_one(root, command, granted, policy, &mut log, &mut trial.isolation);
        left = left.saturating_sub(tried.duration);
        if tried.timed_out && granted < timeout {
            // It did not get the time that a command may take, so the timeout proves nothing about it.
            tried.class = "sandbox_out_of_time";
        }
        let ok = tried.ok;
        trial.commands.push(tried);
        if !ok {
            break;
        }
    }
    trial.log_hash = sha256_hex(log.as_bytes());
    let mut steady = log.replace(&*root.to_string_lossy(), "");
    steady.retain(|c| !c.is_ascii_digit());
    trial.steady_hash = sha256_hex(steady.as_bytes());
    trial.ok = trial.total > 0 && trial.passed() == trial.total;
    trial.class = match trial.commands.last() {
        _ if trial.ok => "ok",
        // What it needs was never here, so the failure proves nothing about the change.
        Some(last) if made.missing > 0 && matches!(last.class, "command_failed" | "timeout") => {
            "env_files_missing"
        }
        Some(last) if !last.ok => last.class,
        Some(_) => "sandbox_too_many_commands",
        None => "env_no_commands",
    };
    trial
}

fn run_one(
    root: &Path,
    command: &str,
    timeout: Duration,
    policy: &CommandPolicy,
    log: &mut String,
    isolation: &mut &'static str,
) -> TrialCommand {
    let mut tried = TrialCommand {
        command: command.to_owned(),
        ok: false,
        exit_code: None,
        duration: Duration::ZERO,
        timed_out: false,
        class: "ok",
        stderr_tail: String::new(),
        output_sha256: sha256_hex(b""),
    };
    let checked =
        gate::check(command, policy).and_then(|argv| check_script(&[root], &argv, policy).map(|()| argv));
    let argv = match checked {
        Ok(argv) => argv,
        Err(refusal) => {
            tried.class = match refusal.code {
                CommandRefusalCode::ProgramNotAllowed => "executable_not_allowed",
                CommandRefusalCode::InlineCode | CommandRefusalCode::OptionNotAllowed => {
                    "sandbox_block_node_flag"
                }
                _ => "parse_failed",
            };
            tried.stderr_tail = tail(&refusal.message);
            return tried;
        }
    };
    let limits =
        ProcessLimits { timeout, file_bytes: 64 << 20, memory_bytes: 2 << 30, ..ProcessLimits::default() };
    let confinement = Confinement { profile: ValidationProfile::Untrusted, ..Confinement::to(root) };
    match run_validation(&argv, &confinement, IsolationPolicy::Require, &limits) {
        Ok(finished) => {
            log.push_str(
                &json!([command, finished.stdout, finished.stderr, format!("{:?}", finished.end)])
                    .to_string(),
            );
            tried.output_sha256 = sha256_hex([&*finished.stdout, &*finished.stderr].concat().as_bytes());
            *isolation = finished.isolation.as_str();
            tried.ok = finished.end.ok();
            tried.duration = finished.duration;
            tried.timed_out = finished.end == ProcessEnd::TimedOut;
            tried.exit_code = match finished.end {
                ProcessEnd::Exited(status) => Some(status),
                _ => None,
            };
            tried.class = match finished.end {
                ProcessEnd::Exited(0) => "ok",
                ProcessEnd::TimedOut => "timeout",
                _ if MISSING_SIGNS.iter().any(|sign| finished.stderr.contains(sign)) => "env_files_missing",
                _ => "command_failed",
            };
            tried.stderr_tail = tail(&finished.stderr);
        }
        Err(problem) => {
            tried.class = match problem.code {
                Code::SandboxUnavailable => "sandbox_unavailable",
                _ => "spawn_failed",
            };
            tried.stderr_tail = tail(&problem.message);
        }
    }
    tried
}

/// The end of a text as it may leave this machine.
fn tail(text: &str) -> String {
    // The complete text is redacted first: half of a secret would not be recognised.
    let clean = redact(text, RedactProfile::Publish);
    inert(cut_front(clean.trim(), TAIL))
}

impl TrialCommand {
    /// For the report.
    pub fn to_value(&self) -> Value {
        json!({
            "cmd": redact(&self.command, RedactProfile::Publish),
            "ok": self.ok,
            "exit_code": self.exit_code,
            "duration_ms": self.duration.as_millis() as u64,
            "output_sha256": self.output_sha256,
            "timed_out": self.timed_out,
            "failure_class": self.class,
            "stderr_tail": self.stderr_tail,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn diff(path: &str, lines: &[&str]) -> String {
        let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{body}",
            lines.len()
        )
    }

    fn tried(diff: &str, commands: &[&str]) -> TrialReport {
        let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
        run(diff, &commands, None, LONG).unwrap()
    }

    #[test]
    fn what_a_diff_creates_is_tried_and_fails_where_it_should() {
        let good = format!(
            "{}{}",
            diff("a.js", &["module.exports = 1"]),
            diff("test.js", &["if (require('./a') !== 1) process.exit(1)"])
        );
        let trial = tried(&good, &["node test.js"]);
        assert!(trial.ok && trial.class == "ok" && trial.passed() == 1, "{trial:?}");
        assert_eq!(trial.complete, 100);
        let bad =
            diff("test.js", &["console.error('token=k3Jx9QpL2mZr7TbV5nHs at /home/me/x'); process.exit(3)"]);
        let trial = tried(&bad, &["node test.js", "node test.js"]);
        assert!(!trial.ok && trial.class == "command_failed" && trial.commands.len() == 1, "{trial:?}");
        assert_eq!(trial.commands[0].exit_code, Some(3));
        assert!(
            !trial.commands[0].stderr_tail.contains("k3Jx9")
                && !trial.commands[0].stderr_tail.contains("/home/me")
        );
    }

    #[test]
    fn a_change_is_tried_in_a_copy_of_what_is_committed() {
        let repo = capsid_testkit::test_repo::TestRepo::new();
        repo.write("a.js", "module.exports = 1\n");
        repo.write("test.js", "if (require('./a') !== 2) process.exit(1)\n");
        repo.commit("Begin");
        repo.write("a.js", "module.exports = 3\n");
        let change = |old: &str| {
            format!("--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-module.exports = {old}\n+module.exports = 2\n")
        };
        let commands = ["node test.js".to_owned()];
        let trial = run(&change("1"), &commands, Some(repo.path()), LONG).unwrap();
        assert!(trial.ok, "{trial:?}");
        assert_eq!(run(&change("9"), &commands, Some(repo.path()), LONG).unwrap().class, "env_files_missing");
        assert_eq!(repo.read("a.js"), "module.exports = 3\n");
    }

    #[test]
    fn what_cannot_be_tried_here_says_nothing_about_the_change() {
        assert_eq!(tried("", &["node test.js"]).class, "env_files_missing");
        assert_eq!(tried("", &["rm -rf /"]).class, "executable_not_allowed");
        assert_eq!(tried("", &["node -e 1"]).class, "sandbox_block_node_flag");
        assert_eq!(tried("", &["node x; y"]).class, "parse_failed");
        assert_eq!(tried("", &[]).class, "env_no_commands");
        let changed = format!(
            "{}--- a/old.js\n+++ b/old.js\n@@ -1 +1 @@\n-a\n+b\n",
            diff("test.js", &["process.exit(1)"])
        );
        let trial = tried(&changed, &["node test.js"]);
        assert_eq!((trial.class, trial.complete), ("env_files_missing", 50));
        assert_eq!(tried(&diff("../x", &["x"]), &["node test.js"]).class, "hostile_diff");
    }
}
