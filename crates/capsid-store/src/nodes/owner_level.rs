//! How much the party behind a node is trusted.

use super::NodeRow;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::identity::owner_level::{LevelPolicy, OwnerLevel, owner_level};

/// The level of the owner of a node.
pub fn for_node(tx: &mut dyn Tx, policy: LevelPolicy, node: &NodeRow) -> Result<OwnerLevel> {
    match &node.owner {
        Some(user_id) => for_user(tx, policy, user_id),
        None => Ok(owner_level(policy, false, false)),
    }
}

/// The level of an account.
pub fn for_user(tx: &mut dyn Tx, policy: LevelPolicy, user_id: &str) -> Result<OwnerLevel> {
    if policy == LevelPolicy::Trusted {
        return Ok(owner_level(policy, true, false));
    }
    let has_node = tx.exists("SELECT 1 FROM nodes WHERE owner = $1 LIMIT 1", params![user_id])?;
    let appointed =
        tx.exists("SELECT 1 FROM users WHERE user_id = $1 AND appointed_at IS NOT NULL", params![user_id])?;
    Ok(owner_level(policy, has_node, appointed))
}
