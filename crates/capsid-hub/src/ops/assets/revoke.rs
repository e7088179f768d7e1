//! A publisher withdraws what it published.

use crate::auth::credentials::Credentials;
use crate::auth::idempotency::{Idempotent, run_idempotent};
use crate::auth::message::Message;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus};
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::StatusChangeOutcome;
use capsid_store::nodes::{self, NodeRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest reason.
const REASON_LIMIT: usize = 2000;

/// Which asset, and why.
#[derive(Debug, Clone, Deserialize)]
pub struct RevokeRequest {
    target_asset_id: Option<String>,
    target_local_id: Option<String>,
    reason: Option<String>,
}

impl RevokeRequest {
    /// The asset that is meant.
    pub fn find(&self, tx: &mut dyn Tx, sender: &str) -> ApiResult<AssetId> {
        if let Some(text) = &self.target_asset_id {
            let id = AssetId::parse(text).ok_or_else(|| {
                ApiError::field(
                    "payload.target_asset_id",
                    "`sha256:` and 64 hexadecimal digits",
                    "another text",
                )
            })?;
            return Ok(id);
        }
        let Some(local) = &self.target_local_id else {
            return Err(ApiError::field("payload.target_asset_id", "an asset id", "missing"));
        };
        assets::by_local_id(tx, sender, local)?.ok_or_else(not_found)
    }

    /// The reason, not longer than it may be.
    pub fn reason(&self) -> ApiResult<Option<&str>> {
        match self.reason.as_deref() {
            Some(reason) if reason.chars().count() > REASON_LIMIT => {
                Err(ApiError::field("payload.reason", format!("at most {REASON_LIMIT} characters"), "more"))
            }
            reason => Ok(reason),
        }
    }
}

/// There is no such asset.
pub fn not_found() -> ApiError {
    ApiError::new(
        HubCode::AssetNotFound,
        "The hub has no asset with this id.",
        "Check the id; GET /a2a/assets lists what there is.",
    )
}

/// An asset that was withdrawn.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevokeResponse {
    /// revoked or already_revoked.
    status: &'static str,
    #[schema(value_type = String)]
    target_asset_id: AssetId,
    bundle_id: String,
    asset_status: AssetStatus,
}

/// Withdraws an asset and its bundle. Only the publisher may, or another node of the same owner.
#[tracing::instrument(skip_all, fields(node.id = %message.sender_id(), asset.id = target.target_asset_id.as_deref().map(traced_id)))]
pub async fn revoke(
    hub: &SharedHub,
    message: &Message<'_>,
    target: RevokeRequest,
) -> ApiResult<Idempotent<RevokeResponse>> {
    target.reason()?;
    run_idempotent(hub, message, "/a2a/revoke", "revoke", move |tx, context, node| {
        revoke_in(tx, context, node, &target)
    })
    .await
}

/// The part inside a transaction, for callers that have one of their own.
pub fn revoke_in(
    tx: &mut dyn Tx,
    context: &OperationContext,
    node: &NodeRow,
    target: &RevokeRequest,
) -> ApiResult<RevokeResponse> {
    let id = target.find(tx, &node.node_id)?;
    let asset = assets::lock(tx, &id)?.ok_or_else(not_found)?;
    let publisher = nodes::get(tx, &asset.node_id)?;
    let own = asset.node_id == node.node_id
        || publisher.is_some_and(|p| p.owner.is_some() && p.owner == node.owner);
    if !own {
        return Err(ApiError::new(
            HubCode::NotAssetOwner,
            "Only the node that published the asset, or its owner, may withdraw it.",
            "Send the message from the publishing node.",
        ));
    }
    let word = match asset.status {
        AssetStatus::Revoked => "already_revoked",
        _ => {
            let actor = format!("node:{}", node.node_id);
            match lifecycle::change(tx, &id, AssetEvent::Revoke, &actor, target.reason()?, context.now)? {
                StatusChangeOutcome::Done { .. } => "revoked",
                StatusChangeOutcome::NotFound => return Err(not_found()),
                StatusChangeOutcome::Refused(refusal) => {
                    return Err(ApiError::new(
                        HubCode::StateConflict,
                        refusal.to_string(),
                        "There is nothing to withdraw.",
                    )
                    .with("asset_status", refusal.from.as_str()));
                }
            }
        }
    };
    Ok(RevokeResponse {
        status: word,
        target_asset_id: id,
        bundle_id: asset.bundle_id,
        asset_status: AssetStatus::Revoked,
    })
}

/// The same without an envelope.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
#[schema(as = SelfRevoke)]
pub struct SelfRevokeRequest {
    #[serde(alias = "sender_id")]
    node_id: String,
    asset_id: String,
    reason: Option<String>,
    node_secret: Option<String>,
}

/// Withdraws an asset, without an envelope.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&request.node_id), asset.id = traced_id(&request.asset_id)))]
pub async fn self_revoke(
    hub: &SharedHub,
    credentials: Credentials,
    request: SelfRevokeRequest,
) -> ApiResult<RevokeResponse> {
    let SelfRevokeRequest { node_id, asset_id, reason, node_secret } = request;
    check_node_id(&node_id, "node_id")?;
    let target = RevokeRequest { target_asset_id: Some(asset_id), target_local_id: None, reason };
    target.reason()?;
    let (context, sender) =
        (hub.context(), Sender::new(node_id, credentials.or_secret(node_secret.as_deref())));
    hub.store
        .write(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            revoke_in(tx, &context, &node, &target)
        })
        .await
}
