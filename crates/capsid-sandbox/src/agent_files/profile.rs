//! What the user's agent may reach: everything that the user can read but secrets, and the network.

use crate::ConfinedTree;
use std::path::{Path, PathBuf};

/// How an agent is confined.
#[derive(Debug, Clone)]
pub struct AgentProfile {
    /// Its files.
    pub tree: ConfinedTree,
    /// The folder in which the write layers of `$HOME` and `/tmp` are made.
    pub layers: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// What is hidden in addition to the built-in table; it need not exist.
    pub hidden: Vec<PathBuf>,
    /// What is shown although it lies in something hidden.
    pub show: Vec<PathBuf>,
    /// Sockets that are shown although they lie in something hidden.
    pub sockets: Vec<PathBuf>,
    /// Folders and files in which writes stay; those that do not exist are skipped.
    pub kept_writes: Vec<PathBuf>,
    /// Login files, copied back if they changed: JSON, up to 64 KiB.
    pub copied_back: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// The most it may write to disk.
    pub disk_bytes: u64,
    /// The most processes and threads.
    pub processes: u64,
}

/// Secrets and sockets below the home.
pub const HIDDEN_IN_HOME: &[&str] = &[
    ".agent-capsule",
    ".aws",
    ".azure",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".config/microsoft-edge",
    ".docker",
    ".evomap",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".netrc",
    ".password-store",
    ".quantumpipes",
    ".ssh",
    "Library/Keychains",
];

/// What of `/run` answers name lookups.
pub const SHOWN_IN_RUN: &[&str] = &["/run/nscd", "/run/resolvconf", "/run/systemd/resolve"];

/// Folders that are hidden wherever these variables say they are.
const HIDDEN_BY_VARIABLE: &[&str] =
    &["XDG_RUNTIME_DIR", "CAPSID_HOME", "AGENT_CAPSULE_HOME", "QUANTUMPIPES_DATA_DIR"];

/// What an agent writes to by habit, where the whole home cannot be private.
pub const WRITTEN_IN_HOME: &[&str] = &[
    ".aider",
    ".cache",
    ".claude",
    ".codex",
    ".config",
    ".copilot",
    ".cursor",
    ".gemini",
    ".local",
    ".npm",
    ".opencode",
];

/// Folders that many programs share. An agent may have one of its own in them.
pub const SHARED_IN_HOME: &[&str] = &[".cache", ".config", ".local", ".local/share", ".local/state"];

/// Variables that name secrets, sockets or repositories of the user.
const DROPPED_PREFIXES: &[&str] = &["A2A_", "CAPSID_", "DBUS_", "GIT_"];
const DROPPED_NAMES: &[&str] = &["XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"];

/// Whether an agent does not get this variable of the user.
pub fn is_dropped_variable(name: &str) -> bool {
    DROPPED_NAMES.contains(&name)
        || DROPPED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("_SOCK")
}

impl AgentProfile {
    /// Every path that is hidden and exists, by its real name.
    pub(crate) fn hidden_paths(&self) -> Vec<PathBuf> {
        let in_home = HIDDEN_IN_HOME.iter().map(|name| self.home.join(name));
        let by_variable = HIDDEN_BY_VARIABLE.iter().filter_map(std::env::var_os).map(PathBuf::from);
        let all = [PathBuf::from("/run")].into_iter().chain(in_home).chain(by_variable);
        let shown = real_paths(&self.show);
        let mut hidden = real_paths(&all.chain(self.hidden.iter().cloned()).collect::<Vec<_>>());
        hidden.retain(|path| path != Path::new("/") && !shown.contains(path));
        hidden
    }
}

/// Those that exist, by their real names, each once.
pub(crate) fn real_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> =
        paths.iter().filter(|path| path.is_absolute()).filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_sockets_and_secrets_are_dropped() {
        for name in ["A2A_NODE_ID", "CAPSID_HOME", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "GIT_DIR"] {
            assert!(is_dropped_variable(name), "{name}");
        }
        for name in ["PATH", "HOME", "OPENAI_API_KEY", "SOCKS", "GITHUB_TOKEN"] {
            assert!(!is_dropped_variable(name), "{name}");
        }
    }

    #[test]
    fn the_tables_are_sorted_and_name_nothing_absolute() {
        for table in [HIDDEN_IN_HOME, SHARED_IN_HOME, WRITTEN_IN_HOME] {
            assert!(table.is_sorted());
            assert!(table.iter().all(|name| !name.starts_with('/')));
        }
    }
}
