//! A node of a story: a home and a repository of its own, in which this program runs as its owner would run it.

use super::program::{ProgramRun, record_check, run_self, story_broke};
use super::scenes;
use super::stage::Stage;
use capsid_disk::files;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::AgentEnd;
use capsid_sandbox::git::Git;
use std::path::PathBuf;
use std::rc::Rc;
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
    pub(super) stage: Rc<Stage>,
}

impl DemoNode {
    pub(super) fn new(
        folder: &std::path::Path,
        name: &'static str,
        hub: &str,
        stage: &Rc<Stage>,
    ) -> Result<Self> {
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
        Ok(Self { name, home, repo, env, stage: Rc::clone(stage) })
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

    /// Runs a check and writes what it prints into the log that the next cycle reads; shows the line that tells most.
    pub(super) fn log(&self, command: &str) -> Result<()> {
        self.stage.command(self.name, command);
        let printed = self.log_unseen(command)?;
        let is_error =
            |line: &&str| line.contains("Error: ") || line.trim_start().starts_with("AssertionError");
        if let Some(line) = printed.lines().find(is_error) {
            self.stage.line(format_args!("  {}", inert_line(cut(line.trim(), 100))));
        }
        Ok(())
    }

    /// The same, and nothing of it is shown.
    pub(super) fn log_unseen(&self, command: &str) -> Result<String> {
        let printed = record_check(command, &self.repo, &self.env, &self.home.join(LOG))?;
        self.stage.record(printed.as_bytes());
        Ok(printed)
    }

    /// One cycle with a scripted agent.
    pub(super) fn evolve(&self, agent: &str) -> Result<()> {
        let (log, script) = (self.home.join(LOG), self.home.join("agent.sh"));
        files::replace(&script, agent.as_bytes())?;
        let (log, script) = (log.display().to_string(), script.display().to_string());
        self.capsid(&["evolve", "--log", &log, "--agent", "sh", &script], &["solved by", "proof"])
    }

    /// Runs a command; shows it, and of what it prints the lines that begin with one of these words.
    pub(super) fn capsid(&self, words: &[&str], shown: &[&str]) -> Result<()> {
        self.stage.command(self.name, &as_typed(words));
        let printed = self.run(words)?;
        let is_shown = |line: &&str| shown.iter().any(|word| line.trim_start().starts_with(word));
        for line in printed.lines().filter(is_shown) {
            // The rest of a long line is for the log.
            let first = line.split(", ").next().unwrap_or(line);
            self.stage.line(format_args!("  {}", inert_line(cut(first.trim(), 110))));
        }
        Ok(())
    }

    /// Runs a command that is no part of what is shown.
    pub(super) fn capsid_unseen(&self, words: &[&str]) -> Result<()> {
        self.stage.record(format!("{}$ {}\n", self.name, as_typed(words)).as_bytes());
        self.run(words).map(drop)
    }

    fn run(&self, words: &[&str]) -> Result<String> {
        let printed = self.quietly(words)?;
        self.stage.record(printed.as_bytes());
        Ok(printed)
    }

    /// Runs a command and gives what it says.
    pub(super) fn quietly(&self, words: &[&str]) -> Result<String> {
        let mut printed = Vec::new();
        let end = self.start(words, &mut |bytes| printed.extend_from_slice(bytes))?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        match end {
            AgentEnd::Exited(0) => Ok(printed),
            // What the command said about itself is the best there is to say.
            end => {
                self.stage.record(printed.as_bytes());
                let reason = printed.lines().find(|line| line.contains("error[")).map(inert_line);
                let reason = reason.unwrap_or_else(|| format!("it ended with {end:?}"));
                let what = format!("`{}` of {} failed: {reason}", as_typed(words), self.name);
                // A hub that does not want something is no bug of this program.
                match reason.contains("error[hub_") {
                    true => Err(Problem::new(Code::HubRefused, format!("The story stops here: {what}."))
                        .fix("Tell the story on a scratch hub: `capsid demo --network` without `--hub`.")),
                    false => Err(story_broke(&what)),
                }
            }
        }
    }

    fn start(&self, words: &[&str], on_output: &mut dyn FnMut(&[u8])) -> Result<AgentEnd> {
        let stop = AtomicBool::new(false);
        let run =
            ProgramRun { folder: &self.repo, input: b"", env: &self.env, longest: MAX_LEN, stop: &stop };
        run_self(words, &run, on_output)
    }
}

/// The words of a command as a person would type them: the script of an agent by its name alone.
fn as_typed(words: &[&str]) -> String {
    let short = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
    format!("capsid {}", words.iter().map(short).collect::<Vec<_>>().join(" "))
}
