//! Restores files that a run changed in the tree. Nothing else ever changes a file that somebody edited there.

use super::change::CycleChange;
use crate::run::folder::{RunFolder, StoredRun};
use crate::run::{Run, ViewLevel, base};
use crate::tree::apply::{self, AfterFile, RestoreOutcome};
use crate::tree::names::{self, Name};
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};

/// Which files are restored.
#[derive(Debug, Clone)]
pub enum RestoreFiles {
    All,
    Named(Vec<String>),
}

/// Notes how the files of a change are now, so that a later restore leaves alone what changes after this.
pub(super) fn note_state_after(workspace: &Workspace, change: &CycleChange) -> Result<()> {
    let names: Vec<Name> = change.names().cloned().collect();
    let after = apply::list_after(&workspace.repository.root, &names)?;
    let text = serde_json::to_string(&after).unwrap_or_default();
    files::replace_private(&change.folder.path.join("after.json"), text.as_bytes())
}

/// Restores files that a run changed in the tree, as they were when it began. Only files that are still as the run left
/// them are touched.
pub fn restore(workspace: &Workspace, run_id: Option<&str>, wanted: &RestoreFiles) -> Result<RestoreOutcome> {
    let _lock = workspace.lock()?;
    let (run, folder) = in_place_run(workspace, run_id)?;
    if folder.read()?.is_some_and(|stored| stored.status.is_pending()) {
        note_state_after(workspace, &CycleChange::load(workspace, &run, &folder)?)?;
    }
    let text = files::read_optional(&folder.path.join("after.json"))?;
    let after: Vec<AfterFile> = text.and_then(|text| serde_json::from_str(&text).ok()).ok_or_else(|| {
        Problem::new(Code::NotFound, format!("`{}` left no files to restore.", run.run_id))
            .fix("`capsid events` lists what earlier runs did.")
    })?;
    let chosen = match wanted {
        RestoreFiles::All => None,
        RestoreFiles::Named(paths) => Some(chosen(&after, paths)?),
    };
    apply::restore(&folder.path, &base::load(workspace, &folder)?, &after, chosen.as_deref())
}

/// The newest run whose change was made in the tree, or the one that is named.
fn in_place_run(workspace: &Workspace, run_id: Option<&str>) -> Result<(Run, RunFolder)> {
    let folders = match run_id {
        Some(id) => vec![RunFolder::of_run(workspace, id)?],
        None => RunFolder::all(workspace)?,
    };
    let mut newest: Option<(Run, RunFolder)> = None;
    for folder in folders {
        if let Some(StoredRun { run, .. }) =
            folder.read()?.filter(|stored| stored.run.level == ViewLevel::InPlace)
            && newest.as_ref().is_none_or(|(known, _)| known.created_at < run.created_at)
        {
            newest = Some((run, folder));
        }
    }
    newest.ok_or_else(|| {
        Problem::new(Code::NotFound, "No run changed files of this tree.")
            .fix("A change that an agent made in its own view is undone with `capsid undo RUN`.")
    })
}

fn chosen(after: &[AfterFile], paths: &[String]) -> Result<Vec<Name>> {
    let find = |path: &String| {
        let name = path.trim_start_matches("./").as_bytes().to_vec();
        after.iter().any(|file| file.name == name).then_some(name).ok_or_else(|| {
            let shown: Vec<String> = after.iter().take(10).map(|file| names::show(&file.name)).collect();
            Problem::new(Code::InputInvalid, format!("`{path}` was not changed by the run."))
                .fix(format!("Name one of: {}.", shown.join(", ")))
        })
    };
    paths.iter().map(find).collect()
}
