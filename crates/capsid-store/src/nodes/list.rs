//! Nodes as others see them: no secret, no machine, no owner.

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;

row! {
    /// What others see of a node.
    #[derive(Debug, Clone)]
    pub struct NodeListRow {
        pub node_id: String = "node_id",
        /// A name it gave itself.
        pub name: Option<String> = "name",
        /// The model it runs on.
        pub model: Option<String> = "model",
        /// 0 to 100.
        pub reputation: f64 = "COALESCE(reputation_override, reputation)",
        /// Points that were taken off, as of `penalty_at`.
        pub penalty: f64 = "penalty",
        pub penalty_at: i64 = "penalty_at",
        /// How often something of it was quarantined.
        pub strikes: i64 = "strikes",
        /// Until when it may not publish.
        pub cooldown_until: Option<i64> = "cooldown_until",
        pub published: i64 = "total_published",
        pub promoted: i64 = "total_promoted",
        pub rejected: i64 = "total_rejected",
        pub revoked: i64 = "total_revoked",
        pub status: String = "status",
        /// Whether an account owns it.
        pub claimed: bool = "CASE WHEN owner IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END",
        /// When the hub first heard of it.
        pub created_at: i64 = "created_at",
        /// When the hub last heard of it.
        pub last_seen_at: i64 = "last_seen_at",
    }
}

macro_rules! public {
    ($rest:literal) => {
        select!(NodeListRow, concat!("FROM nodes ", $rest))
    };
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeSort {
    Reputation,
    /// The last that came first.
    Newest,
    /// The one that published most first.
    Published,
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePosition {
    /// The value that the list is ordered by.
    pub key: f64,
    pub node_id: String,
}

impl NodeSort {
    /// Where a node stands in this order.
    pub fn position(self, node: &NodeListRow) -> NodePosition {
        let key = match self {
            Self::Reputation => node.reputation,
            Self::Newest => node.created_at as f64,
            Self::Published => node.published as f64,
        };
        NodePosition { key, node_id: node.node_id.clone() }
    }
}

/// One node.
pub fn get(tx: &mut dyn Tx, node_id: &str) -> Result<Option<NodeListRow>> {
    tx.query_first(public!("WHERE node_id = $1"), params![node_id])
}

/// The nodes after a position; those of the same value in the order of their ids.
pub fn list(
    tx: &mut dyn Tx,
    sort: NodeSort,
    after: Option<&NodePosition>,
    limit: usize,
) -> Result<Vec<NodeListRow>> {
    let (key, id) = after.map_or((f64::MAX, ""), |after| (after.key, after.node_id.as_str()));
    let whole = if key >= i64::MAX as f64 { i64::MAX } else { key as i64 };
    let limit = limit as i64;
    let mut nodes = match sort {
        NodeSort::Newest => tx.query_all(public!(
                "WHERE created_at < $1 OR (created_at = $1 AND node_id > $2) ORDER BY created_at DESC, node_id LIMIT $3"
            ), params![whole, id, limit])?,
        NodeSort::Published => tx.query_all(public!(
                "WHERE total_published < $1 OR (total_published = $1 AND node_id > $2)
                 ORDER BY total_published DESC, node_id LIMIT $3"
            ), params![whole, id, limit])?,
        // What an operator has set replaces what was computed, so there are two lists to put together.
        NodeSort::Reputation => {
            let mut nodes = tx.query_all(public!(
                    "WHERE reputation_override IS NULL AND (reputation < $1 OR (reputation = $1 AND node_id > $2))
                     ORDER BY reputation DESC, node_id LIMIT $3"
                ), params![key, id, limit])?;
            nodes.extend(tx.query_all(public!(
                    "WHERE reputation_override IS NOT NULL
                        AND (reputation_override < $1 OR (reputation_override = $1 AND node_id > $2))
                     ORDER BY reputation_override DESC, node_id LIMIT $3"
                ), params![key, id, limit])?);
            nodes
        }
    };
    nodes.sort_by(|a, b| {
        let (a, b) = (sort.position(a), sort.position(b));
        b.key.total_cmp(&a.key).then_with(|| a.node_id.cmp(&b.node_id))
    });
    nodes.truncate(limit as usize);
    Ok(nodes)
}

/// How many nodes there are; where they are many, at least how many.
pub fn total(tx: &mut dyn Tx) -> Result<(i64, bool)> {
    let most = crate::assets::list::COUNTED;
    let counted = tx.count("SELECT COUNT(*) FROM (SELECT 1 AS one FROM nodes LIMIT $1) n", params![most])?;
    Ok((counted, counted >= most))
}

/// The nodes of an account, those that were heard of last first.
pub fn owned_by(tx: &mut dyn Tx, owner: &str, limit: i64) -> Result<Vec<String>> {
    tx.query_all(
        "SELECT node_id FROM nodes WHERE owner = $1 ORDER BY last_seen_at DESC, node_id LIMIT $2",
        params![owner, limit],
    )
}
