//! Owners: who is behind a node, and how far that party is trusted.

mod assess;
pub mod audits;
pub mod outcomes;
pub mod owner_evidence;
pub mod owner_level;
pub mod quorum;
pub mod trust;

pub use assess::{OwnerView, assess_account, assess_next, load_view};

use crate::assets::id::AssetId;
use crate::db::row::{FromRow, RowReader, joined};
use crate::db::tx::Tx;
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::owners::{OwnerLevel, OwnerPolicy, UnclaimedOwners};

/// The columns of [`NodeOwnership`] in a statement whose table of nodes is `n`: the node, its account and the network
/// that it was registered from. It is the only place that knows where networks are stored.
pub(crate) const OWNERSHIP_COLUMNS: &str = "n.node_id, n.owner, n.issued_network";

/// Who is behind a node, as far as its row tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeOwnership {
    pub node_id: String,
    /// The account that claimed it.
    pub user_id: Option<String>,
    /// The network that it was registered from.
    pub network: Option<String>,
}

impl FromRow for NodeOwnership {
    fn from_row(row: &RowReader<'_>) -> Result<Self> {
        Ok(Self { node_id: row.read("node_id")?, user_id: row.read("owner")?, network: row.read("network")? })
    }
}

impl From<&NodeRow> for NodeOwnership {
    fn from(node: &NodeRow) -> Self {
        Self {
            node_id: node.node_id.clone(),
            user_id: node.owner.clone(),
            network: node.issued_network.clone(),
        }
    }
}

impl NodeOwnership {
    /// Who counts as one: all nodes of an account, and an unclaimed node alone or with all others of its network.
    pub fn owner_key(&self, policy: &OwnerPolicy) -> String {
        match (&self.user_id, policy.unclaimed) {
            (Some(user), _) => format!("user:{user}"),
            (None, UnclaimedOwners::Node) => format!("node:{}", self.node_id),
            (None, UnclaimedOwners::Network) => {
                format!("network:{}", self.network.as_deref().unwrap_or("unknown"))
            }
        }
    }
}

/// The owner of a node.
pub fn owner_of(tx: &mut dyn Tx, node: &NodeRow) -> Result<String> {
    let policy = tx.trust().owners;
    if node.owner.is_some() || policy.unclaimed == UnclaimedOwners::Node {
        return Ok(node.owner_key());
    }
    Ok(find_ownership(tx, &node.node_id)?.map_or_else(|| node.owner_key(), |found| found.owner_key(&policy)))
}

/// The owner of the node that published an asset.
pub fn find_publisher(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<String>> {
    let policy = tx.trust().owners;
    let publisher = tx.query_first::<NodeOwnership>(
        joined!(
            " ",
            "SELECT",
            OWNERSHIP_COLUMNS,
            "FROM assets a JOIN nodes n ON n.node_id = a.node_id WHERE a.asset_id = $1"
        ),
        params![id],
    )?;
    Ok(publisher.map(|publisher| publisher.owner_key(&policy)))
}

/// Who is behind a node.
pub fn find_ownership(tx: &mut dyn Tx, node_id: &str) -> Result<Option<NodeOwnership>> {
    tx.query_first(
        joined!(" ", "SELECT", OWNERSHIP_COLUMNS, "FROM nodes n WHERE n.node_id = $1"),
        params![node_id],
    )
}

/// How far an owner is trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnerStanding {
    pub level: OwnerLevel,
    /// How much its reports weigh, 0 to 1.
    pub weight: f64,
}

/// How far an owner is trusted, as it was last assessed.
pub fn load_standing(tx: &mut dyn Tx, owner: &str) -> Result<OwnerStanding> {
    let policy = tx.trust().owners;
    let stored =
        tx.query_first::<(i64, f64)>("SELECT level, weight FROM owners WHERE owner = $1", params![owner])?;
    let level = stored.and_then(|(level, _)| OwnerLevel::from_number(level)).unwrap_or_default();
    let earned = stored.map_or(0.0, |(_, weight)| weight);
    let weight = if policy.settled_for_weight == 0 { 1.0 } else { earned };
    Ok(OwnerStanding { level: level.max(policy.least_level), weight })
}
