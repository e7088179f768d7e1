//! `capsid.toml`: what the owner of the repository allows. An asset can never widen it.

mod learning;

pub use learning::{LoopConfig, ProblemsConfig, ProofConfig};

use crate::tree::private_tree::CopyIgnored;
use capsid_client::joined::JoinedHub;
use capsid_client::{ClientConfig, config};
use capsid_model::{Code, Problem, Result, hash};
use capsid_rules::learning::capsule_text::generated::TextLanguage;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No policy is longer; more is something else that took its place.
const MAX_BYTES: u64 = 1024 * 1024;

/// The owner's policy, with good defaults for everything.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct EngineConfig {
    pub validation: ValidationConfig,
    /// What a cycle may change.
    pub constraints: ConstraintsConfig,
    pub cycle: CycleConfig,
    pub proof: ProofConfig,
    pub problems: ProblemsConfig,
    #[serde(rename = "loop")]
    pub evolve_loop: LoopConfig,
    /// What the agent that a cycle starts may see and keep.
    pub agent: AgentConfig,
    /// How the record of cycles is sealed.
    pub trail: TrailConfig,
    /// The hub, if there is one, and what may pass between it and this repository.
    pub hub: HubConnectionConfig,
    /// The hash of the file it came from; empty without a file.
    #[serde(skip)]
    pub digest: String,
}

/// How validation commands run.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ValidationConfig {
    /// Programs allowed beyond node, npm and npx.
    pub programs: Vec<String>,
    /// Whether commands may carry code, as in `node -e`.
    pub inline_code: bool,
    /// Commands that run in every cycle, after the gene's own.
    pub commands: Vec<String>,
    /// Seconds until a command is stopped.
    pub timeout_seconds: u64,
    /// Whether to insist on a sandbox.
    pub sandbox: SandboxPolicy,
    /// Folders outside the repository that commands may read, such as a toolchain's.
    pub read: Vec<PathBuf>,
    /// Whether commands may use the network.
    pub network: bool,
    /// A command that must pass before anything is stored: a quick check that the program still loads.
    pub load_check: Option<String>,
    /// The most that the commands of a cycle may write, in MiB.
    pub disk_mb: u64,
}

impl Default for ValidationConfig {
    fn default() -> Self {
        Self {
            programs: Vec::new(),
            inline_code: false,
            commands: Vec::new(),
            timeout_seconds: 180,
            sandbox: SandboxPolicy::Require,
            read: Vec::new(),
            network: false,
            load_check: None,
            disk_mb: 4096,
        }
    }
}

/// How the record of cycles is sealed.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct TrailConfig {
    /// Whether each line of the event log is sealed into the repository's chain.
    pub seal_events: bool,
}

impl Default for TrailConfig {
    fn default() -> Self {
        Self { seal_events: true }
    }
}

/// The hub, and what may pass between it and this repository.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct HubConnectionConfig {
    /// Its address. Without one nothing leaves this machine.
    pub url: Option<String>,
    /// Whether `http://` is allowed for a host that is not this machine.
    pub allow_insecure: bool,
    /// A certificate authority in addition to those of the system, as a PEM file.
    pub ca_file: Option<PathBuf>,
    /// Whether a cycle first looks for a proven solution, and what may be made of it.
    pub reuse: ReuseConfig,
    /// Whether what the hub promoted needs no promotion here before it may be applied as it is.
    pub trust: bool,
    /// Whether the result of a reused solution is reported to the hub.
    pub report: bool,
    /// Whether the loop publishes what became eligible.
    pub publish: bool,
    /// Whether the loop takes tasks.
    pub tasks: bool,
    /// How the loop chooses among tasks: balanced, greedy or conservative.
    pub task_strategy: String,
    /// The most minutes a day that the loop spends on tasks.
    pub task_minutes_per_day: u64,
    /// The most tasks a day that the loop works on.
    pub task_runs_per_day: u64,
    /// Hours between two looks at what is new on the hub.
    pub sync_hours: u64,
    /// Whether only members of the protocol are sent: no problem, proof, title or explanation.
    pub strict: bool,
    /// Whether a change that solved a problem with a solution of the hub is kept without a review.
    pub apply: ApplyPolicy,
    /// Whether candidates of others are tried that nobody has tried yet.
    pub trial: TrialPolicy,
}

/// Whether candidates of a hub are tried.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TrialPolicy {
    #[default]
    Off,
    /// A candidate that solved the same problem is tried in a private view, and the result is reported.
    Auto,
}

/// What becomes of a proven change that came from a hub.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ApplyPolicy {
    /// It waits for `capsid review`.
    #[default]
    Review,
    /// It is applied at once.
    Auto,
}

/// What may be made of a solution that was found on the hub.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum ReuseConfig {
    /// The hub is not searched.
    Off,
    /// It is shown in the prompt, however good it is.
    Reference,
    /// The best of those that were promoted here are offered to be applied as they are; the others are shown.
    Direct,
}

impl Default for HubConnectionConfig {
    fn default() -> Self {
        Self {
            url: None,
            allow_insecure: false,
            ca_file: None,
            reuse: ReuseConfig::Direct,
            trust: false,
            report: true,
            publish: false,
            tasks: false,
            task_strategy: "balanced".to_owned(),
            task_minutes_per_day: 60,
            task_runs_per_day: 10,
            sync_hours: 4,
            strict: false,
            apply: ApplyPolicy::Review,
            trial: TrialPolicy::Off,
        }
    }
}

impl HubConnectionConfig {
    /// How the hub is reached: the one that the environment names, else that of the repository, else the one that this
    /// user joined. None where there is none.
    pub fn settings(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<ClientConfig>> {
        self.settings_for(None, env)
    }

    /// The same, where a command names a hub, which wins over both.
    pub fn settings_for(
        &self,
        named: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<ClientConfig>> {
        let by_user = named.map(str::to_owned).or_else(|| config::named_in(env));
        let Some(url) = by_user.as_ref().or(self.url.as_ref()) else {
            return JoinedHub::load(env)?.map(|joined| ClientConfig::for_joined(&joined, env)).transpose();
        };
        let insecure = |name: &str| match env(name) {
            None if self.allow_insecure && name == "CAPSID_HUB_ALLOW_INSECURE" => Some("1".to_owned()),
            value => value,
        };
        let mut settings = ClientConfig::resolve(Some(url), &insecure)?;
        settings.from_repository = by_user.is_none();
        settings.ca_file = settings.ca_file.or_else(|| self.ca_file.clone());
        Ok(Some(settings))
    }
}

/// Whether validation commands may run without a sandbox.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SandboxPolicy {
    /// Refuse where no sandbox works.
    Require,
    /// Run without one, and record that.
    Off,
}

/// What a cycle may change.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ConstraintsConfig {
    /// More files fail a cycle whatever the gene allows.
    pub hard_cap_files: u64,
    /// More lines fail a cycle whatever the gene allows.
    pub hard_cap_lines: u64,
    /// Files and folders that no cycle may change.
    pub protected: Vec<String>,
}

impl Default for ConstraintsConfig {
    fn default() -> Self {
        Self { hard_cap_files: 60, hard_cap_lines: 20_000, protected: vec![".env".to_owned()] }
    }
}

/// How cycles are made.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct CycleConfig {
    pub strategy: Option<String>,
    /// The agent's command, used when the command line names none.
    pub agent: Vec<String>,
    pub agent_timeout_seconds: u64,
    /// Whether the sessions of coding agents on this machine are read for signals.
    pub sessions: bool,
    /// Where the agent that a cycle starts works.
    pub view: ViewPolicy,
    /// What becomes of ignored files where the agent works in a copy.
    pub copy_ignored: CopyIgnored,
    /// Files that run automatically and may nevertheless be changed without a review.
    pub allow: Vec<String>,
    /// Whether `--commit` runs the repository's hooks, outside of any sandbox.
    pub commit_hooks: bool,
    /// The language of texts that the engine writes about a change.
    pub language: TextLanguage,
    /// How often the agent tries again after a failed validation, in the same cycle.
    pub retries: u32,
}

impl Default for CycleConfig {
    fn default() -> Self {
        Self {
            strategy: None,
            agent: Vec::new(),
            agent_timeout_seconds: 1800,
            sessions: true,
            view: ViewPolicy::Auto,
            copy_ignored: CopyIgnored::Link,
            allow: Vec::new(),
            commit_hooks: false,
            language: TextLanguage::English,
            retries: 0,
        }
    }
}

/// Where the agent that a cycle starts works.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ViewPolicy {
    /// In an overlay where one can be mounted, else in a copy.
    Auto,
    /// In an overlay, or not at all.
    Overlay,
    /// In a copy.
    Copy,
}

/// What the agent that a cycle starts may see and keep.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct AgentConfig {
    /// Hidden paths that it may see after all, such as `~/.aws`.
    pub show: Vec<PathBuf>,
    /// Sockets that it may reach. A container engine's socket is as good as root.
    pub sockets: Vec<PathBuf>,
    /// Folders outside of the repository in which its writes stay.
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// The most that it may write, in MiB.
    pub disk_mb: u64,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { show: Vec::new(), sockets: Vec::new(), write: Vec::new(), network: true, disk_mb: 4096 }
    }
}

impl EngineConfig {
    /// Reads a file; without one, the defaults. Variables of existing tools win over the file.
    pub fn load(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let text = read(path)?;
        let mut config: Self = match &text {
            Some(text) => toml::from_str(text).map_err(|error| invalid(path, error.to_string().trim()))?,
            None => Self::default(),
        };
        for entry in &mut config.constraints.protected {
            *entry = inside(entry).ok_or_else(|| outside(path, entry))?;
        }
        config.digest = text.map(|text| hash::sha256_hex(text.as_bytes())).unwrap_or_default();
        config.read_table(env)?;
        Ok(config)
    }

    fn read_table(&mut self, env: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        let number = |name: &str| match env(name).filter(|value| !value.trim().is_empty()) {
            Some(value) => value.trim().parse::<u64>().map(Some).map_err(|_| {
                Problem::new(Code::ConfigInvalid, format!("`{name}` should be a whole number, is `{value}`."))
                    .fix(format!("Correct or unset `{name}`."))
            }),
            None => Ok(None),
        };
        if let Some(files) = number("EVOLVER_HARD_CAP_FILES")? {
            self.constraints.hard_cap_files = files;
        }
        if let Some(lines) = number("EVOLVER_HARD_CAP_LINES")? {
            self.constraints.hard_cap_lines = lines;
        }
        if let Some(ms) = number("EVOLVER_VALIDATION_TIMEOUT_MS")? {
            self.validation.timeout_seconds = ms.div_ceil(1000).max(1);
        }
        if let Some(name) = env("EVOLVE_STRATEGY").filter(|name| !name.trim().is_empty()) {
            self.cycle.strategy = Some(name);
        }
        Ok(())
    }

    /// The policy of the command gate.
    pub fn gate(&self) -> capsid_model::gate::CommandPolicy {
        capsid_model::gate::CommandPolicy {
            programs: self.validation.programs.clone(),
            inline_code: self.validation.inline_code,
        }
    }

    /// How long one validation command may take.
    pub fn validation_timeout(&self) -> Duration {
        Duration::from_secs(self.validation.timeout_seconds.max(1))
    }
}

/// The text of the file, if there is one. A link is followed, but a device or a pipe has no end.
fn read(path: &Path) -> Result<Option<String>> {
    let fail = |error: std::io::Error| Problem::io("read", path, &error);
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
        Ok(meta) if !meta.is_file() => return Err(invalid(path, "it is no regular file.")),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(fail)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(invalid(path, "it is larger than 1 MiB."));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| invalid(path, "it is not UTF-8 text."))
}

/// A path of the work tree in the one form that is compared; none when it is not below its top.
fn inside(entry: &str) -> Option<String> {
    let entry = entry.trim().replace('\\', "/");
    let parts: Vec<&str> = entry.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let leaves = entry.starts_with('/') || parts.contains(&"..");
    (!leaves && !parts.is_empty()).then(|| parts.join("/"))
}

fn outside(path: &Path, entry: &str) -> Problem {
    let what = "names nothing below the top of the repository.";
    invalid(path, &format!("the entry `{entry}` of `constraints.protected` {what}"))
}

fn invalid(path: &Path, what: &str) -> Problem {
    Problem::new(Code::ConfigInvalid, format!("`{}` cannot be used: {what}", path.display()))
        .fix("Correct the line; `capsid init --print-config` shows every setting with its default.")
}

/// The commented file that `capsid init` writes: the programs and the validation commands of this repository.
pub fn template(programs: &[String], commands: &[String]) -> String {
    let list = |texts: &[String]| toml::Value::from(texts.to_vec());
    format!(
        r#"# What this repository allows the evolution engine. Everything here is optional.

[validation]
# Programs that validation commands may start, beyond node, npm and npx. Only you can add one; no gene can.
programs = {}
# Commands that must pass in every cycle, after the gene's own.
commands = {}
# Allow code on the command line, as in `node -e ...`.
inline_code = false
# Seconds until a command is stopped.
timeout_seconds = 180
# "require" refuses to run where no sandbox works; "off" runs without one and records that.
sandbox = "require"
# Folders outside the repository that commands may read, such as a toolchain's.
read = []
# Allow the network inside validation commands.
network = false
# A quick check that must pass before anything is kept, such as "node --check index.js".
# load_check = ""
# The most that the commands of a cycle may write, in MiB. All of it is discarded.
disk_mb = 4096

[constraints]
# Limits that no gene can exceed.
hard_cap_files = 60
hard_cap_lines = 20000
# Files and folders that no cycle may change.
protected = [".env"]

[cycle]
# balanced, innovate, harden, repair-only, early-stabilize, steady-state
# strategy = "balanced"
# The agent to run when `--agent` is not given; the prompt comes on its standard input.
agent = []
agent_timeout_seconds = 1800
# Read the sessions of coding agents on this machine for signals.
sessions = true
# Where the agent works: "overlay" (a private view of the repository), "copy", or "auto" for the best that works here.
view = "auto"
# In a copy: "link" ignored folders read-only, "copy" them, or "none".
copy_ignored = "link"
# Files that run automatically (.vscode, .envrc, hooks, ...) and may be changed without a review.
allow = []
# Run the repository's hooks when a cycle is committed. They run outside of the sandbox.
commit_hooks = false
# The language of titles and summaries that the engine writes: "en" or "zh".
language = "en"
# How often the agent tries again in the same cycle after its change failed validation.
retries = 0

[proof]
# Run the command once more without the change, to see it fail again: "auto" (if it is quick), "always" or "never".
revert = "auto"
# What happens if the tests of today fail with a change that edits tests: "review", "refuse" or "allow".
test_changes = "review"
# The most seconds that all runs of a proof may take together.
budget_seconds = 600

[problems]
# Matchers of your own for logs, as JSON files in the form that editors and CI systems use.
matchers = []

[loop]
# Commands that the loop runs when your files changed; their output is a log. Example: ["npm test"].
watch = []
# Let the loop begin improvements that nobody asked for.
innovate = false
# What the loop may spend on agents each day.
agent_calls_per_day = 20
agent_minutes_per_day = 120
# cost_per_day_usd = 5.0
# Failed attempts at one problem before the loop leaves it alone for a day.
attempts_per_problem = 3
# End the loop after this many minutes with nothing to do; 0 for never.
idle_exit_minutes = 0

[agent]
# Hidden paths that the agent may see after all, such as "~/.aws".
show = []
# Sockets that it may reach. A container engine's socket is as good as root.
sockets = []
# Folders outside of the repository in which its writes stay. All other writes are discarded.
write = []
network = true
# The most that it may write, in MiB.
disk_mb = 4096

[trail]
# Seal each line of the event log, so that a later change to it shows: `capsid events verify`.
seal_events = true

[hub]
# The hub that proven solutions are looked for at. Without one nothing leaves this machine.
# url = "http://127.0.0.1:4000"
# Allow `http://` to a host that is not this machine.
allow_insecure = false
# A certificate authority beside those of the system, as a PEM file.
# ca_file = "ca.pem"
# Look for a proven solution before each cycle: "off", "reference" (show it), "direct" (apply the best of those that you
# promoted with `capsid node promote`, show the others).
reuse = "direct"
# Apply the best without a promotion of yours: the hub's decides what your agent's task is. For a hub of your own.
trust = false
# Tell the hub how a reused solution did.
report = true
# Let `capsid evolve --loop` publish what became eligible. `capsid node publish --dry-run` shows what would be sent.
publish = false
# Let the loop take tasks, which is work for others. A task is handed in by publishing its solution, whatever `publish` says.
# How it chooses, and how much of a day it may spend:
tasks = false
task_strategy = "balanced"
task_minutes_per_day = 60
task_runs_per_day = 10
# Hours between two looks at what is new on the hub.
sync_hours = 4
# Send only members of the protocol: no problem, proof, title or explanation.
strict = false
# A change that solved a problem with a solution of the hub: "review" waits for you, "auto" applies it at once.
apply = "review"
# Try solutions that nobody else has tried yet, in a private view without network, and report the result: "off" or "auto".
trial = "off"
"#,
        list(programs),
        list(commands),
    )
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn the_template_says_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("capsid.toml");
        let text = template(&[], &[]);
        assert!(text.contains("[trail]") && text.contains("seal_events = true"), "{text}");
        std::fs::write(&path, text).unwrap();
        let mut config = EngineConfig::load(&path, &|_| None).unwrap();
        config.digest.clear();
        assert_eq!(config, EngineConfig::default());
    }

    #[test]
    fn the_template_holds_what_was_detected() {
        let commands = ["pytest -q".to_owned(), "go test -run 'a\"b\\c' ./...".to_owned()];
        let text = template(&["pytest".to_owned(), "go".to_owned()], &commands);
        let config: EngineConfig = toml::from_str(&text).unwrap();
        assert_eq!(config.validation.programs, ["pytest", "go"]);
        assert_eq!(config.validation.commands, commands);
    }

    fn loaded(text: &str) -> Result<EngineConfig> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("capsid.toml");
        std::fs::write(&path, text).unwrap();
        EngineConfig::load(&path, &|_| None)
    }

    #[test]
    fn a_misspelt_setting_is_named() {
        let problem = loaded("[validation]\nprogramms = []\n").unwrap_err();
        assert_eq!(problem.code, Code::ConfigInvalid);
        assert!(problem.message.contains("programms"), "{}", problem.message);
    }

    #[test]
    fn protected_paths_have_one_form() {
        let text = r"constraints.protected = [' .env ', './a/', 'b\c', 'd/./e//f', '...', '.git']";
        let protected = loaded(text).unwrap().constraints.protected;
        assert_eq!(protected, [".env", "a", "b/c", "d/e/f", "...", ".git"]);
    }

    #[test]
    fn a_protected_path_that_is_not_inside_is_named() {
        for entry in ["", "  ", ".", "./", "/", "/etc", "..", "a/../..", r"\etc", r"a\.."] {
            let problem = loaded(&format!("constraints.protected = ['{entry}']")).unwrap_err();
            assert_eq!(problem.code, Code::ConfigInvalid, "{entry}");
            for expected in ["constraints.protected", &format!("`{entry}`")] {
                assert!(problem.message.contains(expected), "{}", problem.message);
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_policy_without_an_end_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("capsid.toml");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let code = || EngineConfig::load(&path, &|_| None).unwrap_err().code;
        assert_eq!(code(), Code::ConfigInvalid);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "#".repeat(MAX_BYTES as usize + 1)).unwrap();
        assert_eq!(code(), Code::ConfigInvalid);
        std::fs::write(&path, "#".repeat(MAX_BYTES as usize)).unwrap();
        assert!(EngineConfig::load(&path, &|_| None).is_ok());
    }
}
