//! `capsid demo`: a whole story in a scratch repository, run by the same code as the real commands.

pub(crate) mod background;
pub(crate) mod hub;
mod market;
mod network;
mod node;
mod program;
pub mod scenes;
mod stage;

use super::workspace;
use crate::commands::cycle::cycle_problem::describe_problem;
use crate::commands::cycle::select::print_selection;
use crate::commands::cycle::solidify::print_settled;
use crate::commands::store::events::tree_lines;
use crate::output::{self, DIM, GOOD, HEAD, NAME, paint};
use capsid_disk::files;
use capsid_engine::cycle::agent::AgentOptions;
use capsid_engine::cycle::evolve::{self, EvolveRequest, Prepared, Ready};
use capsid_engine::cycle::observation::Sources;
use capsid_engine::cycle::solve::{self, SolveHooks, SolveNote, SolveOptions, SolveOutcome};
use capsid_engine::run::agent_permit::Unlimited;
use capsid_engine::solidify::CycleOutcome;
use capsid_model::hash::sha256_hex;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::git::Git;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Watch a whole story in a scratch repository: repair, reuse, and a bad change that is rolled back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid demo                              watch it, in a folder that is then yours to look at
  capsid demo --dir story                  the same in a folder of your choice
  capsid demo --network                    one agent's solution helps another one, over a hub
  capsid demo --network --step             the same, and Enter goes on
  capsid demo --network --hub http://127.0.0.1:4000    the same on a scratch hub that runs already")]
pub struct DemoArgs {
    /// Make the repository in this folder, which must not exist yet.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Watch four nodes and a hub instead: a solution is published, reproduced, promoted and reused elsewhere.
    #[arg(long)]
    network: bool,

    /// Tell it on this hub, instead of one that ends with the story. It should be a scratch one: the story stays there.
    #[arg(long, value_name = "URL", requires = "network")]
    hub: Option<String>,

    /// With --network: wait for Enter before each step.
    #[arg(long, requires = "network", conflicts_with = "fast")]
    step: bool,

    /// With --network: do not pause between steps.
    #[arg(long, requires = "network")]
    fast: bool,
}

const BROKEN: &str = "\
# Prints the mean of its arguments.
sum=0
for n in \"$@\"; do sum=$((sum + n)); done
echo $((sum / $#))
";

const TEST: &str = "\
[ \"$(sh average.sh 2 4)\" = 3 ] || { echo 'error: average.sh 2 4 should print 3' >&2; exit 1; }
[ \"$(sh average.sh)\" = 0 ] || { echo 'error: average.sh without numbers should print 0' >&2; exit 1; }
echo ok
";

/// Another script of the user's, with another bug.
const REPORT: &str = "\
# Prints a line for the report.
set -u
echo \"$title: $(sh average.sh 2 4)\"
";

/// Scripted agents: each reads its prompt and edits files, as a real one would.
const FIX: &str = "\
cat > /dev/null
sed -i.bak 's|^echo .*|[ $# -gt 0 ] \\&\\& echo $((sum / $#)) \\|\\| echo 0|' average.sh && rm -f average.sh.bak
cat > \"$CAPSID_NOTE_FILE\" <<'END'
Print 0 for an empty list

Without arguments the sum was divided by zero. average.sh divides only if there are numbers.
END
echo 'agent: average.sh answers an empty list now'
";

const CARELESS: &str = "\
cat > /dev/null
echo 'SECRET=overwritten' > .env.new && mv .env.new .env
echo 'all notes replaced' > NOTES.md
for n in 1 2 3; do echo junk > junk$n.txt; done
echo 'agent: done, I think'
";

/// The log that a cycle reads, in the folder of the story.
const LOG: &str = "check.log";

const NOTES: &str = "A draft of mine that is not committed.\n";

/// Runs the command.
pub fn run(arguments: &DemoArgs) -> Result<u8> {
    if arguments.network {
        let pace = stage::Pace::choose(arguments.fast, arguments.step);
        return network::run(arguments.dir.clone(), arguments.hub.as_deref(), pace);
    }
    let story = DemoStory::begin(arguments.dir.clone())?;
    story.first_cycle()?;
    story.second_cycle()?;
    story.third_cycle()?;
    story.end()
}

struct DemoStory {
    folder: PathBuf,
    repo: PathBuf,
}

impl DemoStory {
    fn begin(folder: Option<PathBuf>) -> Result<Self> {
        let folder = scratch_folder(folder)?;
        let story = Self { repo: folder.join("repo"), folder };
        files::create_folder(&story.repo)?;
        chapter("A repository with a bug");
        let git = story.git();
        git.run(&["init", "-q", "-b", "main"])?;
        git.run(&["config", "user.name", "Demo"])?;
        git.run(&["config", "user.email", "demo@example.invalid"])?;
        git.run(&["config", "commit.gpgsign", "false"])?;
        story.write("average.sh", BROKEN)?;
        story.write("test.sh", TEST)?;
        story.write("report.sh", REPORT)?;
        story.write(".gitignore", ".env\n")?;
        story.write("capsid.toml", &policy())?;
        super::init::set_up(&workspace(&story.repo)?)?;
        story.commit("A first version")?;
        story.write(".env", "SECRET=mine\n")?;
        story.write("NOTES.md", NOTES)?;
        output::line(format_args!("It is in {}", paint(NAME, story.repo.display())));
        output::line("  average.sh   prints the mean of its arguments, and fails without any");
        output::line("  test.sh      what must pass; capsid.toml says so");
        output::line("  report.sh    uses a name that is not set");
        output::line("  NOTES.md     a draft of the user's, not committed");
        Ok(story)
    }

    fn first_cycle(&self) -> Result<()> {
        chapter("Cycle 1: a check fails, an agent repairs it");
        self.log("sh test.sh")?;
        let settled = self.cycle(FIX)?;
        require_success(&settled)?;
        output::line("");
        print_settled(&settled, false);
        output::line(
            "The check failed before the change and passes with it. That is the proof, so the change is",
        );
        output::line("kept and stored as a capsule, under the title that the agent gave it.");
        Ok(())
    }

    fn second_cycle(&self) -> Result<()> {
        chapter("Cycle 2: the bug comes back, and no agent is needed");
        self.write("average.sh", BROKEN)?;
        self.commit("A merge that brings the bug back")?;
        self.log("sh test.sh")?;
        let settled = self.cycle(FIX)?;
        require_success(&settled)?;
        output::line("");
        print_settled(&settled, false);
        output::line(
            "It is the same problem, so the stored change was tried first, and the check passes again.",
        );
        output::line("The capsule is proven twice in a row now: it may be shared.");
        Ok(())
    }

    fn third_cycle(&self) -> Result<()> {
        chapter("Cycle 3: another problem, and a careless agent");
        self.log("sh report.sh")?;
        let before = self.fingerprint()?;
        let settled = self.cycle(CARELESS)?;
        output::line("");
        print_settled(&settled, false);
        let after = self.fingerprint()?;
        if settled.ok || before != after {
            return Err(Problem::new(
                Code::Internal,
                "The demo's files are not as they were before the third cycle.",
            ));
        }
        output::line(format_args!(
            "{} NOTES.md, .env and every other file are byte for byte as the user had them.",
            paint(GOOD, "checked:")
        ));
        Ok(())
    }

    fn end(&self) -> Result<u8> {
        chapter("What is on record");
        for line in tree_lines(&workspace(&self.repo)?.store.events)? {
            output::line(line);
        }
        output::line("");
        let show = |command: &str| {
            output::line(format_args!("  {} -C {} {command}", paint(HEAD, "capsid"), self.repo.display()));
        };
        output::line("Look around; the repository stays:");
        show("events --tree");
        show("explain");
        show("capsules");
        let log = self.repo.join("assets/gep/events.jsonl");
        output::line(format_args!("  {} asset verify {}", paint(HEAD, "capsid"), log.display()));
        output::line(format_args!(
            "  AGENT_CAPSULE_HOME={} {} -C {} events verify",
            self.trail().display(),
            paint(HEAD, "capsid"),
            self.repo.display()
        ));
        Ok(0)
    }

    fn trail(&self) -> PathBuf {
        self.folder.join("trail")
    }

    /// One cycle with a scripted agent, printed step by step.
    fn cycle(&self, script: &str) -> Result<CycleOutcome> {
        let mut workspace = workspace(&self.repo)?;
        // A story leaves nothing in the user's own trail.
        let trail = self.trail().to_string_lossy().into_owned();
        let data = self.folder.join("data").to_string_lossy().into_owned();
        workspace.env = Arc::new(move |name| match name {
            "AGENT_CAPSULE_HOME" => Some(trail.clone()),
            "CAPSID_HOME" => Some(data.clone()),
            "AGENT_CAPSULE_DB" => None,
            name => super::variable(name),
        });
        let log = self.folder.join(LOG);
        let request = EvolveRequest {
            sources: Sources { logs: vec![log], sessions: false, ..Sources::default() },
            agent: true,
            ..EvolveRequest::default()
        };
        let mut ready = match evolve::prepare(&workspace, &request)? {
            Prepared::Ready(ready) => ready,
            Prepared::Skipped(reason) => {
                return Err(Problem::new(Code::Internal, format!("The demo's cycle was skipped: {reason}.")));
            }
            Prepared::Refused(problem) => return Err(problem),
        };
        print_prepared(&ready);
        let options = SolveOptions {
            agent: AgentOptions {
                argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
                timeout: None,
                stop: Arc::new(AtomicBool::new(false)),
            },
            commit: false,
            retries: 0,
        };
        let size = ready.prompt.lines().count();
        let mut hooks = SolveHooks {
            permit: &mut Unlimited,
            on_note: &mut |note| print_progress(note, size),
            review: None,
        };
        match solve::solve(&workspace, &mut ready, &options, &mut hooks)? {
            SolveOutcome::Finished(settled) => Ok(*settled),
            SolveOutcome::Stopped | SolveOutcome::Declined => {
                Err(program::story_broke("a cycle was not finished"))
            }
        }
    }

    /// Runs a check and writes what it prints into the log that the cycle reads.
    fn log(&self, command: &str) -> Result<()> {
        output::line(format_args!("{} {}", paint(DIM, "$"), paint(HEAD, command)));
        program::print_check(&program::record_check(command, &self.repo, &[], &self.folder.join(LOG))?);
        Ok(())
    }

    fn write(&self, name: &str, content: &str) -> Result<()> {
        files::replace(&self.repo.join(name), content.as_bytes())
    }

    fn commit(&self, message: &str) -> Result<()> {
        let git = self.git();
        git.run(&["add", "average.sh", "test.sh", "report.sh", ".gitignore", "capsid.toml", "assets"])?;
        git.run(&["commit", "-q", "-m", message])?;
        Ok(())
    }

    fn git(&self) -> Git {
        Git::at(&self.repo)
    }

    /// The hash of every file of the user's.
    fn fingerprint(&self) -> Result<Vec<(String, String)>> {
        let mut prints = Vec::new();
        let entries =
            std::fs::read_dir(&self.repo).map_err(|error| Problem::io("read", &self.repo, &error))?;
        for entry in entries.flatten().filter(|entry| entry.path().is_file()) {
            let bytes =
                std::fs::read(entry.path()).map_err(|error| Problem::io("read", &entry.path(), &error))?;
            prints.push((entry.file_name().to_string_lossy().into_owned(), sha256_hex(&bytes)));
        }
        prints.sort();
        Ok(prints)
    }
}

/// What the cycle knows before anybody changes a file.
fn print_prepared(ready: &Ready) {
    let run = &ready.run;
    if let Some(problem) = &run.problem {
        output::line(format_args!("  problem   {}", paint(NAME, describe_problem(problem))));
    }
    if let Some(known) = run.reproduction.as_ref().filter(|known| known.is_reproduced) {
        output::line(format_args!("  check     `{}` fails here too", inert_line(&known.command)));
    }
    print_selection(&ready.selection);
}

fn print_progress(note: &SolveNote<'_>, prompt_lines: usize) {
    match note {
        SolveNote::Trying(offer) => output::line(format_args!(
            "  trying    {}  {}",
            paint(NAME, inert_line(&offer.capsule_id)),
            inert_line(&offer.title)
        )),
        SolveNote::Agent { .. } => output::line(paint(
            DIM,
            format_args!("  the prompt has {prompt_lines} lines; the agent reads it and edits the files"),
        )),
        SolveNote::Output(bytes) => output::print(&format!("  {}", String::from_utf8_lossy(bytes))),
        SolveNote::NotSolved(_)
        | SolveNote::AgentEnded
        | SolveNote::Validating
        | SolveNote::Retry(_)
        | SolveNote::Problem(_) => {}
    }
}

fn require_success(settled: &CycleOutcome) -> Result<()> {
    if settled.ok { Ok(()) } else { Err(program::story_broke(&settled.verdict.reason())) }
}

/// The owner allows `sh` and names the test. Where no sandbox works, the demo says so and goes on without.
fn policy() -> String {
    let sandboxed = capsid_sandbox::probe().iter().any(|probe| probe.works);
    if !sandboxed {
        output::line(paint(
            DIM,
            "No sandbox works on this machine, so the demo's own test runs without one.",
        ));
    }
    let sandbox = if sandboxed { "require" } else { "off" };
    format!("[validation]\nprograms = [\"sh\"]\ncommands = [\"sh test.sh\"]\nsandbox = \"{sandbox}\"\n")
}

pub(crate) fn scratch_folder(named: Option<PathBuf>) -> Result<PathBuf> {
    let Some(folder) = named else {
        let mut builder = tempfile::Builder::new();
        builder.prefix("capsid-demo-");
        // The nodes of a story have secrets and its people passwords.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.tempdir();
        return made
            .map(tempfile::TempDir::keep)
            .map_err(|error| Problem::io("create", &std::env::temp_dir(), &error));
    };
    if folder.exists() {
        return Err(Problem::new(Code::InputInvalid, format!("`{}` is there already.", folder.display()))
            .fix("Name a folder that does not exist yet."));
    }
    files::create_folder(&folder)?;
    folder.canonicalize().map_err(|error| Problem::io("open", &folder, &error))
}

fn chapter(title: &str) {
    output::line(format_args!("\n{}", paint(HEAD, title)));
}
