//! The run that waits to be finished. What decides is in the folders of the runs, where no agent can write.

use super::Run;
use super::folder::{RunFolder, RunStatus};
use super::state::RunState;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};

/// The newest run that waits to be finished, with its folder. Runs whose agent still works come last.
pub fn pending(workspace: &Workspace) -> Result<Option<(Run, RunFolder)>> {
    let mut waiting = Vec::new();
    for folder in RunFolder::all(workspace)? {
        if let Some(stored) = folder.read()?.filter(|stored| stored.status.is_pending()) {
            let busy = stored.status == RunStatus::Working && folder.is_busy()?;
            waiting.push((!busy, stored.run, folder));
        }
    }
    let newest = waiting.into_iter().max_by_key(|(idle, run, _)| (*idle, run.created_at));
    Ok(newest.map(|(_, run, folder)| (run, folder)))
}

/// The run that waits, or the one that is named; or a problem that says what to do.
pub fn require_pending(workspace: &Workspace, run_id: Option<&str>) -> Result<(Run, RunFolder)> {
    let waiting = match run_id {
        Some(id) => named(workspace, id)?,
        None => pending(workspace)?,
    };
    if let Some((run, folder)) = waiting {
        folder.refuse_busy()?;
        return Ok((run, folder));
    }
    let other = pending(workspace)?.map(|(run, _)| run.run_id);
    let state = RunState::load(workspace)?;
    Err(match (run_id, state.shown_pending()) {
        (Some(id), _) if other.is_some() => Problem::new(
            Code::RunPending,
            format!("`{id}` does not wait to be finished; `{}` does.", other.unwrap_or_default()),
        )
        .fix("Finish that run with `capsid solidify`, or drop it with `capsid review --reject`."),
        (Some(id), _) => Problem::new(Code::NothingPending, format!("`{id}` does not wait to be finished."))
            .fix("`capsid review` shows the run that waits."),
        (None, Some(run)) => {
            Problem::new(Code::NothingPending, format!("`{}` was not begun in this clone.", run.run_id))
                .fix("Begin a run of your own with `capsid evolve --force`; your files are left as they are.")
        }
        (None, None) => Problem::new(Code::NothingPending, "No run waits to be finished.")
            .fix("Begin one with `capsid evolve`, make the change, then finish it with `capsid solidify`."),
    })
}

fn named(workspace: &Workspace, id: &str) -> Result<Option<(Run, RunFolder)>> {
    let folder = RunFolder::of_run(workspace, id)?;
    let stored = folder.read()?.filter(|stored| stored.status.is_pending());
    Ok(stored.map(|stored| (stored.run, folder)))
}
