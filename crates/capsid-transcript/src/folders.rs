//! Where the known agents keep their sessions.

use std::path::{Path, PathBuf};

/// A folder in which an agent keeps session files, directly or in folders below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolder {
    /// The agent: `openclaw`, `claude-code` or `codex`.
    pub agent: &'static str,
    /// The folder. It need not exist.
    pub path: PathBuf,
}

impl SessionFolder {
    /// Whether the agent keeps the sessions of all repositories in one place and notes which one each is about.
    pub(crate) fn is_shared(&self) -> bool {
        self.agent != "openclaw"
    }

    /// How deep session files lie: beside each other, by project (and sub-agents below), or by year, month and day.
    pub(crate) fn depth(&self) -> usize {
        match self.agent {
            "openclaw" => 1,
            _ => 4,
        }
    }
}

/// The session folders of the known agents; `env` reads the settings with which a user moves them.
pub fn known_folders(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<SessionFolder> {
    let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
    let root = |name: &str, usual: &str| set(name).map_or_else(|| home.join(usual), PathBuf::from);
    // A name with a separator in it would lead out of the agents' folder.
    let agent = set("AGENT_NAME")
        .filter(|name| !name.contains(['/', '\\']) && name != "..")
        .unwrap_or_else(|| "main".to_owned());
    let folder = |agent, path| SessionFolder { agent, path };
    vec![
        folder("openclaw", home.join(".openclaw/agents").join(agent).join("sessions")),
        folder("claude-code", root("CLAUDE_CONFIG_DIR", ".claude").join("projects")),
        folder("codex", root("CODEX_HOME", ".codex").join("sessions")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_move_the_folders() {
        let paths = |env: &dyn Fn(&str) -> Option<String>| -> Vec<String> {
            known_folders(Path::new("/h"), env)
                .into_iter()
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
}
