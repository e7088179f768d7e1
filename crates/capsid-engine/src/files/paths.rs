//! All paths. The variables that existing tools know are honoured.

use capsid_model::Time;
use std::path::{Path, PathBuf};

/// The folders of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPaths {
    pub repo: PathBuf,
    /// Where `MEMORY.md` and `USER.md` are looked for.
    pub workspace: PathBuf,
    pub memory: PathBuf,
    pub evolution: PathBuf,
    pub assets: PathBuf,
    /// The file of what was learned about signals and genes.
    graph: PathBuf,
}

impl RepositoryPaths {
    /// Resolves the folders of a repository; `env` looks a variable up.
    pub fn resolve(repo: &Path, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let from_env = |name: &str| {
            env(name).filter(|value| !value.trim().is_empty()).map(|path| real(&repo.join(path)))
        };
        let scope = env("EVOLVER_SESSION_SCOPE").and_then(|name| scope_folder(&name));
        let scoped =
            |path: PathBuf| scope.as_ref().map_or(path.clone(), |name| path.join("scopes").join(name));
        let workspace = from_env("OPENCLAW_WORKSPACE").unwrap_or_else(|| repo.to_owned());
        let memory = from_env("MEMORY_DIR").unwrap_or_else(|| workspace.join("memory"));
        let evolution = scoped(from_env("EVOLUTION_DIR").unwrap_or_else(|| memory.join("evolution")));
        Self {
            graph: from_env("MEMORY_GRAPH_PATH").unwrap_or_else(|| evolution.join("memory_graph.jsonl")),
            evolution,
            assets: scoped(from_env("GEP_ASSETS_DIR").unwrap_or_else(|| default_assets(repo))),
            repo: repo.to_owned(),
            workspace,
            memory,
        }
    }

    /// What inside the repository belongs to the engine: never part of a change, never rolled back.
    pub fn own(&self) -> Vec<PathBuf> {
        std::iter::once(self.assets.clone())
            .chain(self.state())
            .filter_map(|path| path.strip_prefix(&self.repo).ok().map(Path::to_owned))
            .filter(|path| !path.as_os_str().is_empty())
            .collect()
    }

    /// The engine's state, without the store: what one clone knows and others do not need.
    pub fn state(&self) -> Vec<PathBuf> {
        let distiller = ["distill_request.json", "distiller_state.json", "distiller_log.jsonl"];
        let distiller = distiller.iter().map(|name| self.memory.join(name));
        [self.evolution.clone(), self.graph.clone()].into_iter().chain(distiller).collect()
    }

    /// The log of a day, to which others append.
    pub fn daily_log(&self, day: Time) -> PathBuf {
        self.memory.join(format!("{}.md", day.date()))
    }

    /// The owner's policy.
    pub fn config(&self) -> PathBuf {
        self.repo.join("capsid.toml")
    }

    /// The run that waits and the one that was settled last.
    pub fn run_state(&self) -> PathBuf {
        self.evolution.join("evolution_solidify_state.json")
    }

    /// The count of cycles.
    pub fn cycle_state(&self) -> PathBuf {
        self.evolution.join("evolution_state.json")
    }

    /// The dials and how they did.
    pub fn personality(&self) -> PathBuf {
        self.evolution.join("personality_state.json")
    }

    /// What was learned about signals and genes.
    pub fn memory_graph(&self) -> PathBuf {
        self.graph.clone()
    }

    /// The action whose outcome is still open.
    pub fn memory_state(&self) -> PathBuf {
        self.evolution.join("memory_graph_state.json")
    }

    /// The narrative.
    pub fn narrative(&self) -> PathBuf {
        self.evolution.join("evolution_narrative.md")
    }

    /// The recorded inputs and scores of one run.
    pub fn run_record(&self, run_id: &str) -> PathBuf {
        self.evolution.join("runs").join(format!("{}.json", file_name(run_id)))
    }

    /// Changes that were kept or rolled back, by the hash of their patch.
    pub fn patch(&self, hash: &str) -> PathBuf {
        self.evolution.join("patches").join(format!("{}.patch", file_name(hash)))
    }

    /// The prompt of one run.
    pub fn prompt(&self, cycle: u64, run_id: &str) -> PathBuf {
        self.evolution.join(format!("gep_prompt_Cycle_#{cycle:04}_{}.txt", file_name(run_id)))
    }
}

/// A path with its links resolved as far as it exists, to decide whether it is in the repository.
fn real(path: &Path) -> PathBuf {
    let missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Err(error), Some(folder), Some(name)) if missing(&error) => real(folder).join(name),
        (Ok(named), _, _) => named,
        _ => path.to_owned(),
    }
}

/// The store of this protocol, or the one that newer engines keep when only that is there.
fn default_assets(repo: &Path) -> PathBuf {
    let usual = repo.join("assets").join("gep");
    let newer = repo.join(".evolver").join("gep");
    if !usual.exists() && newer.exists() { newer } else { usual }
}

/// A session scope as a folder name; nothing when it could lead elsewhere.
fn scope_folder(name: &str) -> Option<String> {
    let name: String = file_name(name.trim()).chars().take(128).collect();
    (!name.is_empty() && name != "." && !name.contains("..")).then_some(name)
}

/// A text as a file name: everything but letters, digits, `_`, `.` and `-` becomes `_`.
fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_win_and_empty_ones_count_as_unset() {
        let env = |name: &str| match name {
            "GEP_ASSETS_DIR" => Some("/elsewhere".to_owned()),
            "MEMORY_DIR" => Some(String::new()),
            _ => None,
        };
        let paths = RepositoryPaths::resolve(Path::new("/repo"), &env);
        assert_eq!(paths.assets, Path::new("/elsewhere"));
        assert_eq!(paths.evolution, Path::new("/repo/memory/evolution"));
        assert_eq!(paths.own()[0], Path::new("memory/evolution"), "a store elsewhere is not listed");
    }

    #[test]
    fn the_memory_graph_may_lie_elsewhere_and_stays_the_engines_own() {
        let graph = |value: &'static str| {
            let env = move |name: &str| match name {
                "MEMORY_GRAPH_PATH" => Some(value.to_owned()),
                "EVOLVER_SESSION_SCOPE" => Some("s".to_owned()),
                _ => None,
            };
            RepositoryPaths::resolve(Path::new("/repo"), &env)
        };
        assert_eq!(graph("/far/graph.jsonl").memory_graph(), Path::new("/far/graph.jsonl"));
        assert!(graph("/repo/graph.jsonl").own().contains(&PathBuf::from("graph.jsonl")));
        for unset in ["", " "] {
            let usual = Path::new("/repo/memory/evolution/scopes/s/memory_graph.jsonl");
            assert_eq!(graph(unset).memory_graph(), usual);
        }
    }

    #[test]
    fn a_scope_cannot_leave_its_folder() {
        assert_eq!(scope_folder("../../etc"), None);
        assert_eq!(scope_folder("a/b c").as_deref(), Some("a_b_c"));
        assert_eq!(scope_folder(" "), None);
    }
}
