//! Coding agents that are known by their folders: where their transcripts are, which stay, and their login files, which
//! they refresh while they work.

use capsid_disk::files;
use capsid_model::Result;
use std::path::{Path, PathBuf};

/// An agent, by the folder in the user's home that it keeps its settings in.
struct KnownAgent {
    folder: &'static str,
    /// The variable that names another folder.
    variable: Option<&'static str>,
    transcripts: &'static str,
    logins: &'static [&'static str],
}

const AGENTS: [KnownAgent; 6] = [
    KnownAgent {
        folder: ".claude",
        variable: Some("CLAUDE_CONFIG_DIR"),
        transcripts: "projects",
        logins: &[".credentials.json"],
    },
    KnownAgent {
        folder: ".codex",
        variable: Some("CODEX_HOME"),
        transcripts: "sessions",
        logins: &["auth.json", ".credentials.json"],
    },
    KnownAgent {
        folder: ".gemini",
        variable: None,
        transcripts: "tmp",
        logins: &["oauth_creds.json", "google_accounts.json"],
    },
    KnownAgent { folder: ".cursor", variable: None, transcripts: "chats", logins: &[] },
    KnownAgent {
        folder: ".config/Code/User/globalStorage/saoudrizwan.claude-dev",
        variable: None,
        transcripts: "tasks",
        logins: &[],
    },
    KnownAgent { folder: ".cline/data", variable: None, transcripts: "tasks", logins: &[] },
];

/// The files of the known agents of one user.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AgentFiles {
    pub transcripts: Vec<PathBuf>,
    pub logins: Vec<PathBuf>,
}

impl AgentFiles {
    /// Lists them. The transcript folder of an agent that was set up and never worked is created: only a folder that
    /// exists can be kept.
    pub fn prepare(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Self> {
        let mut found = Self::default();
        for agent in &AGENTS {
            let folder = agent.variable.and_then(&variable).unwrap_or_else(|| home.join(agent.folder));
            let transcripts = folder.join(agent.transcripts);
            if folder.is_dir() && !transcripts.exists() {
                files::create_private_folder(&transcripts)?;
            }
            found.transcripts.push(transcripts);
            found.logins.extend(agent.logins.iter().map(|name| folder.join(name)));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_was_set_up_has_a_transcript_folder_and_no_other_agent_gets_one() {
        let home = tempfile::tempdir().unwrap();
        let moved = home.path().join("moved");
        for folder in [&home.path().join(".codex"), &moved] {
            files::create_private_folder(folder).unwrap();
        }
        let variable = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| moved.clone());
        let found = AgentFiles::prepare(home.path(), variable).unwrap();
        assert!(home.path().join(".codex/sessions").is_dir());
        assert!(moved.join("projects").is_dir());
        assert!(!home.path().join(".claude").exists() && !home.path().join(".gemini").exists());
        assert!(found.logins.contains(&moved.join(".credentials.json")));
        assert_eq!(found.transcripts.len(), AGENTS.len());
    }
}
