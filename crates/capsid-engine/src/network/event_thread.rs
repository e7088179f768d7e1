//! The thread that learns of work as soon as the hub reports it, instead of at the next heartbeat.

use super::heartbeat::has_work_changes;
use super::loop_state::LoopState;
use capsid_client::NodeClient;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::{Object, Value};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the hub may hold a question.
const HOLD: Duration = Duration::from_secs(25);
/// A hub that answers "no events" sooner than this does not support long polling.
const BATCH: Duration = Duration::from_secs(1);
/// How long it rests after a question that did not help.
const BACKOFF: BackoffPolicy = BackoffPolicy::doubling(15_000, 30 * 60_000);

/// Asks for events for as long as the loop runs. A hub that does not answer is asked less and less: the heartbeat brings
/// the same news later.
pub(super) fn listen(state: &LoopState, node: &NodeClient) {
    let (mut cursor, mut failures) = (None, 0_u64);
    while !state.is_stopped() && !state.is_closing() {
        let start = Instant::now();
        let answer = node.events_poll_after(HOLD, cursor.as_ref()).unwrap_or_default();
        cursor = answer.get("cursor").cloned().or(cursor);
        let events = events(&answer);
        if events.iter().any(has_work_changes) {
            state.tasks_wanted.store(true, Ordering::Relaxed);
        }
        let helped = !answer.is_empty() && (!events.is_empty() || start.elapsed() >= BATCH);
        failures = if helped { 0 } else { failures.saturating_add(1) };
        state.wait(if helped { BATCH } else { BACKOFF.pause(failures) });
    }
}

fn events(answer: &Object) -> &[Value] {
    answer.get("events").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
