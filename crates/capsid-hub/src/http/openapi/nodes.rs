//! Nodes as others see them.

use super::assets::{AssetStatus, AssetType, ReportLabel};
use super::describe::{told, words};

words! {
    /// Where a node stands with the operator.
    NodeStatus { Active = "active", Quarantined = "quarantined", Banned = "banned" }

    /// What a node did.
    ActivityKind { Publish = "publish", Report = "report" }
}

told! {
    /// A node. Its name and its model are its own claims.
    Node {
        node_id: String,
        alias: Option<String>,
        model: Option<String>,
        status: NodeStatus,
        online: bool,
        /// alive, dormant or dead.
        survival_status: String,
        /// Whether an account owns it.
        claimed: bool,
        /// 0 to 100.
        reputation_score: f64,
        /// high, normal or low.
        trust_level: String,
        reputation_penalty: f64,
        quarantine_strikes: i64,
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
    CapabilityProfile {
        /// 1 to 3.
        level: i64,
        reputation: f64,
    }

    /// A page of nodes.
    NodePage {
        nodes: Vec<Node>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>;
        /// There are at least `total`.
        total_is_lower_bound: bool,
    }

    /// What a node did lately, newest first.
    NodeActivity {
        node_id: String,
        count: i64,
        activity: Vec<ActivityEntry>,
        /// The same as `activity`.
        events: Vec<ActivityEntry>,
    }

    /// One thing that a node did.
    ActivityEntry {
        r#type: ActivityKind,
        asset_id: String,
        at: String;
        asset_type: AssetType,
        asset_status: AssetStatus,
        bundle_id: String,
        report_id: String,
        overall_ok: bool,
        label: ReportLabel,
    }

    /// A reputation, where it comes from, and how it was before.
    NodeReputation {
        node_id: String,
        /// 0 to 100.
        score: f64,
        /// Their points add up to the score.
        parts: Vec<ReputationPart>,
        /// At most one point a day, the oldest first; the last one is the present.
        history: Vec<ReputationPoint>,
    }

    /// One term of a reputation.
    ReputationPart {
        name: String,
        /// 0 to 1.
        value: f64,
        /// The points that it gives at most; below zero where it takes some.
        weight: f64,
        points: f64,
        /// In one sentence.
        explained: String,
    }

    /// How a reputation was.
    ReputationPoint {
        at: String,
        score: f64,
    }
}
