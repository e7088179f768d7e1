//! Registers the hook with the tools, and takes it out again: small edits that leave all else as it was.

mod agent;
mod claude_code;
mod cline;
mod codex;
mod command;
mod cursor;
mod disk_file;
mod draft;
mod hook_lists;
mod json;
mod layout;
mod mcp_json;
mod mcp_toml;
mod settings_file;
mod splice;
#[cfg(test)]
mod tests;

pub use agent::{AgentPaths, InstallPlan, equip, is_served, unequip};
pub use draft::{FileEffect, SettingsChange};

use capsid_model::{Code, Problem, Result};
use capsid_transcript::Tool;
use draft::SettingsDraft;
use settings_file::SettingsFile;
use std::ops::Deref;
use std::path::PathBuf;

/// How a system writes commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSyntax {
    /// Linux, macOS and the like.
    Unix,
    Windows,
}

impl CommandSyntax {
    /// The system this program was built for.
    pub fn here() -> Self {
        if cfg!(windows) { Self::Windows } else { Self::Unix }
    }
}

/// Where the tools keep their settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallPaths {
    pub home: PathBuf,
    /// Claude Code's folder, where the user moved it.
    pub claude_config: Option<PathBuf>,
    /// Codex's folder, where the user moved it.
    pub codex_home: Option<PathBuf>,
    /// The system for which commands are written.
    pub os: CommandSyntax,
}

/// The places, and whether what is written there is a draft first.
struct InstallContext<'a> {
    paths: &'a InstallPaths,
    draft: Option<&'a SettingsDraft>,
}

impl InstallContext<'_> {
    fn read(&self, path: PathBuf) -> Result<SettingsFile> {
        SettingsFile::read(path, self.draft)
    }
}

impl Deref for InstallContext<'_> {
    type Target = InstallPaths;

    fn deref(&self) -> &InstallPaths {
        self.paths
    }
}

/// What an installation or its removal did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallOutcome {
    pub files: Vec<PathBuf>,
    /// One line for each thing done, left or to be warned of.
    pub changes: Vec<String>,
    /// Whether the tool now calls us at each event.
    pub registered: bool,
}

impl InstallOutcome {
    fn new(files: Vec<PathBuf>) -> Self {
        Self { files, changes: Vec::new(), registered: false }
    }

    fn record(&mut self, what: &str, word: &str) {
        self.changes.push(format!("{what}: {word}"));
    }

    fn warn(&mut self, text: impl AsRef<str>) {
        self.changes.push(format!("warning: {}", text.as_ref()));
    }
}

/// Whether a tool calls us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStatus {
    Installed,
    Partly(Vec<String>),
    NotInstalled,
    /// Its settings cannot be read.
    Unreadable(Problem),
}

impl HookStatus {
    fn for_missing(missing: usize, all: usize, names: impl FnOnce() -> Vec<String>) -> Self {
        match missing {
            0 => Self::Installed,
            _ if missing == all => Self::NotInstalled,
            _ => Self::Partly(names()),
        }
    }
}

/// Has the tool run `command`, a program and its arguments, when a turn or a session ends.
///
/// Doing it twice changes nothing. Settings that cannot be edited safely are refused and left as they are.
pub fn install(tool: Tool, paths: &InstallPaths, command: &[String]) -> Result<InstallOutcome> {
    install_at(tool, &InstallContext { paths, draft: None }, command, false)
}

/// The same; with `start` Cline's script also recalls, for Cline has one script for both.
fn install_at(
    tool: Tool,
    context: &InstallContext<'_>,
    command: &[String],
    start: bool,
) -> Result<InstallOutcome> {
    if !command::are_ours(command, tool) {
        let line = command::line(command, context.os);
        let message = format!("`{line}` could not be told from other programs' hooks later on.");
        return Err(Problem::new(Code::InputInvalid, message).fix(format!(
            "Give the program the name `capsid`, and have it run `trail hook {}`.",
            tool.name()
        )));
    }
    match tool {
        Tool::ClaudeCode => claude_code::install(context, &claude_code::SEAL, command),
        Tool::Cursor => cursor::install(context, &cursor::SEAL, command),
        Tool::Codex => codex::install(context, command),
        Tool::Cline => cline::install(context, command, start),
    }
}

/// Takes the hook out again. What [`install`] changed is as it was before, to the byte, unless others edited it since.
pub fn uninstall(tool: Tool, paths: &InstallPaths) -> Result<InstallOutcome> {
    uninstall_at(tool, &InstallContext { paths, draft: None })
}

fn uninstall_at(tool: Tool, context: &InstallContext<'_>) -> Result<InstallOutcome> {
    match tool {
        Tool::ClaudeCode => claude_code::uninstall(context, &claude_code::SEAL),
        Tool::Cursor => cursor::uninstall(context, &cursor::SEAL),
        Tool::Codex => codex::uninstall(context),
        Tool::Cline => cline::uninstall(context),
    }
}

/// Looks whether the tool calls us. Writes nothing.
pub fn status(tool: Tool, paths: &InstallPaths) -> HookStatus {
    let context = &InstallContext { paths, draft: None };
    let status = match tool {
        Tool::ClaudeCode => claude_code::status(context),
        Tool::Cursor => cursor::status(context),
        Tool::Codex => codex::status(context),
        Tool::Cline => cline::status(context),
    };
    status.unwrap_or_else(HookStatus::Unreadable)
}

/// Writes JSON settings without our hook; a file that we had made goes.
fn finish_removal(file: &SettingsFile, text: &str) -> Result<()> {
    if !file.exists() {
        return Ok(());
    }
    if text == "\n" && json::is_new_file(file.text()) {
        return file.remove();
    }
    file.write(text).map(|_| ())
}
