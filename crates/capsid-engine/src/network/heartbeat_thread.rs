//! The thread that sends heartbeats to the hub.

use super::heartbeat::{HeartbeatOutcome, HeartbeatPace, HeartbeatReport, HeartbeatSender};
use super::loop_state::LoopState;
use capsid_model::Problem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Hello first, then heartbeats for as long as the loop runs, whatever goes wrong.
pub(super) fn run_heartbeats(state: &LoopState, sender: &HeartbeatSender, mut pace: HeartbeatPace) {
    let mut greet = true;
    let mut was_fine = true;
    while !state.is_stopped() && !state.is_closing() {
        let beat = catch_unwind(AssertUnwindSafe(|| send_heartbeat(state, sender, greet)));
        let (outcome, problem) = beat.unwrap_or((HeartbeatOutcome::Failed, None));
        greet = greet && matches!(outcome, HeartbeatOutcome::Failed);
        match (&problem, &outcome) {
            // One line when it begins to fail and one when it works again, not one each time.
            (Some(problem), _) if was_fine => state.complain("heartbeat", problem),
            (None, HeartbeatOutcome::Fine(_)) if !was_fine => {
                state.push_message("heartbeat: the hub answers again");
            }
            _ => {}
        }
        was_fine = problem.is_none();
        state.wait(pace.after(&outcome));
    }
}

fn send_heartbeat(
    state: &LoopState,
    sender: &HeartbeatSender,
    greet: bool,
) -> (HeartbeatOutcome, Option<Problem>) {
    let report = match (state.open)() {
        Ok(workspace) => HeartbeatReport {
            genes: workspace.store.genes.documents().map_or(0, |genes| genes.len()),
            capsules: workspace.store.capsules.documents().map_or(0, |capsules| capsules.len()),
            worker: workspace.config.hub.tasks,
        },
        Err(_) => HeartbeatReport::default(),
    };
    if greet && let Err(problem) = sender.hello(&report) {
        return (HeartbeatOutcome::Failed, Some(problem));
    }
    let (outcome, advice, problem) = sender.send(&report);
    if advice.work {
        state.tasks_wanted.store(true, Ordering::Relaxed);
    }
    if advice.overdue > 0 {
        state.push_message(format!("{} task(s) are late", advice.overdue));
    }
    (outcome, problem)
}
