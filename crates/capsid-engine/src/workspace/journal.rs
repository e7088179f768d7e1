//! The journal: everything that a finished run will write, written down before any of it is done.
//!
//! Finishing a run touches the tree and several files. Once the journal is on disk the run counts as finished: if the
//! program dies, the next command that takes the lock does what is left. Every step can be done twice with the effect of
//! once.

use super::Workspace;
use super::outbox::OutboxFile;
use crate::files::phase;
use crate::store::{self, FAILED_KEPT, FAILED_LIMIT};
use crate::tree::apply;
use capsid_disk::files;
use capsid_model::{Code, Object, Problem, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is left to write.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Journal {
    /// The run that it finishes.
    pub run_id: String,
    /// The folder whose apply journal puts the change into the tree.
    pub apply: Option<PathBuf>,
    /// The gene, made or marked.
    pub gene: Option<Object>,
    /// The capsule, made, grown or broken.
    pub capsule: Option<Object>,
    /// Further capsules whose streak ended.
    pub broken: Vec<Object>,
    pub failed: Option<Object>,
    /// The report and the event.
    pub records: Vec<Object>,
    /// What the memory graph learns.
    pub graph: Vec<Object>,
    /// State files in the repository, as they will be.
    pub states: Vec<StateFile>,
    /// Files in the state directory, as they will be.
    pub private: Vec<TextFile>,
    /// The narrative, as it will be.
    pub narrative: Option<String>,
    /// What is to be sent, by outbox.
    pub outgoing: Vec<(OutboxFile, Vec<Object>)>,
}

/// A state file and what it will hold.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StateFile {
    pub path: PathBuf,
    pub document: Object,
}

/// A private file and what it will hold.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TextFile {
    pub path: PathBuf,
    pub text: String,
}

impl Journal {
    /// Writes the journal down, then does what it says. The caller holds the lock.
    pub fn commit(&self, workspace: &Workspace) -> Result<Option<apply::ApplyOutcome>> {
        phase::enter("journal");
        let text = serde_json::to_string(self).unwrap_or_default();
        files::replace_private(&workspace.journal()?, text.as_bytes())?;
        self.carry_out(workspace)
    }

    fn carry_out(&self, workspace: &Workspace) -> Result<Option<apply::ApplyOutcome>> {
        let (paths, store) = (&workspace.paths, &workspace.store);
        let applied = match &self.apply {
            Some(folder) => apply::recover(folder, &workspace.repository.root)?,
            None => None,
        };
        if let Some(gene) = &self.gene {
            phase::enter("genes");
            store.genes.upsert(gene)?;
        }
        for capsule in self.broken.iter().chain(&self.capsule) {
            phase::enter("capsules");
            store.capsules.upsert(capsule)?;
        }
        if let Some(failed) = &self.failed {
            phase::enter("failed_capsules");
            store.failed.push_bounded(failed, FAILED_LIMIT, FAILED_KEPT)?;
        }
        if !self.is_recorded(workspace)? {
            store.events.append(&self.records)?;
        }
        workspace.graph().append_once(&self.graph)?;
        phase::enter("state");
        for state in &self.states {
            store::write_state(&state.path, &state.document)?;
        }
        if let Some(narrative) = &self.narrative {
            files::replace(&paths.narrative(), narrative.as_bytes())?;
        }
        for (outbox, entries) in &self.outgoing {
            outbox.append(workspace, entries.iter().cloned())?;
        }
        phase::enter("solidify_state");
        for file in &self.private {
            files::replace_private(&file.path, file.text.as_bytes())?;
        }
        if let Some(folder) = &self.apply {
            apply::finish(folder)?;
        }
        files::remove(&workspace.journal()?)?;
        Ok(applied)
    }

    /// Whether an earlier try got as far as the log.
    fn is_recorded(&self, workspace: &Workspace) -> Result<bool> {
        let Some(last) = self.records.last().and_then(|record| record.get("id")) else {
            return Ok(true);
        };
        let recent = workspace.store.events.recent_documents(4)?;
        Ok(recent.iter().any(|record| record.get("id") == Some(last)))
    }
}

/// Finishes what an interrupted command began. The caller holds the lock.
pub(super) fn finish(workspace: &Workspace) -> Result<()> {
    let path = workspace.journal()?;
    if let Some(text) = files::read_optional(&path)? {
        let journal: Journal = serde_json::from_str(&text).map_err(|error| {
            let message = format!("The journal `{}` cannot be read: {error}.", path.display());
            Problem::new(Code::StoreDamaged, message)
                .fix("Look at it, move it away, and check the last lines of events.jsonl by hand.")
        })?;
        journal.carry_out(workspace)?;
    }
    finish_runs(workspace)
}

/// Removes what an apply prepared in the tree and no journal ever counted as finished, and ends what `undo` and `review`
/// began.
fn finish_runs(workspace: &Workspace) -> Result<()> {
    let root = &workspace.repository.root;
    let runs = std::fs::read_dir(workspace.state_dir()?.join("runs")).into_iter().flatten().flatten();
    for run in runs.map(|entry| entry.path()).filter(|run| apply::is_pending(run)) {
        apply::discard(&run, root)?;
        apply::recover(&run, root)?;
    }
    Ok(())
}
