//! The thread that sends heartbeats to the hub.

use super::heartbeat::{HeartbeatOutcome, HeartbeatPace, HeartbeatReport, HeartbeatSender};
use super::loop_state::LoopState;
use capsid_model::Problem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Hello first, then heartbeats for as long as the loop runs, whatever goes wrong.
pub(super) fn run_heartbeats(shelf: &LoopState, heart: &HeartbeatSender, mut pace: HeartbeatPace) {
    let mut greet = true;
    let mut was_fine = true;
    while !shelf.is_stopped() && !shelf.is_closing() {
        let beat = catch_unwind(AssertUnwindSafe(|| send_heartbeat(shelf, heart, greet)));
        let (heard, problem) = beat.unwrap_or((HeartbeatOutcome::Failed, None));
        greet = greet && matches!(heard, HeartbeatOutcome::Failed);
        match (&problem, &heard) {
            // One line when it begins to fail and one when it works again, not one each time.
            (Some(problem), _) if was_fine => shelf.complain("heartbeat", problem),
            (None, HeartbeatOutcome::Fine(_)) if !was_fine => {
                shelf.push_message("heartbeat: the hub answers again");
            }
            _ => {}
        }
        was_fine = problem.is_none();
        shelf.wait(pace.after(&heard));
    }
}

fn send_heartbeat(
    shelf: &LoopState,
    heart: &HeartbeatSender,
    greet: bool,
) -> (HeartbeatOutcome, Option<Problem>) {
    let told = match (shelf.open)() {
        Ok(workspace) => HeartbeatReport {
            genes: workspace.store.genes.documents().map_or(0, |genes| genes.len()),
            capsules: workspace.store.capsules.documents().map_or(0, |capsules| capsules.len()),
            worker: workspace.config.hub.tasks,
        },
        Err(_) => HeartbeatReport::default(),
    };
    if greet && let Err(problem) = heart.hello(&told) {
        return (HeartbeatOutcome::Failed, Some(problem));
    }
    let (heard, news, problem) = heart.send(&told);
    if news.work {
        shelf.tasks_wanted.store(true, Ordering::Relaxed);
    }
    if news.overdue > 0 {
        shelf.push_message(format!("{} task(s) are late", news.overdue));
    }
    (heard, problem)
}
