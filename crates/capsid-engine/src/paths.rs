//! Where everything lies. The variables that existing tools know are honoured.

use std::path::{Path, PathBuf};

/// The folders of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The repository's root.
    pub repo: PathBuf,
    /// Where `MEMORY.md` and `USER.md` are looked for.
    pub workspace: PathBuf,
    /// Daily logs and memory.
    pub memory: PathBuf,
    /// The engine's own state.
    pub evolution: PathBuf,
    /// The asset store.
    pub assets: PathBuf,
    /// The file of what was learned about signals and genes.
    graph: PathBuf,
}

impl Paths {
    /// Resolves the folders of a repository; `env` looks a variable up.
    pub fn resolve(repo: &Path, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| env(name).filter(|value| !value.trim().is_empty()).map(PathBuf::from);
        let scope = env("EVOLVER_SESSION_SCOPE").and_then(|name| scope_folder(&name));
        let scoped =
            |path: PathBuf| scope.as_ref().map_or(path.clone(), |name| path.join("scopes").join(name));
        let workspace = given("OPENCLAW_WORKSPACE").unwrap_or_else(|| repo.to_owned());
        let memory = given("MEMORY_DIR").unwrap_or_else(|| workspace.join("memory"));
        let evolution = scoped(given("EVOLUTION_DIR").unwrap_or_else(|| memory.join("evolution")));
        Self {
            graph: given("MEMORY_GRAPH_PATH").unwrap_or_else(|| evolution.join("memory_graph.jsonl")),
            evolution,
            assets: scoped(given("GEP_ASSETS_DIR").unwrap_or_else(|| default_assets(repo))),
            repo: repo.to_owned(),
            workspace,
            memory,
        }
    }

    /// What belongs to the engine inside the repository: never part of a change, never rolled back. Folders, and the
    /// memory graph, which may lie outside them.
    pub fn own_folders(&self) -> Vec<PathBuf> {
        [&self.assets, &self.memory, &self.evolution, &self.graph]
            .into_iter()
            .filter_map(|path| path.strip_prefix(&self.repo).ok().map(Path::to_owned))
            .filter(|path| !path.as_os_str().is_empty())
            .collect()
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

    /// The story told so far.
    pub fn narrative(&self) -> PathBuf {
        self.evolution.join("evolution_narrative.md")
    }

    /// A solidify that has begun to write.
    pub fn journal(&self) -> PathBuf {
        self.evolution.join("solidify_journal.json")
    }

    /// The recorded inputs and scores of one run.
    pub fn run_record(&self, run_id: &str) -> PathBuf {
        self.evolution.join("runs").join(format!("{}.json", file_name(run_id)))
    }

    /// Changes that were kept or taken back, by the hash of their patch.
    pub fn patch(&self, hash: &str) -> PathBuf {
        self.evolution.join("patches").join(format!("{}.patch", file_name(hash)))
    }

    /// The prompt of one run.
    pub fn prompt(&self, cycle: u64, run_id: &str) -> PathBuf {
        self.evolution.join(format!("gep_prompt_Cycle_#{cycle:04}_{}.txt", file_name(run_id)))
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
        let paths = Paths::resolve(Path::new("/repo"), &env);
        assert_eq!(paths.assets, Path::new("/elsewhere"));
        assert_eq!(paths.evolution, Path::new("/repo/memory/evolution"));
        let own = ["memory", "memory/evolution", "memory/evolution/memory_graph.jsonl"];
        assert_eq!(paths.own_folders(), own.map(Path::new));
    }

    #[test]
    fn the_memory_graph_may_lie_elsewhere_and_stays_the_engines_own() {
        let graph = |value: &'static str| {
            let env = move |name: &str| match name {
                "MEMORY_GRAPH_PATH" => Some(value.to_owned()),
                "EVOLVER_SESSION_SCOPE" => Some("s".to_owned()),
                _ => None,
            };
            Paths::resolve(Path::new("/repo"), &env)
        };
        assert_eq!(graph("/far/graph.jsonl").memory_graph(), Path::new("/far/graph.jsonl"));
        assert!(graph("/repo/graph.jsonl").own_folders().contains(&PathBuf::from("graph.jsonl")));
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
