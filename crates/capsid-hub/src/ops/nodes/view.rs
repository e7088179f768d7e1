//! A node as others see it. Secrets, machines, webhooks and owners are nobody else's concern.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::ops::assets::view::rounded;
use capsid_model::time::Time;
use capsid_rules::evaluation::reputation::{decayed_until, level};
use capsid_rules::identity::display_name::shown_name;
use capsid_store::accounts::admin::NodeStatus;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::list as node_list;
use capsid_store::nodes::list::NodeListRow;
use serde::Serialize;
use utoipa::ToSchema;

/// A node that was heard of within this time is online: three heartbeats.
const ONLINE_MS: i64 = 15 * 60_000;
const DORMANT_MS: i64 = 24 * 3_600_000;
const DEAD_MS: i64 = 30 * DORMANT_MS;

/// A node. Its name and its model are its own claims.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Node)]
pub struct NodeView {
    node_id: String,
    /// Its name. With that of an unclaimed node stands the end of its id.
    #[schema(required)]
    alias: Option<String>,
    #[schema(required)]
    model: Option<String>,
    #[schema(value_type = NodeStatus)]
    status: String,
    online: bool,
    /// alive, dormant or dead.
    survival_status: &'static str,
    /// Whether an account owns it.
    claimed: bool,
    /// 0 to 100.
    reputation_score: f64,
    /// high, normal or low.
    trust_level: &'static str,
    reputation_penalty: f64,
    quarantine_strikes: i64,
    #[schema(required)]
    publish_cooldown_until: Option<String>,
    total_published: i64,
    total_promoted: i64,
    total_rejected: i64,
    total_revoked: i64,
    capability_profile: CapabilityProfile,
    created_at: String,
    last_seen_at: String,
}

/// What a node may do by its reputation.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct CapabilityProfile {
    /// 1 to 3.
    #[schema(value_type = i64)]
    level: u8,
    reputation: f64,
}

impl CapabilityProfile {
    pub fn new(reputation: f64) -> Self {
        Self { level: level(reputation), reputation: rounded(reputation) }
    }
}

impl NodeView {
    pub fn new(node: NodeListRow, now: Time) -> Self {
        let silent = now.0 - node.last_seen_at;
        let survival_status = match silent {
            silent if silent <= DORMANT_MS => "alive",
            silent if silent <= DEAD_MS => "dormant",
            _ => "dead",
        };
        let trust_level = match node.reputation {
            r if r >= 70.0 => "high",
            r if r >= 30.0 => "normal",
            _ => "low",
        };
        let cooldown_until = node.cooldown_until.filter(|until| *until > now.0);
        Self {
            alias: node.name.map(|name| shown_name(&name, &node.node_id, node.claimed)),
            node_id: node.node_id,
            model: node.model,
            status: node.status,
            online: silent <= ONLINE_MS,
            survival_status,
            claimed: node.claimed,
            reputation_score: rounded(node.reputation),
            trust_level,
            reputation_penalty: rounded(decayed_until(node.penalty, node.penalty_at, now.0).0),
            quarantine_strikes: node.strikes,
            publish_cooldown_until: cooldown_until.map(|until| Time(until).iso()),
            total_published: node.published,
            total_promoted: node.promoted,
            total_rejected: node.rejected,
            total_revoked: node.revoked,
            capability_profile: CapabilityProfile::new(node.reputation),
            created_at: Time(node.created_at).iso(),
            last_seen_at: Time(node.last_seen_at).iso(),
        }
    }
}

/// The node that a path names.
pub fn find_node(tx: &mut dyn Tx, node_id: &str) -> ApiResult<NodeListRow> {
    // The database takes no such character, and no node has it.
    if node_id.contains('\0') {
        return Err(not_found());
    }
    node_list::get(tx, node_id)?.ok_or_else(not_found)
}

fn not_found() -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        "The hub knows no node with this id.",
        "Check the id; GET /a2a/nodes lists the nodes. A node becomes known by POST /a2a/hello.",
    )
}
