//! The folder of the trail, and the paths in it.

use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use std::path::{Path, PathBuf};

/// The folder of the trail: key, chains, meta-chain, log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailHome {
    root: PathBuf,
    shared: Option<PathBuf>,
}

/// The environment that decides where the home is.
pub type HomeEnv<'a> = &'a dyn Fn(&str) -> Option<String>;

impl TrailHome {
    /// A home at a path.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), shared: None }
    }

    /// The user's home: the one named, else `$AGENT_CAPSULE_HOME`, else `~/.agent-capsule` where that exists, else
    /// `trail` in the data folder. `$AGENT_CAPSULE_DB` names one database for all sessions, unless a home was named.
    pub fn find(named: Option<&Path>, env: HomeEnv<'_>) -> Result<Self> {
        if let Some(path) = named {
            return Ok(Self::at(path));
        }
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let user = user_home(env);
        let shared = set("AGENT_CAPSULE_DB").map(|path| expand(&path, user.as_deref()));
        let root = match set("AGENT_CAPSULE_HOME") {
            Some(path) => expand(&path, user.as_deref()),
            None => match user.as_deref().map(|user| user.join(".agent-capsule")) {
                Some(existing) if existing.is_dir() => existing,
                _ => data_folder(env)?.join("trail"),
            },
        };
        Ok(Self { root, shared })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder where it is not there yet, for its owner alone.
    pub fn create(&self) -> Result<()> {
        files::create_private_folder(&self.root)
    }

    /// The private key.
    pub fn key(&self) -> PathBuf {
        self.root.join("key")
    }

    /// What the hooks did.
    pub fn log(&self) -> PathBuf {
        self.root.join("hook.log")
    }

    /// The meta-chain.
    pub fn meta(&self) -> PathBuf {
        self.root.join("meta.db")
    }

    /// The folder with a folder of chains for each tool.
    pub fn chains(&self) -> PathBuf {
        self.root.join("chains")
    }

    /// The database that holds a session's chain, and the tenant under which it is kept there. The session must have
    /// been checked: it becomes a file name.
    pub fn chain(&self, tool: &str, session: &str) -> (PathBuf, Option<String>) {
        match &self.shared {
            Some(shared) => (shared.clone(), Some(session.to_owned())),
            None => (self.chains().join(tool).join(format!("{session}.db")), None),
        }
    }

    /// All that holds chains: the folder, and the one database of all sessions where there is one. Only what exists.
    pub fn chain_paths(&self) -> Vec<PathBuf> {
        let shared = self.shared.clone().filter(|path| path.is_file());
        let has_chains = self.chains().is_dir() || self.meta().is_file();
        has_chains.then(|| self.root.clone()).into_iter().chain(shared).collect()
    }

    /// The one database of all sessions, if the home uses one.
    pub fn shared(&self) -> Option<&Path> {
        self.shared.as_deref()
    }
}

/// Where `qp-capsule` keeps its keys: `$QUANTUMPIPES_DATA_DIR`, else `~/.quantumpipes`. Only what exists, and no path
/// that the tool itself would refuse.
pub fn qp_capsule(env: HomeEnv<'_>) -> Option<PathBuf> {
    let user = user_home(env);
    let folder = match env("QUANTUMPIPES_DATA_DIR").filter(|value| !value.trim().is_empty()) {
        Some(path) => expand(&path, user.as_deref()),
        None => user?.join(".quantumpipes"),
    };
    let leads_up = folder.components().any(|part| part == std::path::Component::ParentDir);
    (folder.is_dir() && !leads_up).then_some(folder)
}

/// The folder for everything that belongs to no repository: `$CAPSID_HOME`, else the platform's.
pub fn data_folder(env: HomeEnv<'_>) -> Result<PathBuf> {
    let user = user_home(env);
    if let Some(path) = env("CAPSID_HOME").filter(|value| !value.trim().is_empty()) {
        return Ok(expand(&path, user.as_deref()));
    }
    let set = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below = |path: &str| user.as_deref().map(|user| user.join(path));
    let data = match std::env::consts::OS {
        "macos" => below("Library/Application Support"),
        "windows" => set("APPDATA").or_else(|| below("AppData/Roaming")),
        _ => set("XDG_DATA_HOME").or_else(|| below(".local/share")),
    };
    data.map(|data| data.join("capsid")).ok_or_else(|| {
        Problem::new(Code::ConfigInvalid, "This user has no home folder.")
            .fix("Set HOME, or name a folder with CAPSID_HOME or --home.")
    })
}

fn user_home(env: HomeEnv<'_>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HOME").or_else(|| set("USERPROFILE"))
}

fn expand(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            home.join(rest.trim_start_matches(['/', '\\']))
        }
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_the_one_named_then_the_one_set_then_the_one_that_exists() {
        let user = tempfile::tempdir().unwrap();
        let path = user.path().to_string_lossy().into_owned();
        let env = |pairs: &'static [(&'static str, &'static str)]| {
            let path = path.clone();
            move |name: &str| match name {
                "HOME" => Some(path.clone()),
                _ => pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()),
            }
        };
        let home_root = |env: HomeEnv<'_>| TrailHome::find(None, env).unwrap().root().to_owned();
        assert_eq!(TrailHome::find(Some(Path::new("/x")), &env(&[])).unwrap().root(), Path::new("/x"));
        assert_eq!(home_root(&env(&[("CAPSID_HOME", "~/data")])), user.path().join("data/trail"));
        std::fs::create_dir(user.path().join(".agent-capsule")).unwrap();
        assert_eq!(home_root(&env(&[("CAPSID_HOME", "~/data")])), user.path().join(".agent-capsule"));
        assert_eq!(home_root(&env(&[("AGENT_CAPSULE_HOME", "/elsewhere")])), Path::new("/elsewhere"));
    }

    #[test]
    fn a_shared_store_keeps_sessions_by_tenant() {
        let env = |name: &str| match name {
            "AGENT_CAPSULE_DB" => Some("/s/all.db".to_owned()),
            _ => Some("/h".to_owned()),
        };
        let home = TrailHome::find(None, &env).unwrap();
        assert_eq!(home.chain("codex", "s1"), (PathBuf::from("/s/all.db"), Some("s1".to_owned())));
        let plain = TrailHome::at("/h").chain("codex", "s1");
        assert_eq!(plain, (PathBuf::from("/h/chains/codex/s1.db"), None));
    }
}
