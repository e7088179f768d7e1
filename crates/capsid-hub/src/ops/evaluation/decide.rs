//! Somebody accepts, rejects or quarantines an asset.
//!
//! An admin's decision is carried out, and so is that of an owner whom the operator appointed; where such an owner accepts, the
//! other gates of a promotion still hold. A validator's is one vote beside the reports: an acceptance passes, the others
//! fail. It can hold a promotion back or outweigh a failing report, but it is no report: somebody still has to have run
//! the validation. Everybody else's is recorded, and weighs nothing.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::auth::idempotency::{Idempotent, run_idempotent};
use crate::auth::message::Message;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::ops::assets::revoke::{RevokeRequest, not_found};
use crate::ops::assets::view::ConsensusView;
use crate::ops::evaluation::moderate::{apply_decision, not_changed};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::identity::secrets::PresentedSecret;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus, step};
use capsid_store::accounts::UserRow;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::{self, AssetRow};
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::decisions;
use capsid_store::evaluation::decisions::AssetDecision;
use capsid_store::evaluation::demotion;
use capsid_store::evaluation::moderation::arbitration::{Arbitration, arbitrate};
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::evaluation::scoring;
use capsid_store::evaluation::{owners, promotion};
use capsid_store::nodes::NodeRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize)]
struct DecisionRequest {
    decision: Option<String>,
}

/// What became of a decision.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecisionResponse {
    /// applied or recorded.
    status: &'static str,
    /// As who the sender decides.
    label: &'static str,
    /// How much the decision weighs, where it is a vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    note: Option<&'static str>,
    #[schema(value_type = String)]
    target_asset_id: AssetId,
    /// accept, reject or quarantine.
    decision: &'static str,
    asset_status: AssetStatus,
    consensus: ConsensusView,
}

/// Decides on an asset.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id()))]
pub async fn decide(hub: &SharedHub, message: &Message<'_>) -> ApiResult<Idempotent<DecisionResponse>> {
    let rewards = hub.config.rewards();
    let request: DecisionRequest = message.payload()?;
    let decision = word(request.decision.as_deref())?;
    let target: RevokeRequest = message.payload()?;
    target.reason()?;
    let shown = message.sender.credentials().clone();
    run_idempotent(hub, message, "/a2a/decision", "decision", move |tx, context, node| {
        decide_in(tx, context, node, &shown, &target, decision, &rewards)
    })
    .await
}

const ARBITER_NOTE: &str = "It is the decision of an arbiter: it settles the reports on the asset.";

fn word(text: Option<&str>) -> ApiResult<AssetDecision> {
    let expected = || format!("one of `{}`", AssetDecision::WORDS.join("`, `"));
    let text = text.ok_or_else(|| ApiError::field("payload.decision", expected(), "missing"))?;
    AssetDecision::parse(text).ok_or_else(|| ApiError::field("payload.decision", expected(), "another word"))
}

fn decide_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    shown: &Credentials,
    target: &RevokeRequest,
    decision: AssetDecision,
    rewards: &RewardRates,
) -> ApiResult<DecisionResponse> {
    let now = context.now;
    let id = target.find(tx, &node.node_id)?;
    let reason = target.reason()?;
    let asset = assets::lock(tx, &id)?.ok_or_else(not_found)?;
    let speaker = find_speaker(tx, node, shown, now)?;
    let publisher = owners::find_publisher(tx, &id)?;
    let (status, label, weight, note, asset_status) = match speaker {
        Some(user) if user.is_admin() => {
            let actor = user.actor();
            decisions::record(tx, &id, &actor, decision, reason, 1.0, now)?;
            let status = apply_decision(tx, &id, decision.change(), &actor, reason, rewards, now)?;
            ("applied", "admin", None, None, status)
        }
        // Nobody is an arbiter of its own work.
        Some(user) if user.appointed_at.is_some() && publisher != Some(user.actor()) => {
            let actor = user.actor();
            decisions::record(tx, &id, &actor, decision, reason, 1.0, now)?;
            let status = match decision {
                AssetDecision::Accept => pass_as_arbiter(tx, context, &asset, &actor, rewards)?,
                _ => apply_decision(tx, &id, decision.change(), &actor, reason, rewards, now)?,
            };
            ("applied", "arbiter", None, Some(ARBITER_NOTE), status)
        }
        _ => {
            let standing = decisions::decision_weight(tx, &asset, node)?;
            let actor = format!("node:{}", node.node_id);
            decisions::record(tx, &id, &actor, decision, reason, standing.weight(), now)?;
            demotion::reconsider(tx, &id, &context.config.promotion.rule, now)?;
            let note = describe_weight(standing);
            ("recorded", standing.label(), Some(standing.weight()), Some(note), asset.status)
        }
    };
    Ok(DecisionResponse {
        status,
        label,
        weight,
        note,
        target_asset_id: id,
        decision: decision.as_str(),
        asset_status,
        consensus: ConsensusView::from(&scoring::consensus(tx, &id)?),
    })
}

fn describe_weight(standing: decisions::DecisionWeight) -> &'static str {
    match standing {
        decisions::DecisionWeight::Own => {
            "It is kept without weight, because the asset is the node's own or its owner's."
        }
        decisions::DecisionWeight::Validator(_) => "It is one vote beside the reports.",
        decisions::DecisionWeight::Other => {
            "It is kept without weight, because the node has no stake and too little reputation to be a validator."
        }
    }
}

/// An appointed owner passes an asset. That settles the reports, and is the arbiter's pass that a promotion may ask for; the other
/// gates hold as before.
fn pass_as_arbiter(
    tx: &mut dyn Tx,
    context: &OperationContext,
    asset: &AssetRow,
    actor: &str,
    rewards: &RewardRates,
) -> ApiResult<AssetStatus> {
    let id = &asset.asset_id;
    if asset.status != AssetStatus::Candidate && !asset.status.is_distributed() {
        return step(asset.status, AssetEvent::Promote).map_err(|refusal| not_changed(&refusal));
    }
    let decided = Arbitration { passed: true, arbiter: actor, slash_percent: rewards.slash_percent };
    arbitrate(tx, id, decided, context.now)?;
    promotion::promote(tx, id, &context.config.promotion.rule, rewards, context.now)?;
    Ok(assets::get(tx, id)?.ok_or_else(not_found)?.status)
}

/// The account that speaks, if one does: by a session or key, or through a node of its own that shows its secret. An admin's
/// comes first.
fn find_speaker(
    tx: &mut dyn Tx,
    node: &NodeRow,
    shown: &Credentials,
    now: Time,
) -> ApiResult<Option<UserRow>> {
    let caller = account::find_caller_or_none(tx, shown, now)?;
    if caller.as_ref().is_some_and(UserRow::is_admin) {
        return Ok(caller);
    }
    let owner = match node.owner.as_deref() {
        Some(owner) if shown.presented_to(node) == PresentedSecret::Right => {
            capsid_store::accounts::get(tx, owner)?
        }
        _ => None,
    };
    let owner = owner.filter(|owner| owner.banned_at.is_none());
    let decides = |user: &UserRow| user.is_admin() || user.appointed_at.is_some();
    Ok(owner.into_iter().chain(caller).filter(decides).max_by_key(UserRow::is_admin))
}
