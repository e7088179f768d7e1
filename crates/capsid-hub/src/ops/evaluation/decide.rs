//! `POST /a2a/decision`: somebody accepts, rejects or quarantines an asset.
//!
//! An admin's decision is carried out. A validator's is one vote beside the reports: an acceptance passes, the others
//! fail. It can hold a promotion back or outweigh a failing report, but it is no report: somebody still has to have run
//! the validation. Everybody else's is recorded, and weighs nothing.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::auth::idempotency::{authenticate_and_limit, run_idempotent};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, ResponseEnvelope};
use crate::http::json::JsonText;
use crate::http::validate;
use crate::ops::assets::revoke::{RevokeRequest, not_found};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::identity::secrets::PresentedSecret;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus, step};
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::decisions;
use capsid_store::evaluation::decisions::AssetDecision;
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::StatusChangeOutcome;
use capsid_store::evaluation::rewards;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::evaluation::scoring;
use capsid_store::nodes::NodeRow;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
struct DecisionRequest {
    decision: Option<String>,
}

/// Decides on an asset.
///
/// `decision` is `accept`, `reject` or `quarantine`. An admin's is carried out, a validator's is a vote, and anybody
/// else's is recorded without weight.
#[utoipa::path(post, path = "/a2a/decision", tag = "messages", request_body = crate::http::openapi::A2aMessage,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn decision(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let limit = ("messages", hub.config.limits.messages);
    let envelope = authenticate_and_limit(&hub, &text, &["decision"], &credentials, limit).await?;
    let rewards = hub.config.rewards();
    let asked: DecisionRequest = envelope.payload()?;
    let decision = word(asked.decision.as_deref())?;
    let target: RevokeRequest = envelope.payload()?;
    target.reason()?;
    let answer = hub.answer("decision");
    let shown = credentials.clone().or_secret(envelope.node_secret.as_deref());
    run_idempotent(&hub, &envelope, "/a2a/decision", &text, credentials, move |tx, node| {
        decide(tx, node, &shown, &target, decision, &rewards, &answer)
    })
    .await
}

fn word(told: Option<&str>) -> ApiResult<AssetDecision> {
    let expected = || format!("one of `{}`", AssetDecision::WORDS.join("`, `"));
    let told = told.ok_or_else(|| ApiError::field("payload.decision", expected(), "missing"))?;
    AssetDecision::parse(told).ok_or_else(|| ApiError::field("payload.decision", expected(), "another word"))
}

fn decide(
    tx: &mut dyn Tx,
    node: &NodeRow,
    shown: &Credentials,
    target: &RevokeRequest,
    decision: AssetDecision,
    rewards: &RewardRates,
    answer: &ResponseEnvelope,
) -> ApiResult<JsonReply> {
    let now = answer.now;
    let id = target.find(tx, &node.node_id)?;
    let reason = target.reason()?;
    let asset = assets::lock(tx, &id)?.ok_or_else(not_found)?;
    let mut payload = Map::new();
    let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
    let status = match admin(tx, node, shown, now)? {
        Some(actor) => {
            decisions::record(tx, &id, &actor, decision, reason, 1.0, now)?;
            put("status", "applied".into());
            put("label", "admin".into());
            apply_decision(tx, &id, decision.change(), &actor, reason, rewards, now)?
        }
        None => {
            let standing = decisions::decision_weight(tx, &asset, node)?;
            let actor = format!("node:{}", node.node_id);
            decisions::record(tx, &id, &actor, decision, reason, standing.weight(), now)?;
            put("status", "recorded".into());
            put("label", standing.label().into());
            put("weight", standing.weight().into());
            put("note", describe_weight(standing).into());
            asset.status
        }
    };
    put("target_asset_id", id.to_string().into());
    put("decision", decision.as_str().into());
    put("asset_status", status.as_str().into());
    let tally = scoring::consensus(tx, &id)?;
    put("consensus", crate::ops::assets::view::consensus(&tally));
    Ok(JsonReply::ok(answer.render(&payload)))
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

/// The admin who speaks, if one does: by a session or key, or through a node of its own that shows its secret.
fn admin(tx: &mut dyn Tx, node: &NodeRow, shown: &Credentials, now: Time) -> ApiResult<Option<String>> {
    if let Some(user) = account::find_caller_or_none(tx, shown, now)?.filter(|user| user.is_admin()) {
        return Ok(Some(format!("user:{}", user.user_id)));
    }
    let Some(owner) = node.owner.as_deref() else { return Ok(None) };
    if node.presented(shown.secret.as_deref()) != PresentedSecret::Right {
        return Ok(None);
    }
    let owner = capsid_store::accounts::get(tx, owner)?;
    Ok(owner.filter(|owner| owner.is_admin()).map(|owner| format!("user:{}", owner.user_id)))
}

/// Changes the state of an asset as an admin wants it, and gives the state it is in now. What it is already stays.
pub fn apply_decision(
    tx: &mut dyn Tx,
    id: &AssetId,
    change: AssetEvent,
    actor: &str,
    reason: Option<&str>,
    rewards: &RewardRates,
    now: Time,
) -> ApiResult<AssetStatus> {
    let asset = assets::lock(tx, id)?.ok_or_else(not_found)?;
    if step(asset.status, change).is_err() && is_done(asset.status, change) {
        return Ok(asset.status);
    }
    match lifecycle::change(tx, id, change, actor, reason, now)? {
        StatusChangeOutcome::Done { to, .. } => {
            scoring::rescore(tx, id, now)?;
            if change == AssetEvent::Promote {
                rewards::promoted(tx, rewards, id, now)?;
            }
            Ok(to)
        }
        StatusChangeOutcome::NotFound => Err(not_found()),
        StatusChangeOutcome::Refused(refusal) => Err(ApiError::new(
            HubCode::StateConflict,
            refusal.to_string(),
            "GET /a2a/assets/{asset_id} tells where the asset stands and how it got there.",
        )
        .with("asset_status", refusal.from.as_str())),
    }
}

/// Whether an asset is where a change would bring it.
fn is_done(status: AssetStatus, change: AssetEvent) -> bool {
    matches!(
        (status, change),
        (AssetStatus::Promoted, AssetEvent::Promote)
            | (AssetStatus::Rejected, AssetEvent::Reject)
            | (AssetStatus::Quarantined, AssetEvent::Quarantine)
            | (AssetStatus::Candidate, AssetEvent::Release)
    )
}

/// The reason in the body of an admin's call.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[schema(as = Why)]
pub struct ReasonBody {
    reason: Option<String>,
}

impl ReasonBody {
    /// The reason, not longer than it may be.
    pub fn checked(self) -> ApiResult<Option<String>> {
        validate::text_or(self.reason.as_deref(), "reason", 2000)?;
        Ok(self.reason)
    }
}
