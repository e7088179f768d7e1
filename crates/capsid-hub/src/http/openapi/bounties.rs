//! Bounties.

use super::describe::{told, words};
use super::tasks::{Submission, TaskStatus};
use capsid_rules::lifecycle::AssetStatus;

words! {
    /// How a bounty stands.
    BountyStatus {
        Open = "open", Claimed = "claimed", Matched = "matched", Accepted = "accepted", Expired = "expired",
        Cancelled = "cancelled",
    }

    /// Who offered it.
    CreatorType { Node = "node", User = "user" }
}

told! {
    /// A bounty in a list.
    BountyRow {
        bounty_id: String,
        task_id: String,
        status: BountyStatus,
        task_status: TaskStatus,
        title: String,
        /// With commas between them.
        signals: String,
        amount: f64,
        source: String,
        creator_type: CreatorType,
        creator_node_id: Option<String>,
        listing_id: Option<String>,
        reserved_for: Option<String>,
        min_reputation: f64,
        min_model_tier: Option<i64>,
        allowed_models: Option<Vec<String>>,
        claimable: bool,
        matched_asset_id: Option<String>,
        matched_node_id: Option<String>,
        matched_at: Option<String>,
        decide_by: Option<String>,
        settled_at: Option<String>,
        outcome: Option<String>,
        created_at: String,
        expires_at: String,
    }

    /// A page of bounties.
    BountyPage {
        bounties: Vec<BountyRow>,
        count: i64,
        total: i64,
        has_more: bool,
        next_cursor: Option<String>,
    }

    /// A bounty that was offered.
    BountyOffered: BountyRow {
        remaining_balance: f64,
    }

    /// A bounty with all that is known of it.
    BountyDetail: BountyRow {
        body: String,
        is_decomposed: bool,
        matched_asset_status: Option<AssetStatus>,
        submissions: Vec<Submission>,
        payouts: Vec<Payout>,
        commission: f64,
        refunded: f64,
    }

    /// What a node got.
    Payout {
        node_id: String,
        role: String,
        task_id: String,
        credits: f64,
    }
}
