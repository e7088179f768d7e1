//! `POST /a2a/revoke`: a publisher withdraws what it published.

use crate::auth::access::{Credentials, Rules};
use crate::auth::once::{once, receive};
use crate::error::{ApiError, HubCode, Result};
use crate::http::envelope::{Answer, Reply};
use crate::http::json::{JsonBody, JsonText};
use crate::state::Shared;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::lifecycle::{Change, Status};
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::lifecycle;
use capsid_store::evaluation::lifecycle::Changed;
use capsid_store::nodes::{self, Node};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The longest reason.
const REASON_LIMIT: usize = 2000;

/// Which asset, and why.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    target_asset_id: Option<String>,
    target_local_id: Option<String>,
    reason: Option<String>,
}

impl Target {
    /// The asset that is meant.
    pub fn find(&self, tx: &mut dyn Tx, sender: &str) -> Result<AssetId> {
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
    pub fn reason(&self) -> Result<Option<&str>> {
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
#[utoipa::path(post, path = "/a2a/revoke", tag = "messages", request_body = crate::http::openapi::Message,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn revoke(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> Result<Reply> {
    let limit = ("messages", hub.config.limits.messages);
    let envelope = receive(&hub, &text, &["revoke"], &credentials, limit).await?;
    let now = hub.now();
    let target: Target = envelope.payload()?;
    target.reason()?;
    let answer = hub.answer("revoke");
    once(&hub, &envelope, "/a2a/revoke", &text, credentials, move |tx, node| {
        withdraw(tx, node, &target, &answer, now)
    })
    .await
}

fn withdraw(tx: &mut dyn Tx, node: &Node, target: &Target, answer: &Answer, now: Time) -> Result<Reply> {
    let payload = withdrawn(tx, node, target, now)?;
    Ok(Reply::ok(answer.of(&payload)))
}

fn withdrawn(tx: &mut dyn Tx, node: &Node, target: &Target, now: Time) -> Result<Map<String, Value>> {
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
        Status::Revoked => "already_revoked",
        _ => {
            let actor = format!("node:{}", node.node_id);
            match lifecycle::change(tx, &id, Change::Revoke, &actor, target.reason()?, now)? {
                Changed::Done { .. } => "revoked",
                Changed::NotFound => return Err(not_found()),
                Changed::Refused(refusal) => {
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
    payload.insert("asset_status".to_owned(), Status::Revoked.as_str().into());
    Ok(payload)
}

/// The same without an envelope.
#[derive(Debug, Clone, Deserialize, utoipa::ToSchema)]
pub struct SelfRevoke {
    #[serde(alias = "sender_id")]
    node_id: String,
    asset_id: String,
    reason: Option<String>,
    node_secret: Option<String>,
}

/// Withdraws an asset, as plain REST.
#[utoipa::path(post, path = "/a2a/asset/self-revoke", tag = "assets", request_body = SelfRevoke,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn self_revoke(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(body): JsonBody<SelfRevoke>,
) -> Result<Reply> {
    crate::http::envelope::check_node_id(&body.node_id, "node_id")?;
    let target = Target { target_asset_id: Some(body.asset_id), target_local_id: None, reason: body.reason };
    target.reason()?;
    let rules: Rules = hub.rules();
    let credentials = credentials.or_secret(body.node_secret.as_deref());
    let payload = hub
        .store
        .write(move |tx| {
            let node = crate::auth::access::act_as(tx, &rules, &body.node_id, &credentials)?;
            withdrawn(tx, &node, &target, rules.now)
        })
        .await?;
    Ok(Reply::json(&payload))
}
