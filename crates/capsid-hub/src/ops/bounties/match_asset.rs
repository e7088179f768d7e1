//! Matching a bounty with an asset that was published, by an admin.

use super::view::BountyDetailView;
use super::{not_found, wrong_state};
use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::ops::assets::parse_asset_id;
use crate::ops::tasks::unusable_asset;
use crate::state::SharedHub;
use capsid_store::work::bounties::assign;
use capsid_store::work::bounties::assign::MatchOutcome;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// What an admin takes for the solution.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = BountyMatch)]
pub struct MatchBountyRequest {
    asset_id: Option<String>,
}

/// Matches a bounty with an asset. Its publisher counts as the node that did the task; the creator still decides.
#[tracing::instrument(skip_all, fields(bounty.id = traced_id(&bounty_id), asset.id = request.asset_id.as_deref().map(traced_id)))]
pub async fn match_bounty(
    hub: &SharedHub,
    credentials: Credentials,
    bounty_id: String,
    request: &MatchBountyRequest,
) -> ApiResult<BountyDetailView> {
    hub.limit_calls_of(&credentials, "bounties").await?;
    let (now, by) = (hub.now(), credentials.clone());
    let clock = Arc::clone(&hub.clock);
    hub.store.read::<_, ApiError, _>(move |tx| require_admin(tx, &by, now)).await?;
    let asset = parse_asset_id(request.asset_id.as_deref().unwrap_or_default(), "asset_id")?;
    let (decide_ms, submission) = (hub.config.work.decision_ms, hub.new_id("sub"));
    let response = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
let now = clock.now();
            let actor = require_admin(tx, &credentials, now)?.actor();
            match assign::match_asset(tx, &bounty_id, &asset, &submission, &actor, decide_ms, now)? {
                MatchOutcome::Done(_) => BountyDetailView::load(tx, &bounty_id, now),
                MatchOutcome::NotFound => Err(not_found(&bounty_id)),
                MatchOutcome::AssetNotFound => Err(ApiError::new(
                    HubCode::AssetNotFound,
                    format!("There is no asset {asset}."),
                    "Name an asset that was published; GET /a2a/assets lists them.",
                )),
                MatchOutcome::UnusableAsset(status) => Err(unusable_asset(status)),
                MatchOutcome::Refused(bounty) => Err(wrong_state(
                    &bounty,
                    "The bounty cannot be matched: it is over, something was handed in, or a swarm works on it.",
                    "Look at it with GET /bounty/{id}.",
                )),
            }
        })
        .await?;
    hub.events.notify();
    Ok(response)
}
