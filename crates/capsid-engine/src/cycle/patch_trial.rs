//! Tries the change of a stored solution in the view of a run, as if an agent had made it.

use super::agent::{ViewProgram, run_in_view};
use super::evolve::Ready;
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::offer::CapsuleOffer;
use crate::workspace::Workspace;
use capsid_model::Result;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long git may take to apply a patch.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The ways to apply a patch, the strictest first: as it is, by a merge with its base, with one line of context.
const WAYS: [&[&str]; 3] =
    [&["git", "apply", "-"], &["git", "apply", "--3way", "-"], &["git", "apply", "-C1", "-"]];

/// Applies the patch of an offer in the view of the run. Whether it applied.
pub(super) fn apply_patch(
    workspace: &Workspace,
    ready: &Ready,
    offer: &CapsuleOffer,
    stop: &AtomicBool,
) -> Result<bool> {
    let run = &ready.run;
    let folder = RunFolder::of_run(workspace, &run.run_id)?;
    for way in WAYS {
        folder.remove_attempt()?;
        folder.write(RunStatus::Working, run)?;
        let argv: Vec<String> = way.iter().map(|word| (*word).to_owned()).collect();
        let program = ViewProgram { argv: &argv, input: offer.patch.as_bytes(), timeout: TIMEOUT, stop };
        let outcome = run_in_view(workspace, run, &ready.prompt_path, &program, &mut |_| {})?;
        if outcome.stopped || outcome.problem.is_some() {
            return Ok(false);
        }
        if outcome.failure.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}
