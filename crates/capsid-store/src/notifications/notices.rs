//! Notices: what one node is told, by every way it can be reached: stream, poll and heartbeat, its webhook, and its
//! mailbox where it asked for that. They are written with the change they tell of.

use crate::db::tx::Tx;
use crate::notifications::{deliveries, events, mailbox};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use serde_json::{Map, Value};

/// Something to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeNotice {
    /// What it is, such as `task_assigned`.
    pub kind: &'static str,
    pub payload: Map<String, Value>,
}

impl NodeNotice {
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
    mailbox::insert_notice(tx, node_id, seq, kind, text, now)?;
    Ok(seq)
}
