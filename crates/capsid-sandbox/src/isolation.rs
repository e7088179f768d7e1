//! What a run is confined to, and which means this machine has to do it.

use crate::{ProcessLimits, bubblewrap, landlock, run_validation_at};
use capsid_model::{Code, Problem, Result};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FIX: &str = "Install bubblewrap and allow unprivileged user namespaces, or use a kernel with Landlock (5.13 or \
                   newer); to go without, switch isolation off in `capsid.toml`.";

/// How a program was kept apart from the rest of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Namespaces: it sees no other file, process or network.
    Bubblewrap,
    /// Kernel rules: it may touch no other file, use no TCP and signal no other process.
    Landlock,
    /// Nothing but resource limits and a clean environment.
    None,
}

impl Isolation {
    /// The word that goes into reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }
}

/// Whether a sandbox must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IsolationPolicy {
    /// Use the best sandbox this machine has, and refuse to run without one.
    #[default]
    Require,
    /// Run without a sandbox; the report says so.
    Off,
}

/// What a program may reach.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The repository: readable, writable, and the folder the program starts in.
    pub root: PathBuf,
    /// Paths inside it that must not change, such as `.git` and the store.
    pub read_only: Vec<PathBuf>,
    /// Further paths that may be read.
    pub extra_read: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
}

impl Confinement {
    /// Only a repository, all of it writable, without network.
    pub fn to(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), read_only: Vec::new(), extra_read: Vec::new(), network: false }
    }

    /// The same with real paths, and without those that do not exist or lie outside the repository.
    pub(crate) fn resolved(&self) -> Result<Self> {
        let root = self.root.canonicalize().map_err(|error| Problem::io("open", &self.root, &error))?;
        let mut read_only: Vec<PathBuf> = self
            .read_only
            .iter()
            .filter_map(|path| root.join(path).canonicalize().ok())
            .filter(|path| path.starts_with(&root) && *path != root)
            .collect();
        // A folder sorts before what is in it, and what is in it is read-only with it.
        read_only.sort();
        read_only.dedup_by(|inner, outer| inner.starts_with(outer));
        Ok(Self { root, read_only, ..self.clone() })
    }

    /// The folders between the repository and a read-only path: moving one away would make room for a false copy.
    pub(crate) fn guarded_folders(&self) -> Vec<&Path> {
        let mut folders: Vec<&Path> = self
            .read_only
            .iter()
            .flat_map(|path| path.ancestors().skip(1))
            .filter(|folder| folder.starts_with(&self.root) && *folder != self.root)
            .collect();
        folders.sort();
        folders.dedup();
        folders
    }
}

/// What came of trying one kind of sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxProbe {
    /// The kind.
    pub isolation: Isolation,
    /// Whether a program really ran in it.
    pub works: bool,
    /// What was seen.
    pub detail: String,
}

impl SandboxProbe {
    /// Runs a program that does nothing; `strength` says what it means that it ran.
    pub(crate) fn by_trying(isolation: Isolation, strength: &str) -> Self {
        let outcome = try_out(isolation);
        Self {
            isolation,
            works: outcome.is_ok(),
            detail: outcome.err().unwrap_or_else(|| strength.to_owned()),
        }
    }
}

fn try_out(isolation: Isolation) -> std::result::Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = Confinement::to(folder.path());
    let argv = ["true".to_owned()];
    match run_validation_at(isolation, &argv, &place, &ProcessLimits::default()) {
        Ok(finished) if finished.end.ok() => Ok(()),
        Ok(finished) => {
            Err(format!("a program in it ended with {:?}: {}", finished.end, finished.stderr.trim()))
        }
        Err(problem) => Err(problem.message.trim_end_matches('.').to_owned()),
    }
}

/// Tries every kind of sandbox by starting a program in it.
pub fn probe() -> Vec<SandboxProbe> {
    vec![bubblewrap::probe(), landlock::probe()]
}

/// The best kind among those that work, or a problem that says why none does.
pub fn best_of(probes: &[SandboxProbe]) -> Result<Isolation> {
    if let Some(probe) = probes.iter().find(|probe| probe.works) {
        return Ok(probe.isolation);
    }
    let reasons: Vec<String> =
        probes.iter().map(|probe| format!("{}: {}", probe.isolation.as_str(), probe.detail)).collect();
    Err(Problem::new(Code::SandboxUnavailable, format!("No sandbox works here ({}).", reasons.join("; ")))
        .fix(FIX))
}

/// The problem of one kind of sandbox that could not be set up.
pub(crate) fn unavailable(isolation: Isolation, why: impl std::fmt::Display) -> Problem {
    let message = format!("`{}` could not be set up: {why}.", isolation.as_str());
    Problem::new(Code::SandboxUnavailable, message).fix(FIX)
}

/// The best kind on this machine; found out once, and Landlock is not tried where bubblewrap works.
pub(crate) fn best() -> Result<Isolation> {
    static TRIED: OnceLock<Vec<SandboxProbe>> = OnceLock::new();
    best_of(TRIED.get_or_init(|| {
        let first = bubblewrap::probe();
        if first.works { vec![first] } else { vec![first, landlock::probe()] }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_paths_are_real_inside_the_repository_and_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["a/b/c", "a-b", "d"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let read_only = ["a/b/c", "a/b", "a-b", "missing", "/usr", ".", "d/../a/b"];
        let place = Confinement {
            read_only: read_only.iter().map(PathBuf::from).collect(),
            ..Confinement::to(&root)
        };
        let place = place.resolved().unwrap();
        assert_eq!(place.read_only, [root.join("a/b"), root.join("a-b")]);
        assert_eq!(place.guarded_folders(), [root.join("a")]);
    }
}
