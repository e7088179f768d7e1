//! `capsid apply` and `capsid undo`: a proven change that waits is brought into the tree or onto a branch; one that was
//! applied is undone.

use super::change::CycleChange;
use super::placement::{apply_conflict, plan_change};
use crate::run::Run;
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::validation;
use crate::tree::apply::{self, ApplyOutcome, ApplyPlan};
use crate::workspace::Workspace;
use crate::workspace::journal::{Journal, TextFile};
use capsid_model::{Code, Problem, Result};

/// Applies a change that is proven and waits. It is validated again where a file had to be merged or the tree changed.
pub fn apply_run(workspace: &Workspace, run_id: &str, approved: bool) -> Result<Option<ApplyOutcome>> {
    let _lock = workspace.lock()?;
    let (run, folder, status) = unapplied(workspace, run_id)?;
    let mut change = CycleChange::load(workspace, &run, &folder)?;
    if status == RunStatus::NeedsReview && !approved {
        return Err(Problem::new(
            Code::ReviewRequired,
            format!("`{run_id}` touches files that run by themselves."),
        )
        .fix("Look at it with `capsid review`, then apply it with `capsid review --approve`."));
    }
    let root = &workspace.repository.root;
    let drift = change.drift(workspace)?;
    let mut planned = ready(run_id, plan_change(&mut change)?)?;
    if !drift.is_empty() || !planned.merged.is_empty() {
        revalidate(workspace, &run, &change)?;
        planned = ready(run_id, plan_change(&mut change)?)?;
    }
    apply::begin(&folder.path, root, &planned)?;
    let journal = Journal {
        run_id: run.run_id.clone(),
        apply: Some(folder.path.clone()),
        private: vec![TextFile { path: folder.text_path(), text: folder.text(RunStatus::Finished, &run) }],
        ..Journal::default()
    };
    let applied = journal.commit(workspace)?;
    folder.remove_layers();
    Ok(applied)
}

fn ready(run_id: &str, planned: ApplyPlan) -> Result<ApplyPlan> {
    if planned.conflicts.is_empty() {
        return Ok(planned);
    }
    let reasons: Vec<String> = planned.conflicts.iter().map(|found| found.message.clone()).collect();
    Err(apply_conflict(run_id, &reasons))
}

/// The commands of the run's gene and of the owner, on the tree as it is now with the change.
fn revalidate(workspace: &Workspace, run: &Run, change: &CycleChange) -> Result<()> {
    let gene = run.gene.as_object().map(capsid_model::gene::Gene::read).unwrap_or_default();
    let mut commands = validation::commands(&gene.validation, workspace);
    let known = run.reproduction.iter().flat_map(|known| known.preparation.iter().chain([&known.command]));
    let missing: Vec<String> = known.filter(|command| !commands.contains(command)).cloned().collect();
    commands.splice(0..0, missing);
    let validated = validation::run(&commands, false, workspace, &change.validation_tree())?;
    match validated.commands.iter().find(|command| !command.ok) {
        None => Ok(()),
        Some(failed) => {
            let reason = format!("`{}` fails with your edits: {}.", failed.command, failed.stderr.trim());
            Err(apply_conflict(&run.run_id, &[capsid_model::text::cut(&reason, 400).to_owned()]))
        }
    }
}

/// Puts a change that waits onto a branch that starts at the commit of its base. Neither tree nor index is touched.
pub fn apply_to_branch(workspace: &Workspace, run_id: &str, branch: &str) -> Result<String> {
    let _lock = workspace.lock()?;
    let (run, folder, _) = unapplied(workspace, run_id)?;
    let change = CycleChange::load(workspace, &run, &folder)?;
    let commit = super::commit::commit_to_branch(workspace, &run, &change, branch)?;
    folder.write(RunStatus::Finished, &run)?;
    Ok(commit)
}

fn unapplied(workspace: &Workspace, run_id: &str) -> Result<(Run, RunFolder, RunStatus)> {
    let folder = RunFolder::of_run(workspace, run_id)?;
    let stored = folder.read()?.ok_or_else(|| unknown(run_id))?;
    if !stored.status.is_unapplied() {
        return Err(Problem::new(
            Code::NothingPending,
            format!("`{run_id}` has no change that waits to be applied."),
        )
        .fix("`capsid review` shows a change that waits."));
    }
    Ok((stored.run, folder, stored.status))
}

/// Puts the files that a run replaced back, where the tree is still as the run left it.
pub fn undo_run(workspace: &Workspace, run_id: &str) -> Result<ApplyOutcome> {
    let _lock = workspace.lock()?;
    let folder = RunFolder::of_run(workspace, run_id)?;
    let stored = folder.read()?.ok_or_else(|| unknown(run_id))?;
    folder.refuse_busy()?;
    let undone = apply::undo(&folder.path, &workspace.repository.root)?;
    folder.write(RunStatus::Abandoned, &stored.run)?;
    Ok(undone)
}

fn unknown(run_id: &str) -> Problem {
    Problem::new(Code::NotFound, format!("No run `{run_id}` is kept here."))
        .fix("The newest 20 runs are kept; `capsid events` shows their ids.")
}
