//! How much the party behind a node is trusted.

use crate::db::tx::Tx;
use crate::evaluation::owners;
use crate::nodes::NodeRow;
use capsid_model::problem::Result;
use capsid_rules::evaluation::owners::OwnerLevel;

/// The level of the owner of a node.
pub fn for_node(tx: &mut dyn Tx, node: &NodeRow) -> Result<OwnerLevel> {
    let owner = owners::owner_of(tx, node)?;
    Ok(owners::load_standing(tx, &owner)?.level)
}

/// The level of an account.
pub fn for_user(tx: &mut dyn Tx, user_id: &str) -> Result<OwnerLevel> {
    Ok(owners::load_standing(tx, &format!("user:{user_id}"))?.level)
}
