//! All that a coding agent is given: our MCP server, the trail's hook, and what is proven when a session starts.

use super::disk_file::invalid;
use super::draft::{SettingsChange, SettingsDraft};
use super::hook_lists::{HookCall, HookLists};
use super::settings_file::SettingsFile;
use super::{
    InstallContext, InstallOutcome, InstallPaths, claude_code, codex, command, cursor, finish_removal,
    install_at, mcp_json, mcp_toml, uninstall_at,
};
use capsid_model::Result;
use capsid_transcript::Tool;
use std::path::{Path, PathBuf};

/// Codex has a separate file for hooks, in the same format as Claude Code.
const CODEX_START: HookLists =
    HookLists { tool: Tool::Codex, events: &["SessionStart"], grouped: true, call: HookCall::Recall };

/// Where the agents of a user who works in a repository keep their settings.
#[derive(Debug, Clone)]
pub struct AgentPaths {
    pub user: InstallPaths,
    /// The repository, in which some keep their servers.
    pub repository: PathBuf,
    /// Where Cline may keep its data, best place last.
    pub cline: Vec<PathBuf>,
    /// Whether `capsid` on the PATH is this very program, so that its name alone starts it.
    pub on_path: bool,
    /// What the hook's command says about the trail's home.
    pub home_words: Vec<String>,
}

/// What is to become of the settings. Nothing is written before [`Plan::carry_out`].
#[derive(Debug)]
pub struct InstallPlan {
    draft: SettingsDraft,
    /// What was done for each tool, one line for each thing.
    pub messages: Vec<(Tool, Vec<String>)>,
    /// Tools whose settings hold another entry where ours belongs.
    pub blocked: Vec<Tool>,
}

impl InstallPlan {
    /// What becomes of each file.
    pub fn changes(&self) -> Vec<SettingsChange> {
        self.draft.changes()
    }

    /// Writes the files. Those that somebody changed meanwhile are refused before the first one is written.
    pub fn apply(&self) -> Result<()> {
        self.draft.write()
    }
}

/// Gives the tools everything; `program` is the path of this program. A file that cannot be edited safely refuses it all.
pub fn equip(tools: &[Tool], paths: &AgentPaths, program: &str) -> Result<InstallPlan> {
    plan(tools, paths, &|tool, context| {
        let words = |words: &[&str]| -> Vec<String> {
            [program].iter().chain(words).map(|&word| word.to_owned()).collect()
        };
        let mut hook = words(&["trail", "hook", tool.name()]);
        hook.extend(paths.home_words.iter().cloned());
        let seal = install_at(tool, context, &hook, true)?;
        let start = add_start(tool, context, &words(&["recall", "--hook", tool.name()]))?;
        let server = add_server(tool, context, paths, &words)?;
        Ok([Some(seal), start, Some(server)].into_iter().flatten().collect())
    })
}

/// Takes exactly that out again; the last that came goes first.
pub fn unequip(tools: &[Tool], paths: &AgentPaths) -> Result<InstallPlan> {
    plan(tools, paths, &|tool, context| {
        let server = remove_server(tool, context, paths)?;
        let start = remove_start(tool, context)?;
        let mut seal = uninstall_at(tool, context)?;
        seal.registered = true;
        Ok([Some(server), start, Some(seal)].into_iter().flatten().collect())
    })
}

/// Whether a tool starts our MCP server when it works in the repository. Settings that cannot be read do not count.
pub fn is_served(tool: Tool, paths: &AgentPaths) -> bool {
    let context = &InstallContext { paths: &paths.user, draft: None };
    let is_in =
        |file: Result<SettingsFile>| file.and_then(|file| mcp_json::is_installed(&file)).unwrap_or(false);
    match tool {
        Tool::ClaudeCode => is_in(in_repository(context, paths, CLAUDE)),
        Tool::Cursor => is_in(in_repository(context, paths, CURSOR)),
        Tool::Codex => codex::file(context).and_then(|file| mcp_toml::is_installed(&file)).unwrap_or(false),
        Tool::Cline => cline_settings(context, paths, true)
            .is_ok_and(|files| files.iter().any(|file| mcp_json::is_installed(file).unwrap_or(false))),
    }
}

fn plan(
    tools: &[Tool],
    paths: &AgentPaths,
    edit: &dyn Fn(Tool, &InstallContext<'_>) -> Result<Vec<InstallOutcome>>,
) -> Result<InstallPlan> {
    let draft = SettingsDraft::default();
    let context = InstallContext { paths: &paths.user, draft: Some(&draft) };
    let (mut messages, mut blocked) = (Vec::new(), Vec::new());
    for &tool in tools {
        let done = edit(tool, &context)?;
        if done.iter().any(|done| !done.registered) {
            blocked.push(tool);
        }
        messages.push((tool, done.into_iter().flat_map(|done| done.changes).collect()));
    }
    Ok(InstallPlan { draft, messages, blocked })
}

/// Cline's is part of its scripts, which are written with the trail's hook.
fn add_start(tool: Tool, context: &InstallContext<'_>, words: &[String]) -> Result<Option<InstallOutcome>> {
    match tool {
        Tool::ClaudeCode => claude_code::install(context, &claude_code::RECALL, words).map(Some),
        Tool::Cursor => cursor::install(context, &cursor::RECALL, words).map(Some),
        Tool::Codex => {
            let file = codex_hooks(context)?;
            let mut installed = InstallOutcome::new(vec![file.path.clone()]);
            let text = CODEX_START.add(&file, &command::line(words, context.os), &mut installed)?;
            file.write(&text)?;
            installed.registered = true;
            Ok(Some(installed))
        }
        Tool::Cline => Ok(None),
    }
}

fn remove_start(tool: Tool, context: &InstallContext<'_>) -> Result<Option<InstallOutcome>> {
    let mut removed = match tool {
        Tool::ClaudeCode => claude_code::uninstall(context, &claude_code::RECALL)?,
        Tool::Cursor => cursor::uninstall(context, &cursor::RECALL)?,
        Tool::Codex => {
            let file = codex_hooks(context)?;
            let mut removed = InstallOutcome::new(vec![file.path.clone()]);
            let text = CODEX_START.remove(&file, file.text(), &mut removed)?;
            finish_removal(&file, &text)?;
            removed
        }
        Tool::Cline => return Ok(None),
    };
    removed.registered = true;
    Ok(Some(removed))
}

fn codex_hooks(context: &InstallContext<'_>) -> Result<SettingsFile> {
    context.read(codex::folder(context).join("hooks.json"))
}

/// A tool that starts servers outside the repository gets the repository's path. Files in the repository are shared with
/// people who have the program elsewhere, so they get the program's name instead of its path.
fn add_server(
    tool: Tool,
    context: &InstallContext<'_>,
    paths: &AgentPaths,
    words: &dyn Fn(&[&str]) -> Vec<String>,
) -> Result<InstallOutcome> {
    let mut installed = InstallOutcome::new(Vec::new());
    let root = paths.repository.to_string_lossy();
    let mut share = |name: &str, arguments: &[&str]| -> Result<()> {
        let mut words = words(arguments);
        match (paths.on_path, words.first_mut()) {
            (true, Some(program)) => mcp_json::NAME.clone_into(program),
            _ => installed.warn(format!(
                "`{name}` holds the path of the program on this machine, for `capsid` on the PATH is not this program; \
                 whoever shares the repository needs their own. Put it there, and run this again"
            )),
        }
        mcp_json::install(&in_repository(context, paths, name)?, &words, &mut installed)
    };
    match tool {
        Tool::ClaudeCode => share(CLAUDE, &["mcp"])?,
        Tool::Cursor => share(CURSOR, &["-C", "${workspaceFolder}", "mcp"])?,
        Tool::Codex => mcp_toml::install(&codex::file(context)?, &words(&["mcp"]), &mut installed)?,
        Tool::Cline => {
            for file in cline_settings(context, paths, false)? {
                mcp_json::install(&file, &words(&["-C", &root, "mcp"]), &mut installed)?;
            }
        }
    }
    Ok(installed)
}

fn remove_server(tool: Tool, context: &InstallContext<'_>, paths: &AgentPaths) -> Result<InstallOutcome> {
    let mut removed = InstallOutcome::new(Vec::new());
    match tool {
        Tool::ClaudeCode => mcp_json::uninstall(&in_repository(context, paths, CLAUDE)?, &mut removed)?,
        Tool::Cursor => mcp_json::uninstall(&in_repository(context, paths, CURSOR)?, &mut removed)?,
        Tool::Codex => mcp_toml::uninstall(&codex::file(context)?, &mut removed)?,
        Tool::Cline => {
            for file in cline_settings(context, paths, true)? {
                mcp_json::uninstall(&file, &mut removed)?;
            }
        }
    }
    removed.registered = true;
    Ok(removed)
}

const CLAUDE: &str = ".mcp.json";
const CURSOR: &str = ".cursor/mcp.json";

/// A file of the repository. A link that leads out of the repository was made by its author.
fn in_repository(context: &InstallContext<'_>, paths: &AgentPaths, name: &str) -> Result<SettingsFile> {
    let path = paths.repository.join(name);
    let file = context.read(path.clone())?;
    let real = |path: &Path| path.ancestors().find_map(|part| part.canonicalize().ok());
    match (real(file.target()), real(&paths.repository)) {
        (Some(target), Some(root)) if target.starts_with(&root) => Ok(file),
        _ => Err(invalid(&path, "it is a link that leads out of the repository")),
    }
}

/// Cline's settings: in each editor that has Cline, else at the place that all its programs share.
fn cline_settings(context: &InstallContext<'_>, paths: &AgentPaths, all: bool) -> Result<Vec<SettingsFile>> {
    let mut folders: Vec<&PathBuf> = paths.cline.iter().filter(|folder| all || folder.is_dir()).collect();
    if folders.is_empty() {
        folders.extend(paths.cline.last());
    }
    let file = |folder: &PathBuf| context.read(folder.join("settings").join("cline_mcp_settings.json"));
    folders.into_iter().map(file).collect()
}
