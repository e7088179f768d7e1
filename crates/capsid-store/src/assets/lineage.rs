//! What an asset comes from and what came of it, as far as everybody may see.

use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;

row! {
    /// A node as a point of a drawing.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LineageNode {
        pub node_id: String = "n.node_id",
        /// A name it gave itself.
        pub name: Option<String> = "n.name",
        pub status: String = "n.status",
    }
}

/// Nodes of others that said of themselves that they used an asset: they reviewed it, or reported on it. Who merely
/// fetched it is nobody's business.
pub fn users(tx: &mut dyn Tx, id: &AssetId, limit: usize) -> Result<Vec<LineageNode>> {
    let mut nodes = tx.query_all::<LineageNode>(
        "SELECT DISTINCT n.node_id, n.name, n.status FROM nodes n JOIN (
            SELECT r.node_id FROM (SELECT node_id FROM reports
                WHERE asset_id = $1 AND label <> 'self' ORDER BY seq LIMIT $2) r
            UNION SELECT v.node_id FROM (SELECT node_id FROM reviews
                WHERE asset_id = $1 ORDER BY created_at, review_id LIMIT $2) v) u ON u.node_id = n.node_id
         ORDER BY n.node_id LIMIT $2",
        params![id, limit as i64],
    )?;
    nodes.truncate(limit);
    Ok(nodes)
}

/// A node.
pub fn find_lineage_node(tx: &mut dyn Tx, node_id: &str) -> Result<Option<LineageNode>> {
    tx.query_first(select!(LineageNode, "FROM nodes n WHERE n.node_id = $1"), params![node_id])
}
