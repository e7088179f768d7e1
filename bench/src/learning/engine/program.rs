//! The built program in a real repository, with real commands in the real sandbox.

use super::agent::AGENT;
use super::change::{is_same_change, list_changed_lines};
use super::cycle::{CapsuleCredit, CycleRecord, CycleTask, LearningEngine};
use super::store::{EngineStore, StoredCapsule};
use super::tools::ToolPaths;
use crate::Result;
use crate::generated_repo::{check, succeed};
use crate::learning::corpus::FileTree;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository, and beside it a home, the agent's folder and the log.
pub struct ProgramEngine<'a> {
    tools: &'a ToolPaths,
    folder: tempfile::TempDir,
    program: PathBuf,
    /// Every path that a tree or an agent ever had.
    known: BTreeSet<String>,
    tree: FileTree,
    /// What each capsule that was made here solves.
    solutions: HashMap<String, String>,
    /// More settings, such as a hub's.
    settings: String,
}

impl<'a> ProgramEngine<'a> {
    /// A repository with a store; `check` is the owner's validation command.
    pub fn create(check: &str, settings: &str, tools: &'a ToolPaths) -> Result<Self> {
        let engine = Self {
            tools,
            folder: tempfile::tempdir()?,
            program: find_program()?,
            known: BTreeSet::new(),
            tree: FileTree::new(),
            solutions: HashMap::new(),
            settings: settings.to_owned(),
        };
        for folder in [engine.root(), engine.home(), engine.agent_folder()] {
            std::fs::create_dir(folder)?;
        }
        std::fs::write(engine.agent_folder().join("agent.py"), AGENT)?;
        engine.git(&["init", "--quiet", "-b", "main"])?;
        succeed(engine.command(&["init"]).env("HOME", engine.home()))?;
        engine.set_check(check)?;
        Ok(engine)
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("app")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn agent_folder(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    fn store(&self) -> EngineStore {
        EngineStore::at(&self.root())
    }

    /// Names the owner's validation command.
    fn set_check(&self, check: &str) -> Result<()> {
        let text = format!(
            "[validation]\ncommands = [{check:?}]\nprograms = [\"python3\", \"bash\", \"cargo\"]\nread = {:?}\n\
             [cycle]\nsessions = false\n[agent]\nwrite = [{:?}]\n{}",
            self.tools.read,
            self.agent_folder(),
            self.settings
        );
        std::fs::write(self.root().join("capsid.toml"), text)?;
        Ok(())
    }

    /// The program in the repository, without the settings of whoever runs the bench.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.root()).env_clear().env("HOME", self.home()).args(words);
        command.env("PATH", &self.tools.path);
        command
    }

    fn git(&self, words: &[&str]) -> Result<()> {
        let user =
            ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        succeed(command.current_dir(self.root()).env("HOME", self.home()).args(user).args(words))
    }

    /// The files of the user as they are now.
    fn read_tree(&self) -> FileTree {
        let read =
            |path: &String| Some((path.clone(), std::fs::read_to_string(self.root().join(path)).ok()?));
        self.known.iter().filter_map(read).collect()
    }

    /// Capsules whose patch applies to the tree as it is.
    fn find_fitting(&self, capsules: &[StoredCapsule]) -> Result<Vec<String>> {
        let mut fitting = Vec::new();
        let patch = self.folder.path().join("fitting.patch");
        for capsule in capsules.iter().filter(|capsule| !capsule.diff.is_empty()) {
            std::fs::write(&patch, &capsule.diff)?;
            let mut command = Command::new("git");
            command.current_dir(self.root()).args(["apply", "--check", "-C1"]).arg(&patch);
            if command.output()?.status.success() {
                fitting.push(capsule.id.clone());
            }
        }
        Ok(fitting)
    }

    fn count_prompts(&self) -> Result<usize> {
        let names = std::fs::read_dir(self.agent_folder())?.flatten();
        Ok(names.filter(|entry| entry.file_name().to_string_lossy().starts_with("prompt-")).count())
    }

    /// Whether the checks of the broken tree pass with the source of the tree that the cycle left.
    fn is_fixed(&self, task: &CycleTask<'_>, after: &FileTree) -> Result<bool> {
        if *after == task.case.fixed {
            return Ok(true);
        }
        if *after == task.case.broken
            || after.iter().any(|(path, text)| is_changed_test(path, text, &task.case.broken))
        {
            return Ok(false);
        }
        let words: Vec<&str> = task.case.check.split(' ').collect();
        for _ in 0..if task.case.is_flaky { 5 } else { 1 } {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).current_dir(self.root()).env("PATH", &self.tools.path);
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            if !command.output()?.status.success() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A test of the broken tree that is gone or different proves nothing.
fn is_changed_test(path: &str, text: &str, broken: &FileTree) -> bool {
    path.contains("test") && broken.get(path).is_some_and(|old| old != text)
}

impl LearningEngine for ProgramEngine<'_> {
    fn commit_tree(&mut self, tree: &FileTree) -> Result<()> {
        for path in self.known.iter().filter(|path| !tree.contains_key(*path)) {
            let _was_not_there = std::fs::remove_file(self.root().join(path));
        }
        for (path, content) in tree {
            let target = self.root().join(path);
            if let Some(folder) = target.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(target, content)?;
        }
        self.known.extend(tree.keys().cloned());
        self.tree = tree.clone();
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "Work"])
    }

    fn run_cycle(&mut self, task: &CycleTask<'_>) -> Result<CycleRecord> {
        check(self.tree == task.case.broken, "the tree is not that of the case")?;
        let store = self.store();
        let before = store.read_capsules()?;
        let events = store.count_events()?;
        let fitting = self.find_fitting(&before)?;
        let prompts = self.count_prompts()?;
        task.plan.write(&self.agent_folder(), &task.case.broken)?;
        self.known.extend(task.plan.tree.iter().flat_map(|tree| tree.keys().cloned()));
        let log = self.folder.path().join("problem.log");
        std::fs::write(&log, task.log)?;
        let agent = self.agent_folder();
        let mut command = self.command(&["evolve", "--no-sessions", "--log"]);
        command.arg(&log);
        if let Some(repro) = &task.plan.check {
            command.args(["--repro", repro]);
        }
        if !self.settings.contains("[hub]") {
            command.arg("--offline");
        }
        command.args(["--agent", "python3"]).arg(agent.join("agent.py")).arg(&agent);
        let output = command.output()?;
        let after = self.read_tree();
        let event = store.read_events()?.into_iter().nth(events);
        let mut record = read_record(&output, event.as_ref());
        record.capsules_before = before.len();
        record.fitting = fitting;
        record.was_agent_called = self.count_prompts()? > prompts;
        if record.was_agent_called {
            let prompt = std::fs::read_to_string(agent.join(format!("prompt-{prompts}")))?;
            record.prompt_chars = Some(prompt.chars().count());
        } else if record.is_success {
            record.solved_by = event
                .as_ref()
                .and_then(|event| event["meta"]["reused_capsule_id"].as_str())
                .map(str::to_owned);
        }
        // Nothing happened about an error that the user named.
        record.is_error_hidden |= event.is_none() && !record.was_agent_called;
        record.is_fixed = record.is_success && self.is_fixed(task, &after)?;
        let capsules = store.read_capsules()?;
        let made = list_changed_lines(&task.case.broken, &after);
        let is_right_patch = !record.was_agent_called && record.is_fixed;
        record.credits = find_credits(&before, &capsules, event.as_ref(), |capsule| {
            is_right_patch
                || is_same_change(&capsule.diff, &made)
                || self.solutions.get(&capsule.id).is_some_and(|known| known == task.solution)
        });
        record.new_capsule = capsules
            .iter()
            .find(|capsule| before.iter().all(|old| old.id != capsule.id))
            .map(|new| new.id.clone());
        self.solutions.extend(record.new_capsule.clone().map(|id| (id, task.solution.to_owned())));
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "Keep what the cycle left"])?;
        self.tree = after;
        Ok(record)
    }

    fn add_decoy(&mut self) -> Result<()> {
        self.store().add_decoy()
    }
}

/// What the event says about a cycle.
fn read_record(output: &Output, event: Option<&Value>) -> CycleRecord {
    let message = format!(
        "exit {:?}: {}{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let Some(event) = event else { return CycleRecord { message, ..CycleRecord::default() } };
    let signals: Vec<&str> =
        event["signals"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let has_error = signals.iter().any(|signal| signal.starts_with("errsig:"));
    let offers = event["meta"]["offers"].as_array().into_iter().flatten();
    CycleRecord {
        is_success: event["outcome"]["status"] == "success",
        is_error_hidden: !has_error || event["intent"] != "repair",
        offered: offers.filter_map(|offer| offer["capsule_id"].as_str()).map(str::to_owned).collect(),
        message,
        ..CycleRecord::default()
    }
}

/// Capsules whose streak grew, or that the event calls reused.
fn find_credits(
    before: &[StoredCapsule],
    after: &[StoredCapsule],
    event: Option<&Value>,
    was_applied: impl Fn(&StoredCapsule) -> bool,
) -> Vec<CapsuleCredit> {
    let reused = event.and_then(|event| event["meta"]["reused_capsule_id"].as_str());
    let mut credits = Vec::new();
    for old in before {
        let new = after.iter().find(|capsule| capsule.id == old.id);
        let has_grown = new.is_some_and(|new| new.streak > old.streak);
        // A capsule never changes what it says, whoever is credited.
        let was_rewritten = new.is_some_and(|new| new.diff != old.diff);
        if has_grown || was_rewritten || reused == Some(old.id.as_str()) {
            let was_applied = !was_rewritten && was_applied(old);
            credits.push(CapsuleCredit { capsule: old.id.clone(), was_applied });
        }
    }
    credits
}

/// The program that was built beside this one.
pub fn find_program() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    // A test lies in `deps`, one folder below.
    let folders = own.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join("capsid")).find(|path: &PathBuf| is_program(path));
    found.ok_or_else(|| "the program `capsid` is not built beside this one".into())
}

fn is_program(path: &Path) -> bool {
    path.is_file()
}
