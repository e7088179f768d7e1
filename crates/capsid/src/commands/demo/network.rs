//! `capsid demo --network`: what one agent found out helps another one, over a hub. Each of the three nodes has a home of
//! its own and runs this program as its owner would.

use super::hub::StoryHub;
use super::{chapter, scenes, scratch_folder};
use crate::output::{self, DIM, GOOD, HEAD, NAME, paint};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result, Value};
use capsid_sandbox::git::Git;
use capsid_sandbox::{AgentEnd, AgentRequest, run_agent};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long one command of the story may take.
const LONGEST: Duration = Duration::from_secs(120);
/// How long the hub has to promote what was reproduced.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells the story.
pub(super) fn run(folder: Option<PathBuf>) -> Result<u8> {
    needs_node()?;
    let folder = scratch_folder(folder)?;
    let hub = StoryHub::start(&folder.join("hub"))?;
    chapter("Three nodes and a hub");
    output::line(format_args!("The hub runs at {} as long as the story does.", paint(NAME, &hub.url)));
    output::line("  shop        asks a service for prices; its owner wrote a gene for timeouts");
    output::line("  validator   runs what others publish, in a sandbox");
    output::line("  invoices    other code that asks the same service");
    let shop = Teller::new(&folder, "shop", &hub.url)?;
    let validator = Teller::new(&folder, "validator", &hub.url)?;
    let invoices = Teller::new(&folder, "invoices", &hub.url)?;
    shop.project(&[("shop.js", scenes::SHOP), ("shop.test.js", scenes::SHOP_TEST)], "node shop.test.js")?;
    shop.write("assets/gep/genes.jsonl", &format!("{}\n", scenes::GENE))?;
    shop.commit("A first version")?;
    find_out(&shop)?;
    publish(&shop)?;
    reproduce(&validator)?;
    let asset = promoted(&shop)?;
    reuse(&invoices)?;
    what_is_known(&shop, &validator, &invoices, &asset)?;
    output::line("");
    output::line(format_args!("Everything lies in {}", paint(NAME, folder.display())));
    Ok(0)
}

fn find_out(shop: &Teller) -> Result<()> {
    chapter("shop: a timeout, a change that proves itself, three times");
    for (n, at) in ["10:02:11", "13:40:05", "16:47:52"].iter().enumerate() {
        if n > 0 {
            output::line(paint(DIM, "A merge brings the bug back."));
            shop.write("shop.js", scenes::SHOP)?;
            for made in ["retry.js", "retry.test.js"] {
                files::remove(&shop.repo.join(made))?;
            }
        }
        shop.log(at)?;
        shop.evolve(scenes::FIX)?;
    }
    Ok(())
}

fn publish(shop: &Teller) -> Result<()> {
    chapter("shop: it worked three times in a row, so it may be shared");
    shop.capsid(&["node", "hello"])?;
    shop.capsid(&["node", "publish"])
}

fn reproduce(validator: &Teller) -> Result<()> {
    chapter("validator: somebody else tries it");
    validator.capsid(&["node", "hello"])?;
    // The hub hands assignments out once a second.
    let start = Instant::now();
    loop {
        let said = validator.quietly(&["node", "validator", "--once", "--stake", "100", "--json"])?;
        if said.contains("\"overall_ok\":true") {
            output::line(
                "It ran the gene's test on the files of the solution, in a sandbox: it passes here too.",
            );
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err(story_broke(&format!("the validator was given nothing to do: {said}")));
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Waits until the hub promoted the capsule; gives its id.
fn promoted(shop: &Teller) -> Result<String> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let said = shop.quietly(&["node", "search", "TimeoutError", "--json"])?;
        let found: Value = serde_json::from_str(&said).unwrap_or_default();
        let rows = found.get("results").and_then(Value::as_array).cloned().unwrap_or_default();
        let capsule = rows.iter().find(|row| row.get("type").and_then(Value::as_str) == Some("Capsule"));
        if let Some(id) = capsule.and_then(|row| row.get("asset_id")).and_then(Value::as_str) {
            output::line(format_args!("{} The hub promoted {id}", paint(GOOD, "promoted:")));
            return Ok(id.to_owned());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    Err(story_broke("the hub promoted nothing"))
}

fn reuse(invoices: &Teller) -> Result<()> {
    chapter("invoices: the same timeout, in other code");
    let files = [("invoices.js", scenes::INVOICES), ("invoices.test.js", scenes::INVOICES_TEST)];
    invoices.project(&files, "node invoices.test.js")?;
    invoices.commit("A first version")?;
    invoices.log("09:15:30")?;
    invoices.evolve(scenes::APPLY)
}

fn what_is_known(shop: &Teller, validator: &Teller, invoices: &Teller, asset: &str) -> Result<()> {
    chapter("What everybody can see now");
    shop.capsid(&["node", "status"])?;
    validator.capsid(&["node", "status"])?;
    invoices.capsid(&["node", "search", "TimeoutError"])?;
    for node in [shop, invoices] {
        node.capsid(&["events", "verify"])?;
    }
    output::line("");
    output::line("A solution of one was found, checked and reused by another, and nobody copied a file.");
    output::line(format_args!("Its id, {}, is the hash of what was published.", paint(NAME, asset)));
    Ok(())
}

/// One node of the story: a home and a repository of its own.
struct Teller {
    name: &'static str,
    home: PathBuf,
    repo: PathBuf,
    env: Vec<(String, String)>,
}

impl Teller {
    fn new(folder: &std::path::Path, name: &'static str, hub: &str) -> Result<Self> {
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
    fn project(&self, sources: &[(&str, &str)], test: &str) -> Result<()> {
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

    fn write(&self, name: &str, content: &str) -> Result<()> {
        files::replace(&self.repo.join(name), content.as_bytes())
    }

    fn commit(&self, message: &str) -> Result<()> {
        let git = Git::at(&self.repo);
        git.run(&["add", "-A"])?;
        git.run(&["commit", "-q", "-m", message]).map(drop)
    }

    fn log(&self, at: &str) -> Result<()> {
        let line = format!("{at} error: TimeoutError: upstream did not answer within 5000 ms");
        output::line(format_args!("  app.log  {line}"));
        files::replace(&self.home.join("app.log"), format!("{line}\n").as_bytes())
    }

    fn evolve(&self, agent: &str) -> Result<()> {
        let (log, script) = (self.home.join("app.log"), self.home.join("agent.sh"));
        files::replace(&script, agent.as_bytes())?;
        let (log, script) = (log.display().to_string(), script.display().to_string());
        self.capsid(&["evolve", "--log", &log, "--agent", "sh", &script])
    }

    /// Runs a command and shows what it says.
    fn capsid(&self, words: &[&str]) -> Result<()> {
        output::line(format_args!(
            "\n{} {}",
            paint(DIM, format_args!("{}$", self.name)),
            paint(HEAD, shown(words))
        ));
        self.start(words, &mut |bytes| output::print(&String::from_utf8_lossy(bytes)))
    }

    /// Runs a command and gives what it says.
    fn quietly(&self, words: &[&str]) -> Result<String> {
        let mut said = Vec::new();
        self.start(words, &mut |bytes| said.extend_from_slice(bytes))?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    fn start(&self, words: &[&str], on_output: &mut dyn FnMut(&[u8])) -> Result<()> {
        let program = std::env::current_exe().map_err(|error| story_broke(&error.to_string()))?;
        // What it says and what it talks come through one pipe, so that they stay in order.
        let together = ["sh", "-c", "exec \"$0\" \"$@\" 2>&1"].map(str::to_owned);
        let argv: Vec<String> = together
            .into_iter()
            .chain([program.display().to_string()])
            .chain(words.iter().map(|word| (*word).to_owned()))
            .collect();
        let request = AgentRequest {
            argv: &argv,
            cwd: &self.repo,
            prompt: b"",
            env: &self.env,
            timeout: LONGEST,
            stop: &AtomicBool::new(false),
        };
        match run_agent(&request, on_output)? {
            AgentEnd::Exited(0) => Ok(()),
            end => Err(story_broke(&format!("`capsid {}` ended with {end:?}", words.join(" ")))),
        }
    }
}

/// The words of a command as a person would type them: the script of an agent by its name alone.
fn shown(words: &[&str]) -> String {
    let short = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
    format!("capsid {}", words.iter().map(short).collect::<Vec<_>>().join(" "))
}

fn needs_node() -> Result<()> {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("node").is_file()));
    if found {
        return Ok(());
    }
    Err(Problem::new(
        Code::ProgramNotFound,
        "The story's projects are written for Node, which is not on the PATH.",
    )
    .fix("Install Node, or watch `capsid demo`, which needs nothing."))
}

fn story_broke(what: &str) -> Problem {
    Problem::new(Code::Internal, format!("The demo could not go on: {what}."))
}
