//! Notices: what one node is told, by every way it can be reached: stream, poll and heartbeat, its webhook, and its
//! mailbox where it asked for that. They are written with the change they tell of.

use crate::db::tx::Tx;
use crate::notifications::{deliveries, events};
use crate::work::tasks::TaskRow;
use crate::work::workers;
use capsid_model::problem::Result;
use capsid_model::text::cut;
use capsid_model::time::Time;
use capsid_rules::credits;
use serde_json::{Map, Value};

/// How much of a task's signals is told.
const MAX_SIGNALS: usize = 500;

/// Something to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeNotice {
    /// What it is, such as `task_assigned`.
    pub kind: &'static str,
    pub payload: Map<String, Value>,
}

impl NodeNotice {
    /// A notice about a task.
    pub fn from_task(kind: &'static str, task: &TaskRow) -> Self {
        let mut payload = Map::new();
        let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
        put("type", kind.into());
        put("task_id", task.task_id.clone().into());
        put("title", task.title.clone().into());
        // Many may be told, and whoever wants to know more looks at the task.
        put("signals", cut(&task.signals, MAX_SIGNALS).into());
        put("bounty_id", task.bounty_id.clone().into());
        put("bounty_amount", credits::to_decimal(task.amount).into());
        put("min_reputation", task.min_reputation.into());
        put("expires_at", Time(task.expires_at).iso().into());
        if let Some(parent) = &task.parent_task_id {
            put("parent_task_id", parent.clone().into());
            put("swarm_role", task.role.map(capsid_rules::work::tasks::SubtaskRole::as_str).into());
        }
        if let Some(deadline) = task.commitment_deadline {
            put("commitment_deadline", Time(deadline).iso().into());
        }
        Self { kind, payload }
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.payload.insert(key.to_owned(), value.into());
        self
    }

    /// What it says, as JSON text.
    pub fn text(&self) -> String {
        Value::Object(self.payload.clone()).to_string()
    }
}

/// Tells a node. The event's number is told back.
pub fn notify_node(tx: &mut dyn Tx, node_id: &str, notice: &NodeNotice, now: Time) -> Result<i64> {
    notify_text(tx, node_id, notice.kind, &notice.text(), now)
}

/// The same with a text that was written before.
pub(crate) fn notify_text(tx: &mut dyn Tx, node_id: &str, kind: &str, text: &str, now: Time) -> Result<i64> {
    let seq = events::insert_event(tx, node_id, kind, text, now)?;
    deliveries::queue(tx, node_id, seq, kind, text, now)?;
    workers::leave_message(tx, node_id, seq, kind, text, now)?;
    Ok(seq)
}
