//! A repository with its policy, its store and its state: what every command of the engine opens first.

mod exclude;
pub mod init;
pub mod journal;
pub mod merge_driver;
pub mod node_setup;
pub mod old_state;
pub mod outbox;

use crate::config::EngineConfig;
use crate::files::paths::RepositoryPaths;
use crate::store::AssetStore;
use crate::store::graph::GraphFile;
use crate::tree::Repository;
use capsid_client::{ClientConfig, NodeClient};
use capsid_disk::{Lock, files};
use capsid_model::env::EnvFingerprint;
use capsid_model::hash::sha256_hex;
use capsid_model::{Clock, Code, Problem, Result, Time};
use capsid_seal::home::data_folder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Looks an environment variable up.
pub type EnvLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// How long a command waits for another one to finish with the runs.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Keeps every other command away from the runs and the store until it is dropped.
#[derive(Debug)]
pub struct WorkspaceLock {
    _runs: Lock,
    _store: Lock,
}

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

    /// A path of the settings, in which `~` is the user's home.
    pub fn expand_home(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
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

    /// The folder for everything that belongs to no repository.
    pub fn data_dir(&self) -> Result<PathBuf> {
        data_folder(&*self.env)
    }

    /// Where the engine keeps its state of this repository: outside of it, so that no agent, no clone and no pull can
    /// write there. It is named after the repository's path; nothing is created.
    pub fn state_dir(&self) -> Result<PathBuf> {
        let digest = sha256_hex(self.repository.root.as_os_str().as_encoded_bytes());
        Ok(self.data_dir()?.join("cycles").join(&digest[..16]))
    }

    /// A file of that folder, to be read: where an older version kept it, as long as it was not brought over.
    pub fn state_file(&self, name: &str) -> Result<PathBuf> {
        let file = self.state_dir()?.join(name);
        let old = old_state::old_folder(self).join(name);
        Ok(if !file.exists() && old.exists() { old } else { file })
    }

    /// The same folder, created if need be, with the files of an older version. A location that the repository contains, or that contains it, is refused: an agent
    /// could write there.
    pub fn create_state_dir(&self) -> Result<PathBuf> {
        let folder = self.state_dir()?;
        let named = folder.join("root");
        if !named.exists() {
            self.refuse_shared_location(&folder)?;
            files::create_private_folder(&folder)?;
            old_state::copy_files(self, &folder)?;
            files::replace_private(&named, self.repository.root.as_os_str().as_encoded_bytes())?;
        }
        Ok(folder)
    }

    fn refuse_shared_location(&self, folder: &Path) -> Result<()> {
        let data = real_path(folder);
        for repository in [&self.repository.root, &self.repository.git_dir, &self.repository.common_dir] {
            if data.starts_with(repository) || repository.starts_with(&data) {
                let message = format!(
                    "The state of the engine would be in `{}`, which the repository `{}` contains.",
                    folder.display(),
                    repository.display()
                );
                return Err(Problem::new(Code::ConfigInvalid, message)
                    .fix("Set CAPSID_HOME to a folder outside of the repository."));
            }
        }
        Ok(())
    }

    /// What a run that is being finished still has to write.
    pub fn journal(&self) -> Result<PathBuf> {
        Ok(self.state_dir()?.join("solidify_journal.json"))
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

    /// Takes the lock that everybody takes who changes runs or the store, and finishes what an interrupted command left.
    pub fn lock(&self) -> Result<WorkspaceLock> {
        self.lock_within(LOCK_WAIT)
    }

    /// The same, for those who wait longer.
    pub fn lock_within(&self, wait: Duration) -> Result<WorkspaceLock> {
        self.require_store()?;
        self.refuse_linked_folders()?;
        let folder = self.create_state_dir()?;
        let runs = Lock::acquire(&folder.join("lock"), "The state of this repository", wait)?;
        let lock = WorkspaceLock { _runs: runs, _store: self.store.lock()? };
        exclude::exclude_state(self)?;
        files::remove_temp_files(&self.paths.assets)?;
        for part in ["", "runs", "patches"] {
            files::remove_temp_files(&self.paths.evolution.join(part))?;
        }
        files::repair(self.store.events.path())?;
        old_state::adopt(self)?;
        journal::finish(self)?;
        Ok(lock)
    }

    /// The memory graph.
    pub fn graph(&self) -> GraphFile {
        GraphFile::at(self.paths.memory_graph())
    }

    /// The fingerprint of this machine now.
    pub fn fingerprint(&self) -> EnvFingerprint {
        EnvFingerprint::new(os_release(), self.now())
    }
}

/// A path with its links resolved as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(folder), Some(name)) => real_path(folder).join(name),
        _ => path.to_owned(),
    }
}

pub(crate) fn os_release() -> String {
    #[cfg(unix)]
    return rustix::system::uname().release().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    return String::new();
}
