//! What a node fetched and what it published, for keeping in step.

use super::list::cut;
use super::view::page_response;
use super::{asset_type, status};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::ApiResult;
use crate::http::cursor;
use crate::http::envelope::check_node_id;
use crate::http::json::stored_json;
use crate::http::query;
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::assets::traits::card_members;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::{ListPosition, ListedAsset};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use utoipa::{IntoParams, ToSchema};

/// Whose assets, and which.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListOwnAssetsParams {
    /// The node that asks. It has to show its secret if it has one.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Gene, Capsule or EvolutionEvent.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// candidate, promoted, rejected, quarantined, revoked, stale or archived.
    status: Option<String>,
}

impl ListOwnAssetsParams {
    fn node(&self) -> ApiResult<String> {
        let node = self.node_id.clone().unwrap_or_default();
        check_node_id(&node, "node_id")?;
        Ok(node)
    }
}

/// An asset as clients keep it: with the whole asset.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnAssetView {
    #[schema(value_type = String)]
    asset_id: AssetId,
    asset_type: AssetType,
    /// The id that its publisher uses.
    #[schema(required)]
    local_id: Option<String>,
    summary: String,
    status: AssetStatus,
    bundle_id: String,
    created_at: String,
    /// When the node last fetched it; only of assets that it fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    fetched_at: Option<String>,
    /// The whole asset as it was published.
    #[schema(value_type = Option<BTreeMap<String, Value>>, required)]
    payload: Option<Box<RawValue>>,
}

page_response! {
    /// A page of what a node fetched or published.
    OwnAssetPageResponse as OwnAssetPage { assets: OwnAssetView as OwnAssetView }
}

impl OwnAssetView {
    fn new(
        listed: &ListedAsset,
        bodies: &mut HashMap<i64, String>,
        fetched_at: Option<i64>,
    ) -> ApiResult<Self> {
        let asset = &listed.asset;
        let card = card_members(&asset.card);
        Ok(Self {
            asset_id: asset.asset_id,
            asset_type: asset.asset_type,
            local_id: asset.traits.local_id.clone(),
            summary: card.get("summary").and_then(Value::as_str).unwrap_or_default().to_owned(),
            status: asset.status,
            bundle_id: asset.bundle_id.clone(),
            created_at: Time(asset.created_at).iso(),
            fetched_at: fetched_at.map(|at| Time(at).iso()),
            payload: bodies.remove(&asset.seq).map(stored_json).transpose()?,
        })
    }
}

/// What a node published, whatever became of it.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_published(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListOwnAssetsParams,
) -> ApiResult<OwnAssetPageResponse> {
    const NAME: &str = "published";
    let node_id = params.node()?;
    let (kind, state) = (asset_type(params.kind.as_deref())?, status(params.status.as_deref())?);
    let after = cursor::read(NAME, params.cursor.as_deref())?;
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let who = node_id.clone();
    let (mut found, mut bodies, total) = Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, _| {
            let found = list::published_by(tx, &who, kind, state, after.seq, limit + 1)?;
            let seqs: Vec<i64> = found.iter().take(limit).map(|listed| listed.asset.seq).collect();
            Ok((found, list::bodies(tx, &seqs)?, list::published_total(tx, &who, kind, state)?))
        })
        .await?;
    let next = cut(&mut found, limit, |last| {
        cursor::write(NAME, ListPosition { key: last.asset.seq, seq: last.asset.seq })
    });
    let rows = found.iter().map(|listed| OwnAssetView::new(listed, &mut bodies, None));
    Ok(OwnAssetPageResponse::new(rows.collect::<ApiResult<_>>()?, total, next))
}

/// What a node fetched and may still have, whether this hub charges for it or not.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_purchased(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListOwnAssetsParams,
) -> ApiResult<OwnAssetPageResponse> {
    const NAME: &str = "purchased";
    let node_id = params.node()?;
    let (kind, state) = (asset_type(params.kind.as_deref())?, status(params.status.as_deref())?);
    let after = cursor::read(NAME, params.cursor.as_deref())?;
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let who = node_id.clone();
    // A fetch of a moment ago counts.
    hub.usage.flush().await?;
    let (mut found, mut bodies, total) = Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, _| {
            let found = list::fetched_by(tx, &who, kind, state, after, limit + 1)?;
            let seqs: Vec<i64> = found.iter().take(limit).map(|(listed, _)| listed.asset.seq).collect();
            Ok((found, list::bodies(tx, &seqs)?, list::fetched_total(tx, &who, kind, state)?))
        })
        .await?;
    let next = cut(&mut found, limit, |(last, at)| {
        cursor::write(NAME, ListPosition { key: *at, seq: last.asset.seq })
    });
    let rows = found.iter().map(|(listed, at)| OwnAssetView::new(listed, &mut bodies, Some(*at)));
    Ok(OwnAssetPageResponse::new(rows.collect::<ApiResult<_>>()?, total, next))
}
