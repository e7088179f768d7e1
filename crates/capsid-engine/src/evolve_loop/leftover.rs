//! What a killed loop left: a run whose agent was killed is dropped, a frozen change is finished.

use super::attempt::{drop_run, own_run};
use super::options::{LoopNote, PassContext};
use super::record::LoopRecord;
use crate::run::Run;
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::pending;
use crate::solidify::{self, CycleOutcome, SolidifyRequest};
use crate::workspace::Workspace;
use capsid_model::{Code, Result};

/// Finishes or drops the run that an earlier loop was working on when it was killed. Gives the run and its outcome, if
/// there was something to finish.
pub(super) fn finish_own_run(context: &mut PassContext<'_>) -> Result<Option<(Run, CycleOutcome)>> {
    let workspace = context.workspace;
    let Some(run_id) = LoopRecord::load(workspace)?.run_id else { return Ok(None) };
    let folder = RunFolder::of_run(workspace, &run_id)?;
    let stored = folder.read()?.filter(|stored| stored.status.is_pending());
    let Some(stored) = stored else {
        own_run(workspace, None)?;
        return Ok(None);
    };
    match stored.status {
        RunStatus::Working if folder.is_busy()? => Ok(None),
        RunStatus::Changed => {
            let request = SolidifyRequest {
                commit: context.options.commit,
                run_id: Some(run_id.clone()),
                unattended: true,
                ..SolidifyRequest::default()
            };
            let outcome = match solidify::solidify(workspace, &request) {
                // The policy changed meanwhile: whether the run goes on is for its owner to say.
                Err(problem) if problem.code == Code::ConfigInvalid => {
                    own_run(workspace, None)?;
                    return Err(problem);
                }
                other => other?,
            };
            own_run(workspace, None)?;
            (context.on_note)(&LoopNote::Event(&format!("finished {run_id}, which a killed loop left")));
            (context.on_note)(&LoopNote::Settled(&outcome));
            Ok(Some((stored.run, outcome)))
        }
        _ => {
            drop_run(workspace, &run_id)?;
            own_run(workspace, None)?;
            (context.on_note)(&LoopNote::Event(&format!("dropped {run_id}: its agent was killed")));
            Ok(None)
        }
    }
}

/// A run that somebody has begun and changed something for. A run whose agent was killed is nobody's.
pub(super) fn find_somebodys_run(workspace: &Workspace) -> Result<Option<String>> {
    let pending = pending::pending(workspace)?;
    let Some((run, folder)) = pending else { return Ok(None) };
    let interrupted = folder.read()?.is_some_and(|stored| stored.status == RunStatus::Working);
    Ok((!interrupted || folder.is_busy()?).then_some(run.run_id))
}
