//! What `capsid status` knows: the coding agents of this user, the repository, and the hub. Reads only, and asks nobody.

use crate::commands::node::HubConnectionArgs;
use crate::commands::{home_folder, trail, variable};
use capsid_engine::exchange::outgoing::count_new_for;
use capsid_engine::view::status::{StatusReport, read_status};
use capsid_engine::workspace::Workspace;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Code, Problem, Result, Time, Value, json};
use capsid_seal::TrailHome;
use capsid_seal::chain::ChainReader;
use capsid_seal::keys::file::lacks_backup;
use capsid_trail::install::{AgentPaths, is_served};
use capsid_transcript::Tool;
use capsid_transcript::session_paths::{SessionName, list_by_name};
use std::collections::BTreeSet;
use std::path::Path;

/// What is known of this user, of the repository and of the hub.
#[derive(Debug, Clone, Default)]
pub(super) struct StatusFacts {
    /// The coding agents that are installed.
    pub(super) agents: Vec<AgentFacts>,
    /// Whether a key seals that nobody copied.
    pub(super) key_lacks_backup: bool,
    /// The repository around the current folder.
    pub(super) repository: Option<RepositoryFacts>,
    /// The hub that commands use here.
    pub(super) hub_url: Option<String>,
}

/// A coding agent of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentFacts {
    pub(super) tool: Tool,
    /// Its name as people write it.
    pub(super) name: &'static str,
    pub(super) sessions: usize,
    /// Sessions of which nothing is sealed.
    pub(super) unsealed: usize,
    /// Whether it has Capsid's server in this repository.
    pub(super) is_set_up: bool,
}

/// The repository around the current folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RepositoryFacts {
    pub(super) name: String,
    pub(super) root: String,
    pub(super) has_store: bool,
    pub(super) genes: usize,
    pub(super) capsules: usize,
    pub(super) last_cycle: Option<LastCycle>,
    /// Runs that wait for somebody.
    pub(super) pending: usize,
    /// Capsules that the hub may get and does not have.
    pub(super) shareable: usize,
}

/// How the last cycle ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LastCycle {
    pub(super) outcome: &'static str,
    pub(super) at: Option<Time>,
}

impl StatusFacts {
    /// The facts for a program.
    pub(super) fn to_json(&self) -> Value {
        let agent = |agent: &AgentFacts| json!({"tool": agent.tool.name(), "sessions": agent.sessions, "unsealed": agent.unsealed, "set_up": agent.is_set_up});
        let repository = self.repository.as_ref().map(|repository| {
            let last = repository.last_cycle.as_ref();
            json!({
                "name": repository.name,
                "root": repository.root,
                "genes": repository.genes,
                "capsules": repository.capsules,
                "last_cycle": last.map(|last| json!({"outcome": last.outcome, "at": last.at.map(Time::iso)})),
                "shareable": repository.shareable,
            })
        });
        json!({
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "key_lacks_backup": self.key_lacks_backup,
            "repository": repository,
            "hub": self.hub_url.as_ref().map(|url| json!({"url": url})),
        })
    }
}

/// Reads everything. The report of the repository comes along; none where there is no repository.
pub(super) fn read_facts(folder: &Path) -> Result<(StatusFacts, Option<StatusReport>)> {
    let workspace = match crate::commands::workspace(folder) {
        Ok(workspace) => Some(workspace),
        Err(problem) if matches!(problem.code, Code::NotAGitRepository | Code::ProgramNotFound) => None,
        Err(problem) => return Err(problem),
    };
    let report = workspace.as_ref().map(read_status).transpose()?;
    let hub_url = read_hub_url(folder, workspace.as_ref())?;
    let repository = match (&workspace, &report) {
        (Some(workspace), Some(report)) => {
            Some(read_repository(workspace, report.pending.len(), hub_url.as_deref())?)
        }
        _ => None,
    };
    let root = workspace.as_ref().map(|workspace| workspace.repository.root.as_path());
    // Without a home folder there are no agents, no trail and no key.
    let home = home_folder().and_then(|_| TrailHome::find(None, &variable)).ok();
    let facts = StatusFacts {
        agents: home.as_ref().map(|home| read_agents(home, root)).transpose()?.unwrap_or_default(),
        key_lacks_backup: home.is_some_and(|home| lacks_backup(home.root())),
        repository,
        hub_url,
    };
    Ok((facts, report))
}

fn read_hub_url(folder: &Path, workspace: Option<&Workspace>) -> Result<Option<String>> {
    let settings = match workspace {
        Some(workspace) => workspace.config.hub.settings(&variable),
        None => HubConnectionArgs::default().settings(folder).map(Some),
    };
    match settings {
        Ok(settings) => Ok(settings.map(|settings| settings.url)),
        Err(problem) if problem.code == Code::NoHub => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn read_repository(workspace: &Workspace, pending: usize, hub: Option<&str>) -> Result<RepositoryFacts> {
    let root = &workspace.repository.root;
    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
    let mut facts = RepositoryFacts {
        name,
        root: root.to_string_lossy().into_owned(),
        has_store: workspace.store.exists(),
        pending,
        ..RepositoryFacts::default()
    };
    if facts.has_store {
        facts.genes = workspace.store.genes.texts()?.len();
        facts.capsules = workspace.store.capsules.texts()?.len();
        facts.last_cycle = workspace.store.events.recent(1)?.first().map(LastCycle::from_event);
        if let Some(hub) = hub.filter(|_| facts.capsules > 0) {
            facts.shareable = count_new_for(workspace, hub)?;
        }
    }
    Ok(facts)
}

impl LastCycle {
    fn from_event(event: &EvolutionEvent) -> Self {
        let outcome = if event.outcome.is_success() { "success" } else { "failed" };
        Self { outcome, at: event.at }
    }
}

fn read_agents(home: &TrailHome, repository: Option<&Path>) -> Result<Vec<AgentFacts>> {
    let paths = trail::session_paths()?;
    let settings = repository.map(agent_paths).transpose()?;
    let sessions = list_by_name(&paths);
    let agents = Tool::ALL.into_iter().map(|tool| {
        let own: Vec<&SessionName> = sessions.iter().filter(|session| session.tool == tool).collect();
        let sealed = if own.is_empty() { BTreeSet::new() } else { list_sealed(home, tool) };
        AgentFacts {
            tool,
            name: display_name(tool),
            sessions: own.len(),
            unsealed: own.iter().filter(|session| !sealed.contains(&session.session)).count(),
            is_set_up: settings.as_ref().is_some_and(|settings| is_served(tool, settings)),
        }
    });
    let is_installed =
        |agent: &AgentFacts| agent.sessions > 0 || agent.is_set_up || paths.has_folder(agent.tool);
    Ok(agents.filter(is_installed).collect())
}

/// The sessions of a tool that have a chain.
fn list_sealed(home: &TrailHome, tool: Tool) -> BTreeSet<String> {
    if let Some(shared) = home.shared() {
        let tenants = ChainReader::open(shared).and_then(|reader| reader.tenants());
        return tenants.unwrap_or_default().into_iter().flatten().collect();
    }
    let chains = std::fs::read_dir(home.chains().join(tool.name())).into_iter().flatten().flatten();
    chains.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".db").map(str::to_owned)).collect()
}

/// Where the agents have their settings; only what is needed to look.
fn agent_paths(repository: &Path) -> Result<AgentPaths> {
    Ok(AgentPaths {
        user: trail::install_paths()?,
        repository: repository.to_owned(),
        cline: trail::cline_folders()?,
        on_path: false,
        home_words: Vec::new(),
    })
}

fn display_name(tool: Tool) -> &'static str {
    match tool {
        Tool::ClaudeCode => "Claude Code",
        Tool::Codex => "Codex",
        Tool::Cursor => "Cursor",
        Tool::Cline => "Cline",
    }
}

/// What is wrong with a hub, or which version answers.
pub(super) fn check_hub(folder: &Path, url: &str) -> Result<String> {
    let connection = HubConnectionArgs { hub: Some(url.to_owned()) };
    let settings = connection.quick_settings(folder, super::PATIENCE)?;
    let health = crate::commands::doctor::read_health(&settings)?;
    match health.get("status").and_then(Value::as_str) {
        Some("ok") => {
            let version = health.get("version").and_then(Value::as_str).unwrap_or("unknown");
            Ok(version.to_owned())
        }
        _ => Err(Problem::new(
            Code::HubUnreachable,
            format!("{url} answers, but reports that it is not healthy."),
        )
        .fix("Read the hub's log.")),
    }
}
