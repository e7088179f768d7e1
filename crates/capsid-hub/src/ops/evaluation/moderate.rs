//! An admin decides on assets.

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::{traced_id, validate};
use crate::ops::assets::revoke::not_found;
use crate::state::SharedHub;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::{AssetChangeRefusal, AssetEvent, AssetStatus, step};
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::demotion;
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::StatusChangeOutcome;
use capsid_store::evaluation::moderation::arbitration::{Arbitration, arbitrate};
use capsid_store::evaluation::rewards;
use capsid_store::evaluation::rewards::RewardRates;
use capsid_store::evaluation::scoring;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What became of an admin's decision.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetDecided)]
pub struct ModerateResponse {
    status: &'static str,
    #[schema(value_type = String)]
    asset_id: AssetId,
    asset_status: AssetStatus,
}

/// Changes the state of an asset as an admin wants it.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id), change = change.as_str()))]
pub async fn moderate(
    hub: &SharedHub,
    credentials: Credentials,
    id: &str,
    change: AssetEvent,
    reason: ReasonBody,
) -> ApiResult<ModerateResponse> {
    let id = AssetId::parse(id)
        .ok_or_else(|| ApiError::field("asset_id", "`sha256:` and 64 hexadecimal digits", "another text"))?;
    let (reason, rewards, clock) = (reason.checked()?, hub.config.rewards(), Arc::clone(&hub.clock));
    let asset_status = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let now = clock.now();
            let admin = require_admin(tx, &credentials, now)?;
            let actor = format!("user:{}", admin.user_id);
            apply_decision(tx, &id, change, &actor, reason.as_deref(), &rewards, now)
        })
        .await?;
    Ok(ModerateResponse { status: "applied", asset_id: id, asset_status })
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
    // An arbiter who rejects what is given out takes it back; the third time it is rejected for good.
    if change == AssetEvent::Reject && asset.status.is_distributed() {
        let reason = reason.unwrap_or("an administrator rejected it");
        let status = demotion::demote(tx, id, actor, reason, now)?;
        let decided = Arbitration { passed: false, arbiter: actor, slash_percent: rewards.slash_percent };
        arbitrate(tx, id, decided, now)?;
        return Ok(status);
    }
    match moderate_in(tx, id, change, actor, reason, rewards, now)? {
        StatusChangeOutcome::Done { to, .. } => Ok(to),
        StatusChangeOutcome::NotFound => Err(not_found()),
        StatusChangeOutcome::Refused(refusal) => Err(not_changed(&refusal)),
    }
}

/// The asset cannot take a change where it stands.
pub fn not_changed(refusal: &AssetChangeRefusal) -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        refusal.to_string(),
        "GET /a2a/assets/{asset_id} tells where the asset stands and how it got there.",
    )
    .with("asset_status", refusal.from.as_str())
}

/// Changes the state of an asset and of its bundle, scores it anew, and rewards its publisher for a promotion; reports that
/// say otherwise cost a part of the stake. For
/// admins, validators and the operator alike.
pub fn moderate_in(
    tx: &mut dyn Tx,
    id: &AssetId,
    change: AssetEvent,
    actor: &str,
    reason: Option<&str>,
    rewards: &RewardRates,
    now: Time,
) -> Result<StatusChangeOutcome> {
    let outcome = lifecycle::change(tx, id, change, actor, reason, now)?;
    if matches!(outcome, StatusChangeOutcome::Done { .. }) {
        scoring::rescore(tx, id, now)?;
        if change == AssetEvent::Promote {
            rewards::promoted(tx, rewards, id, now)?;
        }
        // Whoever moderates is an arbiter: what it decides settles the reports on the asset.
        if let AssetEvent::Promote | AssetEvent::Reject = change {
            let passed = change == AssetEvent::Promote;
            let decided = Arbitration { passed, arbiter: actor, slash_percent: rewards.slash_percent };
            arbitrate(tx, id, decided, now)?;
        }
    }
    Ok(outcome)
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
#[derive(Debug, Default, Deserialize, ToSchema)]
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
