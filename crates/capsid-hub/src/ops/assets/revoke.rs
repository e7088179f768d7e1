//! `POST /a2a/revoke`: a publisher withdraws what it published.

use crate::auth::credentials::{Credentials, OperationContext};
use crate::auth::idempotency::{authenticate_and_limit, run_idempotent};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, ResponseEnvelope};
use crate::http::json::{JsonBody, JsonText};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus};
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::StatusChangeOutcome;
use capsid_store::nodes::{self, NodeRow};
use serde::Deserialize;
use serde_json::{Map, Value};

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

/// Withdraws an asset and its bundle.
///
/// Only the publisher may, or another node of the same owner. Doing it again changes nothing.
#[utoipa::path(post, path = "/a2a/revoke", tag = "messages", request_body = crate::http::openapi::A2aMessage,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn revoke(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let limit = ("messages", hub.config.limits.messages);
    let envelope = authenticate_and_limit(&hub, &text, &["revoke"], &credentials, limit).await?;
    let now = hub.now();
    let target: RevokeRequest = envelope.payload()?;
    target.reason()?;
    let answer = hub.answer("revoke");
    run_idempotent(&hub, &envelope, "/a2a/revoke", &text, credentials, move |tx, node| {
        withdraw(tx, node, &target, &answer, now)
    })
    .await
}

fn withdraw(
    tx: &mut dyn Tx,
    node: &NodeRow,
    target: &RevokeRequest,
    answer: &ResponseEnvelope,
    now: Time,
) -> ApiResult<JsonReply> {
    let payload = withdrawn(tx, node, target, now)?;
    Ok(JsonReply::ok(answer.render(&payload)))
}

fn withdrawn(
    tx: &mut dyn Tx,
    node: &NodeRow,
    target: &RevokeRequest,
    now: Time,
) -> ApiResult<Map<String, Value>> {
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
            match lifecycle::change(tx, &id, AssetEvent::Revoke, &actor, target.reason()?, now)? {
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
    let mut payload = Map::new();
    payload.insert("status".to_owned(), word.into());
    payload.insert("target_asset_id".to_owned(), id.to_string().into());
    payload.insert("bundle_id".to_owned(), asset.bundle_id.into());
    payload.insert("asset_status".to_owned(), AssetStatus::Revoked.as_str().into());
    Ok(payload)
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

/// Withdraws an asset, as plain REST.
#[utoipa::path(post, path = "/a2a/asset/self-revoke", tag = "assets", request_body = SelfRevokeRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn self_revoke(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(body): JsonBody<SelfRevokeRequest>,
) -> ApiResult<JsonReply> {
    crate::http::envelope::check_node_id(&body.node_id, "node_id")?;
    let target =
        RevokeRequest { target_asset_id: Some(body.asset_id), target_local_id: None, reason: body.reason };
    target.reason()?;
    let rules: OperationContext = hub.rules();
    let credentials = credentials.or_secret(body.node_secret.as_deref());
    let payload = hub
        .store
        .write(move |tx| {
            let node = crate::auth::credentials::authenticate_node(tx, &rules, &body.node_id, &credentials)?;
            withdrawn(tx, &node, &target, rules.now)
        })
        .await?;
    Ok(JsonReply::json(&payload))
}
