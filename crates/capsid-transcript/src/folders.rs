//! Where the known agents keep their sessions.

use crate::session_paths::{OsFamily, SessionPaths};
use std::path::{Path, PathBuf};

/// A folder in which an agent stores its sessions, directly or in folders below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolder {
    /// The agent: `openclaw`, `claude-code`, `codex`, `cursor` or `cline`.
    pub agent: &'static str,
    /// The folder. It need not exist.
    pub path: PathBuf,
}

impl SessionFolder {
    /// Whether the agent stores the sessions of all repositories in one folder and records which one each is about.
    pub(crate) fn is_shared(&self) -> bool {
        self.agent != "openclaw"
    }

    /// The depth of session files: in one folder, by project (and sub-agents below), or by year, month and day.
    pub(crate) fn depth(&self) -> usize {
        match self.agent {
            "openclaw" => 1,
            _ => 4,
        }
    }
}

/// The session folders of the known agents; `env` reads the settings with which a user moves them.
pub fn list_folders(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<SessionFolder> {
    // A name with a separator in it would lead out of the agents' folder.
    let agent = env("AGENT_NAME")
        .filter(|name| !name.trim().is_empty() && !name.contains(['/', '\\']) && name != "..")
        .unwrap_or_else(|| "main".to_owned());
    let paths = SessionPaths::new(OsFamily::this(), home, env);
    let [codex, _archived] = paths.codex_sessions;
    let folder = |agent, path| SessionFolder { agent, path };
    let mut folders = vec![
        folder("openclaw", home.join(".openclaw/agents").join(agent).join("sessions")),
        folder("claude-code", paths.claude_projects),
        folder("codex", codex),
    ];
    folders.extend(paths.cursor_users.into_iter().map(|path| folder("cursor", path)));
    folders.extend(paths.cline_tasks.into_iter().map(|path| folder("cline", path)));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_move_the_folders() {
        let paths = |env: &dyn Fn(&str) -> Option<String>| -> Vec<String> {
            list_folders(Path::new("/h"), env)
                .into_iter()
                .filter(|folder| !["cursor", "cline"].contains(&folder.agent))
                .map(|folder| folder.path.to_string_lossy().replace('\\', "/"))
                .collect()
        };
        assert_eq!(
            paths(&|_| None),
            ["/h/.openclaw/agents/main/sessions", "/h/.claude/projects", "/h/.codex/sessions"]
        );
        assert_eq!(
            paths(&|name| Some(format!("/set/{name}"))),
            [
                "/h/.openclaw/agents/main/sessions",
                "/set/CLAUDE_CONFIG_DIR/projects",
                "/set/CODEX_HOME/sessions"
            ]
        );
        assert_eq!(paths(&|_| Some("lab".to_owned()))[0], "/h/.openclaw/agents/lab/sessions");
    }

    #[test]
    fn folders_of_state_are_the_places_of_their_tools() {
        let env = |name: &str| (name != "AGENT_NAME").then(|| format!("/set/{name}"));
        let paths = SessionPaths::new(OsFamily::this(), Path::new("/h"), &env);
        let of = |agent: &str| -> Vec<PathBuf> {
            let folders = list_folders(Path::new("/h"), &env).into_iter();
            folders.filter(|folder| folder.agent == agent).map(|folder| folder.path).collect()
        };
        assert_eq!((of("cursor"), of("cline")), (paths.cursor_users, paths.cline_tasks));
        assert!(!of("cursor").is_empty());
    }
}
