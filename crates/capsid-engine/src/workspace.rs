//! A repository with its policy, its store and its state: what every command of the engine opens first.

use crate::config::EngineConfig;
use crate::cycle::run::RunState;
use crate::files::paths::RepositoryPaths;
use crate::network::node_setup;
use crate::snapshot::Repository;
use crate::solidify::journal;
use crate::store::graph::GraphFile;
use crate::store::{self, AssetStore};
use capsid_client::{ClientConfig, NodeClient};
use capsid_disk::Lock;
use capsid_disk::files;
use capsid_model::env::EnvFingerprint;
use capsid_model::id::{IdMaker, stamp_of};
use capsid_model::{Clock, Code, Problem, Result, Time};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Looks an environment variable up.
pub type EnvLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// An opened repository.
#[derive(Clone)]
pub struct Workspace {
    pub repository: Repository,
    pub paths: RepositoryPaths,
    pub config: EngineConfig,
    pub store: AssetStore,
    /// The variables that were given.
    pub env: EnvLookup,
    /// The user's home, where coding agents keep their sessions.
    pub home: Option<PathBuf>,
    clock: Arc<dyn Clock>,
}

impl Workspace {
    /// Opens the repository that holds `folder`. The store need not exist yet.
    pub fn open(folder: &Path, clock: Arc<dyn Clock>, env: EnvLookup) -> Result<Self> {
        let repository = Repository::open(folder)?;
        let paths = RepositoryPaths::resolve(&repository.root, &*env);
        let config = EngineConfig::load(&paths.config(), &*env)?;
        let home = env("HOME").or_else(|| env("USERPROFILE")).map(PathBuf::from);
        Ok(Self { store: AssetStore::at(&paths.assets), repository, paths, config, env, home, clock })
    }

    /// This user's node, with the repository's clock.
    pub fn node(&self, settings: &ClientConfig) -> Result<NodeClient> {
        node_setup::node(settings, &*self.env, Arc::clone(&self.clock))
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// A variable, unless it is unset or blank.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.trim().is_empty())
    }

    /// Whether innovation is forced by the environment.
    pub fn forces_innovation(&self) -> bool {
        ["FORCE_INNOVATION", "EVOLVE_FORCE_INNOVATION"]
            .iter()
            .any(|name| self.variable(name).as_deref() == Some("true"))
    }

    /// Chance for the ids of records, where a collision would do no harm.
    pub fn random(&self) -> u32 {
        fastrand::u32(..)
    }

    /// A solidify that has begun to write. It is stored where no clone and no pull can plant one.
    pub fn journal(&self) -> PathBuf {
        self.repository.private_dir().join("solidify_journal.json")
    }

    /// What only this program may say of the run that was begun last: its snapshot, its gene, the state of the log.
    pub fn private_run(&self) -> PathBuf {
        self.repository.private_dir().join("run.json")
    }

    /// The copy of the event log that shows what was done to it during a run.
    pub fn mirror(&self) -> PathBuf {
        self.repository.private_dir().join("events.mirror")
    }

    /// Explains what to do if there is no store.
    pub fn require_store(&self) -> Result<()> {
        if self.store.exists() {
            return Ok(());
        }
        Err(Problem::new(
            Code::NotInitialised,
            format!("There is no asset store at `{}`.", self.paths.assets.display()),
        )
        .fix("Run `capsid init` in the repository."))
    }

    /// Refuses to go on where a folder of the engine is a link inside the repository: it may lead anywhere, and came with
    /// whoever made it.
    pub fn refuse_linked_folders(&self) -> Result<()> {
        for folder in [&self.paths.assets, &self.paths.evolution] {
            let Ok(below) = folder.strip_prefix(&self.repository.root) else { continue };
            let mut path = self.repository.root.clone();
            for part in below.components() {
                path.push(part);
                if path.is_symlink() {
                    let message =
                        format!("`{}` is a symbolic link, so nothing is written below it.", path.display());
                    return Err(Problem::new(Code::StoreDamaged, message).fix(
                        "Put a folder in its place, or name the other one with GEP_ASSETS_DIR or MEMORY_DIR.",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Takes the lock that a command holds while an agent works for it: two agents would judge each other's changes.
    pub fn agent_lock(&self) -> Result<Lock> {
        let path = self.repository.private_dir().join("agent.lock");
        Lock::acquire(&path, "An agent already works in this repository; it", Duration::ZERO)
    }

    /// Takes the store's lock and finishes what an interrupted command left.
    pub fn lock(&self) -> Result<Lock> {
        self.require_store()?;
        self.refuse_linked_folders()?;
        let lock = self.store.lock()?;
        files::remove_temp_files(&self.paths.assets)?;
        for part in ["", "runs", "patches"] {
            files::remove_temp_files(&self.paths.evolution.join(part))?;
        }
        files::repair(self.store.events.path())?;
        journal::finish(self)?;
        Ok(lock)
    }

    /// The memory graph.
    pub fn graph(&self) -> GraphFile {
        GraphFile::at(self.paths.memory_graph())
    }

    /// The begun and the settled run.
    pub fn run_state(&self) -> Result<RunState> {
        Ok(RunState { file: store::read_state(&self.paths.run_state())? })
    }

    /// A maker of ids above every stamp in the store. The caller holds the store's lock.
    pub fn ids(&self) -> Result<IdMaker> {
        let last_event = self.store.events.last_id()?;
        let last_run = self.run_state()?.last_run().map(|run| run.run_id);
        let newest = [last_event, last_run].into_iter().flatten().filter_map(|id| stamp_of(&id)).max();
        // An id from a clock that ran far ahead must not drag all later ones with it.
        let bound = self.now().0 + 86_400_000;
        Ok(IdMaker::after(newest.unwrap_or_default().min(bound)))
    }

    /// The fingerprint of this machine now.
    pub fn fingerprint(&self) -> EnvFingerprint {
        EnvFingerprint::new(os_release(), self.now())
    }
}

pub(crate) fn os_release() -> String {
    #[cfg(unix)]
    return rustix::system::uname().release().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    return String::new();
}
