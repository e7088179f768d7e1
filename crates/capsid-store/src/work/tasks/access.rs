//! Who may read what was handed in, though it is not given out yet: whoever has to work with it, and whoever pays for it.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;

/// Who wants to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResultReader<'a> {
    /// A node that was let in.
    pub node_id: Option<&'a str>,
    /// An account that was let in; it also reads what its nodes may.
    pub user_id: Option<&'a str>,
}

/// A bounty's creator reads what it is matched with, and what was handed in for any part of it; where it gets a preview,
/// once it has opened or accepted it.
const FOR_CREATORS: [&str; 2] = [
    "SELECT 1 FROM bounties b LEFT JOIN nodes n ON b.creator LIKE 'node:%' AND n.node_id = substr(b.creator, 6)
     WHERE b.matched_asset = $1 AND b.status IN ('matched', 'accepted')
        AND (b.creator IN ($2, $3) OR n.owner = $4)
        AND (CAST($5 AS BIGINT) = 0 OR b.status = 'accepted' OR b.opened_at >= b.matched_at) LIMIT 1",
    "SELECT 1 FROM submissions s JOIN tasks t ON t.task_id = s.task_id JOIN bounties b ON b.bounty_id = t.bounty_id
        LEFT JOIN nodes n ON b.creator LIKE 'node:%' AND n.node_id = substr(b.creator, 6)
     WHERE s.asset_id = $1 AND s.status = 'pending' AND (b.creator IN ($2, $3) OR n.owner = $4)
        AND (CAST($5 AS BIGINT) = 0 OR b.opened_at >= b.matched_at) LIMIT 1",
];

/// Whoever proposed the parts of a task, and whoever merges them, reads what the solvers found.
const FOR_SWARMS: [&str; 2] = [
    "SELECT 1 FROM tasks p JOIN tasks w ON w.task_id = p.parent_task_id JOIN nodes n ON n.node_id = w.claimed_by
     WHERE p.result_asset = $1 AND w.status IN ('claimed', 'completed') AND (n.node_id = $2 OR n.owner = $3) LIMIT 1",
    "SELECT 1 FROM tasks p JOIN tasks m ON m.parent_task_id = p.parent_task_id AND m.swarm_role = 'aggregator'
        JOIN nodes n ON n.node_id = m.claimed_by
     WHERE p.result_asset = $1 AND m.status IN ('claimed', 'completed') AND (n.node_id = $2 OR n.owner = $3) LIMIT 1",
];

/// Whether somebody may read an asset because it was handed in to them, until it is sent back or given up. With `preview`,
/// creators have to open it first.
pub fn may_read(tx: &mut dyn Tx, reader: ResultReader<'_>, asset: &AssetId, preview: bool) -> Result<bool> {
    // No node, no account and no owner has an empty name.
    let (node_id, user_id) = (reader.node_id.unwrap_or_default(), reader.user_id.unwrap_or_default());
    let account = |kind: &str, id: &str| if id.is_empty() { String::new() } else { format!("{kind}:{id}") };
    let (node, user) = (account("node", node_id), account("user", user_id));
    if node.is_empty() && user.is_empty() {
        return Ok(false);
    }
    for creators in FOR_CREATORS {
        if tx.exists(creators, params![asset, &node, &user, user_id, preview])? {
            return Ok(true);
        }
    }
    for swarms in FOR_SWARMS {
        if tx.exists(swarms, params![asset, node_id, user_id])? {
            return Ok(true);
        }
    }
    Ok(false)
}
