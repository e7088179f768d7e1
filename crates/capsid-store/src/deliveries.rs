//! Deliveries: calls to nodes' webhooks. They are written with the event they tell of, so that none is lost, and made by
//! a worker until the node has taken them.

use crate::params;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Queues an event for a node's webhook, where it has one that is not switched off.
pub(crate) fn queue(
    tx: &mut dyn Tx,
    node_id: &str,
    event: i64,
    kind: &str,
    payload: &str,
    now: Time,
) -> Result<()> {
    tx.run(
        "INSERT INTO deliveries (delivery_id, node_id, kind, payload, state, next_at, created_at, updated_at)
         SELECT $1, n.node_id, $3, $4, 'queued', $5, $5, $5 FROM nodes n
            JOIN webhooks w ON w.node_id = n.node_id AND w.disabled_at IS NULL
         WHERE n.node_id = $2 AND n.webhook_url IS NOT NULL",
        params![&format!("evt_{event}"), node_id, kind, payload, now],
    )?;
    Ok(())
}
