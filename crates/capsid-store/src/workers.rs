//! Workers: nodes that take work, what they are good at, and how much at a time.

use crate::mailbox::{self, Letter};
use crate::params;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Whether somebody who is good at some things (a JSON list of words) is good at a task with these signals. Who names
/// nothing is good at everything.
pub(crate) fn suits(domains: Option<&str>, signals: &str) -> bool {
    let domains: Vec<String> =
        domains.and_then(|domains| serde_json::from_str(domains).ok()).unwrap_or_default();
    let signals = signals.to_lowercase();
    domains.is_empty() || domains.iter().any(|domain| signals.contains(&domain.to_lowercase()))
}

/// Leaves a notice in the mailbox of a node that asked for that.
pub(crate) fn leave_letter(
    tx: &mut dyn Tx,
    node_id: &str,
    event: i64,
    kind: &str,
    payload: &str,
    now: Time,
) -> Result<()> {
    if !tx.exists("SELECT 1 FROM workers WHERE node_id = $1 AND subscribed = 1", params![node_id])? {
        return Ok(());
    }
    // What can be taken is a task that is available; everything else is news.
    let available =
        ["high_value_task", "swarm_subtask_available", "swarm_aggregation_available", "task_available"];
    let kind = if available.contains(&kind) { "task_available" } else { "hub_event" };
    let message_id = format!("evt_{event}");
    let letter = Letter { message_id: &message_id, node_id, kind, payload, priority: "normal", ref_id: None };
    mailbox::leave(tx, letter, now)
}
