//! Where the server works: a repository, an environment, and what it may reach.

use capsid_client::{ClientConfig, NodeClient};
use capsid_engine::workspace::node_setup;
use capsid_engine::workspace::{EnvLookup, Workspace};
use capsid_model::{Clock, Code, Problem, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long one call to a hub may take. A person waits for the agent that waits for it.
const HUB_CALL: Duration = Duration::from_secs(12);

/// What the server serves.
#[derive(Clone)]
pub struct ServerContext {
    /// The folder that was named; the repository around it is served.
    pub folder: PathBuf,
    /// The variables of the environment.
    pub env: EnvLookup,
    pub clock: Arc<dyn Clock>,
    /// Every command of the program with its help; called only when help is requested.
    pub commands: Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>,
    /// Whether the names of other servers are served too.
    pub compat: bool,
    /// Whether files outside of the repository may be named: only by one who could read them without us.
    pub whole_machine: bool,
}

impl ServerContext {
    /// Opens the repository.
    pub fn workspace(&self) -> Result<Workspace> {
        Workspace::open(&self.folder, Arc::clone(&self.clock), Arc::clone(&self.env))
    }

    /// The same, with a store in it.
    pub fn store(&self) -> Result<Workspace> {
        let workspace = self.workspace()?;
        workspace.require_store()?;
        Ok(workspace)
    }

    /// This node at its hub; a problem where none is configured.
    pub fn node(&self) -> Result<NodeClient> {
        let configured = match self.workspace() {
            Ok(workspace) => workspace.config.hub.settings(&*self.env)?,
            Err(problem) if problem.code == Code::NotAGitRepository => None,
            Err(problem) => return Err(problem),
        };
        let mut settings = match configured {
            Some(settings) => settings,
            None => ClientConfig::resolve(None, &*self.env)?,
        };
        settings.timeout = settings.timeout.min(HUB_CALL);
        settings.retries = settings.retries.min(1);
        node_setup::node(&settings, &*self.env, Arc::clone(&self.clock))
    }

    /// A path that was named, from the folder, as long as this caller may name it.
    pub fn path(&self, workspace: &Workspace, named: &str) -> Result<PathBuf> {
        let path = self.folder.join(named);
        // A pipe has no end, and git may execute files in `.git`.
        let is_odd = path.exists() && !path.is_file();
        if is_odd || (!self.whole_machine && is_in_git_dir(&path, &workspace.repository.root)) {
            return Err(Problem::new(
                Code::PermissionDenied,
                format!("`{named}` is no file that can be named here."),
            )
            .fix("Name a plain file of the repository, or give its text."));
        }
        if self.whole_machine || is_within(&path, &workspace.repository.root) {
            return Ok(path);
        }
        Err(Problem::new(
            Code::PermissionDenied,
            format!("`{named}` is outside of the repository, and over HTTP only files in it can be named."),
        )
        .fix("Name a file of the repository, or give its text."))
    }
}

/// Whether a path, or the folder it would be created in, is in the repository's git directory.
fn is_in_git_dir(path: &Path, root: &Path) -> bool {
    is_within(path, &root.join(".git"))
}

/// Whether a path, or the folder it would be made in, is really below a root.
fn is_within(path: &Path, root: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    match path.canonicalize() {
        Ok(real) => real.starts_with(root),
        Err(_) => {
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            path.file_name().is_some()
                && !path.is_symlink()
                && parent.is_some_and(|real| real.starts_with(root))
        }
    }
}
