//! A bounty as responses show it.

use super::not_found;
use super::preview::SubmissionPreview;
use crate::error::ApiResult;
use crate::ops::assets::view::rounded;
use crate::ops::tasks::view::{SubmissionView, allowed_models};
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::work::bounties::BountyStatus;
use capsid_rules::work::tasks::TaskStatus;
use capsid_store::db::tx::Tx;
use capsid_store::work::bounties::{self, BountyRow, payouts, settle};
use capsid_store::work::swarm;
use capsid_store::work::tasks::{self, TaskRow, submissions};
use serde::Serialize;
use serde_json::Number;
use utoipa::ToSchema;

/// The most submissions that are shown.
const MAX_SUBMISSIONS: i64 = 100;

/// Who offered it.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CreatorType {
    Node,
    User,
}

/// A bounty in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = BountyRow)]
pub struct BountyView {
    bounty_id: String,
    task_id: String,
    status: BountyStatus,
    task_status: TaskStatus,
    title: String,
    /// With commas between them.
    signals: String,
    #[schema(value_type = f64)]
    amount: Number,
    source: String,
    creator_type: CreatorType,
    #[schema(required)]
    creator_node_id: Option<String>,
    #[schema(required)]
    listing_id: Option<String>,
    #[schema(required)]
    reserved_for: Option<String>,
    min_reputation: f64,
    #[schema(required)]
    min_model_tier: Option<i64>,
    #[schema(required)]
    allowed_models: Option<Vec<String>>,
    claimable: bool,
    #[schema(required)]
    matched_asset_id: Option<String>,
    #[schema(required)]
    matched_node_id: Option<String>,
    #[schema(required)]
    matched_at: Option<String>,
    #[schema(required)]
    decide_by: Option<String>,
    #[schema(required)]
    settled_at: Option<String>,
    #[schema(required)]
    outcome: Option<String>,
    created_at: String,
    expires_at: String,
}

impl BountyView {
    /// A bounty and its task as they stand at a moment.
    pub fn from_rows(bounty: &BountyRow, task: &TaskRow, now: Time) -> Self {
        let time = |ms: Option<i64>| ms.map(|ms| Time(ms).iso());
        let node = bounty.creator.strip_prefix("node:");
        Self {
            bounty_id: bounty.bounty_id.clone(),
            task_id: bounty.task_id.clone(),
            status: bounty.status,
            task_status: task.status_at(now),
            title: task.title.clone(),
            signals: task.signals.clone(),
            amount: credits::to_decimal(bounty.amount),
            source: bounty.source.clone(),
            creator_type: if node.is_some() { CreatorType::Node } else { CreatorType::User },
            creator_node_id: node.map(str::to_owned),
            listing_id: bounty.listing_id.clone(),
            reserved_for: task.reserved_for.clone(),
            min_reputation: rounded(task.min_reputation),
            min_model_tier: task.min_model_tier,
            allowed_models: allowed_models(task),
            // Whether anybody who is good enough may take it.
            claimable: task.status_at(now) == TaskStatus::Open && task.reserved_for.is_none(),
            matched_asset_id: bounty.matched_asset.map(|id| id.to_string()),
            matched_node_id: bounty.matched_node.clone(),
            matched_at: time(bounty.matched_at),
            decide_by: time(bounty.decide_by),
            settled_at: time(bounty.settled_at),
            outcome: bounty.outcome.clone(),
            created_at: Time(bounty.created_at).iso(),
            expires_at: Time(bounty.expires_at).iso(),
        }
    }
}

/// A bounty with all that is known of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = BountyDetail)]
pub struct BountyDetailView {
    #[serde(flatten)]
    bounty: BountyView,
    body: String,
    is_decomposed: bool,
    #[schema(required)]
    matched_asset_status: Option<AssetStatus>,
    /// What was handed in, as its creator sees it before paying.
    #[schema(required)]
    preview: Option<SubmissionPreview>,
    /// Why the creator rejected what it had read, until when that can be disputed or decided, and why it is disputed.
    #[schema(required)]
    rejection: Option<String>,
    #[schema(required)]
    dispute_by: Option<String>,
    #[schema(required)]
    dispute: Option<String>,
    submissions: Vec<SubmissionView>,
    payouts: Vec<PayoutView>,
    #[schema(value_type = f64)]
    commission: Number,
    #[schema(value_type = f64)]
    refunded: Number,
}

/// What a node got.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Payout)]
pub struct PayoutView {
    node_id: String,
    role: &'static str,
    task_id: String,
    #[schema(value_type = f64)]
    credits: Number,
}

impl From<payouts::Payout> for PayoutView {
    fn from(payout: payouts::Payout) -> Self {
        let credits = credits::to_decimal(payout.amount);
        Self { node_id: payout.node_id, role: payout.role, task_id: payout.task_id, credits }
    }
}

impl BountyDetailView {
    /// A bounty, what was handed in for it, and what became of the credits.
    pub fn load(tx: &mut dyn Tx, bounty_id: &str, now: Time) -> ApiResult<Self> {
        Self::load_with(tx, bounty_id, false, now)
    }

    /// The same with the answer in full, for whoever may read it.
    pub fn load_opened(tx: &mut dyn Tx, bounty_id: &str, now: Time) -> ApiResult<Self> {
        Self::load_with(tx, bounty_id, true, now)
    }

    fn load_with(tx: &mut dyn Tx, bounty_id: &str, with_body: bool, now: Time) -> ApiResult<Self> {
        let bounty = bounties::get(tx, bounty_id)?.ok_or_else(|| not_found(bounty_id))?;
        let task = tasks::get(tx, &bounty.task_id)?.ok_or_else(|| not_found(bounty_id))?;
        let mut tries = submissions::list_for_task(tx, &task.task_id, MAX_SUBMISSIONS)?;
        if let Some(merging) = swarm::aggregation(tx, &task.task_id)? {
            tries.extend(submissions::list_for_task(tx, &merging.task_id, MAX_SUBMISSIONS)?);
        }
        let paid = payouts::load_payouts(tx, &bounty, &task)?;
        Ok(Self {
            bounty: BountyView::from_rows(&bounty, &task, now),
            body: task.body,
            is_decomposed: task.decomposed_at.is_some(),
            matched_asset_status: settle::matched_status(tx, &bounty)?,
            preview: SubmissionPreview::load(tx, &bounty, with_body)?,
            rejection: bounty.rejection.clone(),
            dispute_by: bounty.dispute_by.map(|at| Time(at).iso()),
            dispute: bounty.dispute.clone(),
            submissions: tries.into_iter().map(SubmissionView::from).collect(),
            payouts: paid.payouts.into_iter().map(PayoutView::from).collect(),
            commission: credits::to_decimal(paid.commission),
            refunded: credits::to_decimal(paid.refunded),
        })
    }
}
