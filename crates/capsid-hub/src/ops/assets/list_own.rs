//! `GET /a2a/assets/purchased` and `/published-by-me`: what a node fetched and what it published, for keeping in step.

use super::list::cut;
use super::{asset_type, page, status};
use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::cursor;
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::query;
use crate::http::query::QueryParams;
use crate::ops::assets::view::{iso, quoted};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::assets::traits::card_members;
use capsid_store::assets::list;
use capsid_store::assets::list::{ListPosition, ListedAsset};
use serde::Deserialize;
use std::collections::HashMap;
use utoipa::IntoParams;

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

/// A row as clients keep it: with the whole asset.
fn row(listed: &ListedAsset, bodies: &HashMap<i64, String>, more: &str) -> String {
    let asset = &listed.asset;
    let body = bodies.get(&asset.seq).map_or("null", String::as_str);
    let card = card_members(&asset.card);
    let summary = card.get("summary").and_then(serde_json::Value::as_str).unwrap_or_default();
    let local_id = asset.traits.local_id.as_deref().map_or_else(|| "null".to_owned(), quoted);
    format!(
        "{{\"asset_id\":\"{}\",\"asset_type\":\"{}\",\"local_id\":{local_id},\"summary\":{},\"status\":\"{}\",\
         \"bundle_id\":{},\"created_at\":{}{more},\"payload\":{body}}}",
        asset.asset_id,
        asset.asset_type.as_str(),
        quoted(summary),
        asset.status.as_str(),
        quoted(&asset.bundle_id),
        iso(asset.created_at),
    )
}

/// What a node published, whatever became of it.
#[utoipa::path(get, path = "/a2a/assets/published-by-me", tag = "assets", params(ListOwnAssetsParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn published_by_me(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListOwnAssetsParams>,
) -> ApiResult<JsonReply> {
    const NAME: &str = "published";
    let node_id = asked.node()?;
    let (kind, state) = (asset_type(asked.kind.as_deref())?, status(asked.status.as_deref())?);
    let after = cursor::read(NAME, asked.cursor.as_deref())?;
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let who = node_id.clone();
    let (mut found, bodies, total) = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| {
            let found = list::published_by(tx, &who, kind, state, after.seq, limit + 1)?;
            let seqs: Vec<i64> = found.iter().take(limit).map(|listed| listed.asset.seq).collect();
            Ok((found, list::bodies(tx, &seqs)?, list::published_total(tx, &who, kind, state)?))
        })
        .await?;
    let next = cut(&mut found, limit, |last| {
        cursor::write(NAME, ListPosition { key: last.asset.seq, seq: last.asset.seq })
    });
    let rows: Vec<String> = found.iter().map(|listed| row(listed, &bodies, "")).collect();
    Ok(JsonReply::ok(page("assets", &rows, Some(total), next)))
}

/// What a node fetched and may still have, whether this hub charges for it or not.
#[utoipa::path(get, path = "/a2a/assets/purchased", tag = "assets", params(ListOwnAssetsParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn purchased(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListOwnAssetsParams>,
) -> ApiResult<JsonReply> {
    const NAME: &str = "purchased";
    let node_id = asked.node()?;
    let (kind, state) = (asset_type(asked.kind.as_deref())?, status(asked.status.as_deref())?);
    let after = cursor::read(NAME, asked.cursor.as_deref())?;
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let who = node_id.clone();
    // A fetch of a moment ago counts.
    hub.usage.flush(&hub).await?;
    let (mut found, bodies, total) = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| {
            let found = list::fetched_by(tx, &who, kind, state, after, limit + 1)?;
            let seqs: Vec<i64> = found.iter().take(limit).map(|(listed, _)| listed.asset.seq).collect();
            Ok((found, list::bodies(tx, &seqs)?, list::fetched_total(tx, &who, kind, state)?))
        })
        .await?;
    let next = cut(&mut found, limit, |(last, at)| {
        cursor::write(NAME, ListPosition { key: *at, seq: last.asset.seq })
    });
    let rows: Vec<String> = found
        .iter()
        .map(|(listed, at)| row(listed, &bodies, &format!(",\"fetched_at\":{}", iso(*at))))
        .collect();
    Ok(JsonReply::ok(page("assets", &rows, Some(total), next)))
}
