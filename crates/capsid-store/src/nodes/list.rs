//! Nodes as others see them: no secret, no machine, no owner.

use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;

/// What others see of a node.
#[derive(Debug, Clone)]
pub struct NodeListRow {
    pub node_id: String,
    /// A name it gave itself.
    pub name: Option<String>,
    /// The model it runs on.
    pub model: Option<String>,
    /// 0 to 100.
    pub reputation: f64,
    /// Points that were taken off, as of `penalty_at`.
    pub penalty: f64,
    pub penalty_at: i64,
    /// How often something of it was quarantined.
    pub strikes: i64,
    /// Until when it may not publish.
    pub cooldown_until: Option<i64>,
    pub published: i64,
    pub promoted: i64,
    pub rejected: i64,
    pub revoked: i64,
    pub status: String,
    /// Whether an account owns it.
    pub claimed: bool,
    /// When the hub first heard of it.
    pub created_at: i64,
    /// When the hub last heard of it.
    pub last_seen_at: i64,
}

fn read(row: &dyn Row) -> Result<NodeListRow> {
    Ok(NodeListRow {
        node_id: row.string(0)?,
        name: row.string_or(1)?,
        model: row.string_or(2)?,
        reputation: row.real(3)?,
        penalty: row.real(4)?,
        penalty_at: row.int(5)?,
        strikes: row.int(6)?,
        cooldown_until: row.int_or(7)?,
        published: row.int(8)?,
        promoted: row.int(9)?,
        rejected: row.int(10)?,
        revoked: row.int(11)?,
        status: row.string(12)?,
        claimed: row.flag(13)?,
        created_at: row.int(14)?,
        last_seen_at: row.int(15)?,
    })
}

macro_rules! public {
    ($rest:literal) => {
        concat!(
            "SELECT node_id, name, model, COALESCE(reputation_override, reputation), penalty, penalty_at, strikes,
                cooldown_until, total_published, total_promoted, total_rejected, total_revoked, status,
                CASE WHEN owner IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END, created_at, last_seen_at
             FROM nodes ",
            $rest
        )
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
    tx.first(public!("WHERE node_id = $1"), params![node_id], read)
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
    let mut found = match sort {
        NodeSort::Newest => tx.all(
            public!(
                "WHERE created_at < $1 OR (created_at = $1 AND node_id > $2) ORDER BY created_at DESC, node_id LIMIT $3"
            ),
            params![whole, id, limit],
            read,
        )?,
        NodeSort::Published => tx.all(
            public!(
                "WHERE total_published < $1 OR (total_published = $1 AND node_id > $2)
                 ORDER BY total_published DESC, node_id LIMIT $3"
            ),
            params![whole, id, limit],
            read,
        )?,
        // What an operator has set replaces what was computed, so there are two lists to put together.
        NodeSort::Reputation => {
            let mut found = tx.all(
                public!(
                    "WHERE reputation_override IS NULL AND (reputation < $1 OR (reputation = $1 AND node_id > $2))
                     ORDER BY reputation DESC, node_id LIMIT $3"
                ),
                params![key, id, limit],
                read,
            )?;
            found.extend(tx.all(
                public!(
                    "WHERE reputation_override IS NOT NULL
                        AND (reputation_override < $1 OR (reputation_override = $1 AND node_id > $2))
                     ORDER BY reputation_override DESC, node_id LIMIT $3"
                ),
                params![key, id, limit],
                read,
            )?);
            found
        }
    };
    found.sort_by(|a, b| {
        let (a, b) = (sort.position(a), sort.position(b));
        b.key.total_cmp(&a.key).then_with(|| a.node_id.cmp(&b.node_id))
    });
    found.truncate(limit as usize);
    Ok(found)
}

/// How many nodes there are; where they are many, at least how many.
pub fn total(tx: &mut dyn Tx) -> Result<(i64, bool)> {
    let most = crate::assets::list::COUNTED;
    let counted = tx.number("SELECT COUNT(*) FROM (SELECT 1 AS one FROM nodes LIMIT $1) n", params![most])?;
    Ok((counted, counted >= most))
}
