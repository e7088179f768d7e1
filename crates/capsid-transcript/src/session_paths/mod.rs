//! Where the four tools keep their sessions, on every system.

mod find;
mod names;
mod walk;

use crate::Tool;
use std::path::{Path, PathBuf};

pub use find::{find, find_all, source_of};
pub use names::{SessionName, list_by_name};
pub(crate) use walk::{files, folders, modified};

/// Editors in which Cline runs.
const CLINE_APPS: [&str; 4] = ["Code", "Cursor", "VSCodium", "Code - Insiders"];
/// Where editors keep their state on a machine that they work on from afar.
const SERVERS: [&str; 3] = [".vscode-server", ".vscode-server-insiders", ".cursor-server"];
/// Cline's folder in an editor's `User` folder.
const CLINE: &str = "globalStorage/saoudrizwan.claude-dev/tasks";

/// A system: it decides where programs keep their data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OsFamily {
    /// Linux, and every other system that stores settings in `~/.config`.
    Linux,
    Mac,
    Windows,
}

impl OsFamily {
    /// The one this program runs on.
    pub fn this() -> Self {
        match std::env::consts::OS {
            "macos" => Self::Mac,
            "windows" => Self::Windows,
            _ => Self::Linux,
        }
    }
}

/// The places of one user. None of them need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    pub claude_projects: PathBuf,
    /// Codex' folders of rollouts: the present ones and the archived ones.
    pub codex_sessions: [PathBuf; 2],
    /// Cursor's `User` folders: the state database is `globalStorage/state.vscdb` in each.
    pub cursor_users: Vec<PathBuf>,
    /// Where Cursor writes text transcripts, by project.
    pub cursor_projects: PathBuf,
    pub cursor_authorship: PathBuf,
    pub cline_tasks: Vec<PathBuf>,
}

impl SessionPaths {
    /// The places of the user whose home this is; `env` reads the settings with which users move them.
    pub fn new(os: OsFamily, home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty()).map(PathBuf::from);
        let root = |name: &str, usual: &str| set(name).unwrap_or_else(|| home.join(usual));
        let settings = match os {
            OsFamily::Linux => root("XDG_CONFIG_HOME", ".config"),
            OsFamily::Mac => home.join("Library/Application Support"),
            OsFamily::Windows => root("APPDATA", "AppData/Roaming"),
        };
        let codex = root("CODEX_HOME", ".codex");
        let users = |app: &str| settings.join(app).join("User");
        let servers = || SERVERS.iter().map(|server| home.join(server).join("data/User"));
        let mut cline_tasks: Vec<PathBuf> =
            CLINE_APPS.iter().map(|app| users(app)).chain(servers()).map(|user| user.join(CLINE)).collect();
        cline_tasks.push(root("CLINE_DIR", ".cline").join("data/tasks"));
        Self {
            claude_projects: root("CLAUDE_CONFIG_DIR", ".claude").join("projects"),
            codex_sessions: [codex.join("sessions"), codex.join("archived_sessions")],
            cursor_users: vec![users("Cursor"), home.join(".cursor-server/data/User")],
            cursor_projects: home.join(".cursor/projects"),
            cursor_authorship: root("AI_TRACKING_DB", ".cursor/ai-tracking/ai-code-tracking.db"),
            cline_tasks,
        }
    }

    /// Whether a tool has left its folder in the user's home.
    pub fn has_folder(&self, tool: Tool) -> bool {
        let above = |path: &PathBuf| path.parent().is_some_and(Path::is_dir);
        match tool {
            Tool::ClaudeCode => above(&self.claude_projects),
            Tool::Codex => above(&self.codex_sessions[0]),
            Tool::Cursor => above(&self.cursor_projects),
            Tool::Cline => self.cline_tasks.iter().any(|tasks| tasks.is_dir()),
        }
    }

    /// Cursor's state databases.
    pub fn cursor_databases(&self) -> impl Iterator<Item = PathBuf> {
        self.cursor_users.iter().map(|user| state_database(user))
    }
}

/// The state database in a `User` folder of Cursor.
pub(crate) fn state_database(user: &Path) -> PathBuf {
    user.join("globalStorage/state.vscdb")
}

#[cfg(test)]
mod tests;
