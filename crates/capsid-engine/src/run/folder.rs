//! The folder of one run, outside of the repository: what it began from, what it changed, and what became of it.

use super::Run;
use crate::workspace::Workspace;
use capsid_disk::{Lock, files};
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::remove_layer;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The folders that are kept once their runs are finished; older ones are removed.
const KEPT: usize = 20;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Its prompt is written; somebody else makes the change in the tree.
    Prepared,
    /// Its agent works, or was killed while it did.
    Working,
    /// Its agent has ended, and what it changed is frozen.
    Changed,
    /// Its outcome is recorded.
    Finished,
    /// Its change is proven, but waits for somebody to approve it.
    NeedsReview,
    /// Its change is proven, but conflicts with edits of the user.
    Conflict,
    /// It was rejected, replaced or interrupted.
    Abandoned,
}

impl RunStatus {
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Prepared | Self::Working | Self::Changed)
    }

    /// Whether its change is proven and not in the tree.
    pub fn is_unapplied(self) -> bool {
        matches!(self, Self::NeedsReview | Self::Conflict)
    }
}

/// `run.json`: a run and how far it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredRun {
    pub status: RunStatus,
    #[serde(flatten)]
    pub run: Run,
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    pub path: PathBuf,
}

impl RunFolder {
    /// The folder of a run by its id, whether or not it exists. An id never leads elsewhere.
    pub fn of_run(workspace: &Workspace, run_id: &str) -> Result<Self> {
        let plain = !run_id.is_empty()
            && run_id.len() <= 100
            && run_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !plain {
            return Err(Problem::new(Code::InputInvalid, format!("`{run_id}` is not the id of a run."))
                .fix("Name a run as the program prints it, such as `run_1789000000000`."));
        }
        Ok(Self { path: workspace.state_dir()?.join("runs").join(run_id) })
    }

    /// The folders of all runs that are kept.
    pub fn all(workspace: &Workspace) -> Result<Vec<Self>> {
        let runs = workspace.state_dir()?.join("runs");
        let entries = match std::fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Problem::io("read", &runs, &error)),
        };
        let mut folders: Vec<Self> = entries.flatten().map(|entry| Self { path: entry.path() }).collect();
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(folders)
    }

    pub fn create(&self) -> Result<()> {
        files::create_private_folder(&self.path)
    }

    fn run_file(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// The manifest of the tree when the run began.
    pub fn manifest(&self) -> PathBuf {
        self.path.join("base.manifest")
    }

    /// Copies of files that no commit holds, as they were when the run began.
    pub fn base_copies(&self) -> PathBuf {
        self.path.join("base")
    }

    /// The agent's layers; removed when the run ends.
    pub fn layers(&self) -> PathBuf {
        self.path.join("layers")
    }

    /// The write layer of the repository.
    pub fn tree_layer(&self) -> PathBuf {
        self.layers().join("tree")
    }

    /// What the agent changed, frozen.
    pub fn change(&self) -> PathBuf {
        self.path.join("change")
    }

    /// The list of what it changed.
    pub fn listing(&self) -> PathBuf {
        self.path.join("listing.json")
    }

    /// The git directory in which the patch is made.
    pub fn diff_git(&self) -> PathBuf {
        self.path.join("diff.git")
    }

    /// The folder of the agent's note. The agent can write in it, and what it writes stays.
    pub fn note_folder(&self) -> PathBuf {
        self.path.join("note")
    }

    /// What the agent says about its change.
    pub fn note_file(&self) -> PathBuf {
        self.note_folder().join("note.md")
    }

    /// Write layers of validations.
    pub fn validation(&self) -> PathBuf {
        self.path.join("validation")
    }

    /// The run and how far it is; none where there is no such run.
    pub fn read(&self) -> Result<Option<StoredRun>> {
        let path = self.run_file();
        let Some(text) = files::read_optional(&path)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            Problem::new(Code::StoreDamaged, format!("`{}` cannot be read: {error}.", path.display()))
                .fix("Move the folder of this run away and begin a new one; your files are left as they are.")
        })
    }

    pub fn write(&self, status: RunStatus, run: &Run) -> Result<()> {
        files::replace_private(&self.run_file(), self.text(status, run).as_bytes())
    }

    /// What `run.json` will hold, for a journal that writes it.
    pub fn text(&self, status: RunStatus, run: &Run) -> String {
        serde_json::to_string(&StoredRun { status, run: run.clone() }).unwrap_or_default()
    }

    /// Where [`RunFolder::text`] belongs.
    pub fn text_path(&self) -> PathBuf {
        self.run_file()
    }

    /// Keeps everybody else away from the run while its agent works.
    pub fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.lock_file(), "The run", Duration::ZERO)
    }

    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The process whose agent works on the run.
    pub fn worker(&self) -> Result<Option<u32>> {
        Lock::find_holder(&self.lock_file())
    }

    pub fn is_busy(&self) -> Result<bool> {
        Ok(self.worker()?.is_some())
    }

    /// A run whose agent works can be neither finished nor rejected.
    pub fn refuse_busy(&self) -> Result<()> {
        match self.worker()? {
            None => Ok(()),
            Some(process) => {
                let name = self.path.file_name().unwrap_or_default().to_string_lossy();
                Err(Problem::new(
                    Code::RunBusy,
                    format!("An agent is working on `{name}` (process {process})."),
                )
                .fix(format!("Wait for it, or stop it with `capsid cycle stop {name}`.")))
            }
        }
    }

    /// Removes the layers of the agent and of validations. What is left in a layer has any mode, so it is opened first.
    pub fn remove_layers(&self) {
        for folder in [self.layers(), self.validation()] {
            remove_layer(&folder);
        }
    }

    /// Removes what an attempt left, so that another one can begin from the tree.
    pub fn remove_attempt(&self) -> Result<()> {
        self.remove_layers();
        for folder in [self.change(), self.note_folder()] {
            remove_layer(&folder);
        }
        for file in [self.listing(), self.change().with_extension("json"), self.path.join("agent.json")] {
            files::remove(&file)?;
        }
        Ok(())
    }

    /// Removes the folder of a run that nobody will ask for.
    pub fn remove(&self) {
        remove_layer(&self.path);
    }
}

/// Removes the folders of the oldest finished runs. A change that is proven and not applied stays.
pub fn remove_old(workspace: &Workspace) -> Result<()> {
    let mut finished = Vec::new();
    for folder in RunFolder::all(workspace)? {
        match folder.read() {
            Ok(Some(stored)) if stored.status.is_pending() || stored.status.is_unapplied() => {}
            Ok(Some(stored)) => finished.push((stored.run.created_at, folder)),
            // A folder without a run was left by a command that was killed before the run existed.
            Ok(None) => folder.remove(),
            Err(_) => {}
        }
    }
    finished.sort_by_key(|(begun, _)| *begun);
    let surplus = finished.len().saturating_sub(KEPT);
    finished.into_iter().take(surplus).for_each(|(_, folder)| folder.remove());
    Ok(())
}
