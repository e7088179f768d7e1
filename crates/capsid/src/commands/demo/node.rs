//! A node of a story: a home and a repository of its own, in which this program runs as its owner would run it.

use super::program::{ProgramRun, record_check, run_self, story_broke};
use super::scenes;
use crate::output::{self, DIM, HEAD, paint};
use capsid_disk::files;
use capsid_model::Result;
use capsid_sandbox::AgentEnd;
use capsid_sandbox::git::Git;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long one command of a story may take.
const MAX_LEN: Duration = Duration::from_secs(120);

/// The log that a cycle reads, in the home of its node.
const LOG: &str = "check.log";

/// One node of the story: a home and a repository of its own.
pub(super) struct DemoNode {
    pub(super) name: &'static str,
    home: PathBuf,
    pub(super) repo: PathBuf,
    env: Vec<(String, String)>,
}

impl DemoNode {
    pub(super) fn new(folder: &std::path::Path, name: &'static str, hub: &str) -> Result<Self> {
        let home = folder.join("homes").join(name);
        let repo = folder.join(name);
        files::create_folder(&home)?;
        files::create_folder(&repo)?;
        let trail = home.join("trail");
        // Whatever the user set for their own node must not reach the story's; an empty variable counts as unset.
        let unset =
            ["A2A_NODE_ID", "A2A_NODE_SECRET", "EVOMAP_HUB_URL", "EVOLVER_REPO_ROOT", "AGENT_CAPSULE_DB"];
        let mut env: Vec<(String, String)> =
            unset.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        let mut set = |name: &str, value: String| env.push((name.to_owned(), value));
        set("HOME", home.display().to_string());
        set("AGENT_CAPSULE_HOME", trail.display().to_string());
        set("A2A_HUB_URL", hub.to_owned());
        Ok(Self { name, home, repo, env })
    }

    /// A repository with the service, a few files and what must pass.
    pub(super) fn project(&self, sources: &[(&str, &str)], test: &str) -> Result<()> {
        let git = Git::at(&self.repo);
        git.run(&["init", "-q", "-b", "main"])?;
        git.run(&["config", "user.name", "Demo"])?;
        git.run(&["config", "user.email", "demo@example.invalid"])?;
        git.run(&["config", "commit.gpgsign", "false"])?;
        self.write("service.js", scenes::SERVICE)?;
        for (name, content) in sources {
            self.write(name, content)?;
        }
        self.write(
            "capsid.toml",
            &format!("[validation]\ncommands = [\"{test}\"]\n\n[cycle]\nsessions = false\n"),
        )?;
        self.quietly(&["init"]).map(drop)
    }

    pub(super) fn write(&self, name: &str, content: &str) -> Result<()> {
        files::replace(&self.repo.join(name), content.as_bytes())
    }

    pub(super) fn commit(&self, message: &str) -> Result<()> {
        let git = Git::at(&self.repo);
        git.run(&["add", "-A"])?;
        git.run(&["commit", "-q", "-m", message]).map(drop)
    }

    /// Runs a check and writes what it prints into the log that the next cycle reads.
    pub(super) fn log(&self, command: &str) -> Result<()> {
        let prompt = paint(DIM, format_args!("{}$", self.name));
        output::line(format_args!("\n{prompt} {}", paint(HEAD, command)));
        record_check(command, &self.repo, &self.env, &self.home.join(LOG))
    }

    pub(super) fn evolve(&self, agent: &str) -> Result<()> {
        let (log, script) = (self.home.join(LOG), self.home.join("agent.sh"));
        files::replace(&script, agent.as_bytes())?;
        let (log, script) = (log.display().to_string(), script.display().to_string());
        self.capsid(&["evolve", "--log", &log, "--agent", "sh", &script])
    }

    /// Runs a command and shows what it says.
    pub(super) fn capsid(&self, words: &[&str]) -> Result<()> {
        output::line(format_args!(
            "\n{} {}",
            paint(DIM, format_args!("{}$", self.name)),
            paint(HEAD, shell_quoted(words))
        ));
        self.start(words, &mut |bytes| output::print(&String::from_utf8_lossy(bytes)))
    }

    /// Runs a command and gives what it says.
    pub(super) fn quietly(&self, words: &[&str]) -> Result<String> {
        let mut printed = Vec::new();
        self.start(words, &mut |bytes| printed.extend_from_slice(bytes))?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    fn start(&self, words: &[&str], on_output: &mut dyn FnMut(&[u8])) -> Result<()> {
        let stop = AtomicBool::new(false);
        let run =
            ProgramRun { folder: &self.repo, input: b"", env: &self.env, longest: MAX_LEN, stop: &stop };
        match run_self(words, &run, on_output)? {
            AgentEnd::Exited(0) => Ok(()),
            end => Err(story_broke(&format!("`capsid {}` ended with {end:?}", words.join(" ")))),
        }
    }
}

/// The words of a command as a person would type them: the script of an agent by its name alone.
fn shell_quoted(words: &[&str]) -> String {
    let short = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
    format!("capsid {}", words.iter().map(short).collect::<Vec<_>>().join(" "))
}
