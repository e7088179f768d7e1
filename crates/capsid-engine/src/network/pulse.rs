//! The thread that keeps a hub informed that this node is there.

use super::heartbeat::{Heard, Heart, Pace, Told};
use super::shelf::Shelf;
use capsid_model::Problem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Hello first, then heartbeats for as long as the loop runs, whatever goes wrong.
pub(super) fn keep_heartbeat(shelf: &Shelf, heart: &Heart, mut pace: Pace) {
    let mut greet = true;
    let mut was_fine = true;
    while !shelf.is_stopped() && !shelf.is_closing() {
        let beat = catch_unwind(AssertUnwindSafe(|| beat_once(shelf, heart, greet)));
        let (heard, problem) = beat.unwrap_or((Heard::Failed, None));
        greet = greet && matches!(heard, Heard::Failed);
        match (&problem, &heard) {
            // One line when it begins to fail and one when it works again, not one each time.
            (Some(problem), _) if was_fine => shelf.complain("heartbeat", problem),
            (None, Heard::Fine(_)) if !was_fine => shelf.say("heartbeat: the hub answers again"),
            _ => {}
        }
        was_fine = problem.is_none();
        shelf.rest(pace.after(&heard));
    }
}

fn beat_once(shelf: &Shelf, heart: &Heart, greet: bool) -> (Heard, Option<Problem>) {
    let told = match (shelf.open)() {
        Ok(workspace) => Told {
            genes: workspace.store.genes.documents().map_or(0, |genes| genes.len()),
            capsules: workspace.store.capsules.documents().map_or(0, |capsules| capsules.len()),
            worker: workspace.config.hub.tasks,
        },
        Err(_) => Told::default(),
    };
    if greet && let Err(problem) = heart.hello(&told) {
        return (Heard::Failed, Some(problem));
    }
    let (heard, news, problem) = heart.beat(&told);
    if news.work {
        shelf.tasks_wanted.store(true, Ordering::Relaxed);
    }
    if news.overdue > 0 {
        shelf.say(format!("{} task(s) are late", news.overdue));
    }
    (heard, problem)
}
