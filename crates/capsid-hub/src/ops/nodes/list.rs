//! `GET /a2a/nodes…`: who is on this hub. Secrets, machines, webhooks and owners are nobody else's concern.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor;
use crate::http::envelope::JsonReply;
use crate::http::query;
use crate::http::query::{PathId, QueryParams};
use crate::ops::assets::page;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::evaluation::reputation::decayed_until;
use capsid_rules::evaluation::reputation::level;
use capsid_store::assets::list as asset_list;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::list_reports;
use capsid_store::nodes::list as node_list;
use capsid_store::nodes::list::{NodeListRow, NodePosition, NodeSort};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

/// A node that was heard of within this time is online: three heartbeats.
const ONLINE_MS: i64 = 15 * 60_000;
const DORMANT_MS: i64 = 24 * 3_600_000;
const DEAD_MS: i64 = 30 * DORMANT_MS;

/// Which nodes, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListNodesParams {
    /// reputation (the default), newest or published.
    sort: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

fn sort(text: Option<&str>) -> ApiResult<(NodeSort, &'static str)> {
    match text.map(str::trim).unwrap_or_default() {
        "" | "reputation" => Ok((NodeSort::Reputation, "nodes.reputation")),
        "newest" => Ok((NodeSort::Newest, "nodes.newest")),
        "published" => Ok((NodeSort::Published, "nodes.published")),
        _ => Err(ApiError::field("sort", "reputation, newest or published", "another word")),
    }
}

fn position(name: &str, cursor: Option<&str>) -> ApiResult<Option<NodePosition>> {
    let Some([key, node_id]) = cursor::read_parts(name, cursor)? else { return Ok(None) };
    let key = key.parse::<f64>().ok().filter(|key| key.is_finite());
    // A cursor that somebody made up is refused like any other.
    let key =
        key.ok_or_else(|| ApiError::new(HubCode::InvalidCursor, "The cursor is broken.", "Begin again."))?;
    if node_id.contains('\0') {
        return Err(ApiError::new(HubCode::InvalidCursor, "The cursor is broken.", "Begin again."));
    }
    Ok(Some(NodePosition { key, node_id }))
}

/// Lists nodes.
#[utoipa::path(get, path = "/a2a/nodes", tag = "nodes", params(ListNodesParams),
    responses((status = 200, body = crate::http::openapi::nodes::NodePage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListNodesParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (sort, name) = sort(asked.sort.as_deref())?;
    let after = position(name, asked.cursor.as_deref())?;
    let (limit, now) = (query::limit(asked.limit.as_deref(), 20, 100) as usize, hub.now());
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let found = node_list::list(tx, sort, after.as_ref(), limit + 1)?;
            Ok((found, node_list::total(tx)?))
        })
        .await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| {
        let position = sort.position(last);
        cursor::write_parts(&[name, &position.key.to_string(), &position.node_id])
    });
    let rows: Vec<String> = found.iter().map(|node| to_view(node, now).to_string()).collect();
    Ok(JsonReply::ok(page("nodes", &rows, Some(total), next)))
}

/// What everybody may know of a node.
fn to_view(node: &NodeListRow, now: Time) -> Value {
    let silent = now.0 - node.last_seen_at;
    let survival = match silent {
        silent if silent <= DORMANT_MS => "alive",
        silent if silent <= DEAD_MS => "dormant",
        _ => "dead",
    };
    let trust_level = match node.reputation {
        r if r >= 70.0 => "high",
        r if r >= 30.0 => "normal",
        _ => "low",
    };
    json!({
        "node_id": node.node_id, "alias": node.name, "model": node.model, "status": node.status,
        "online": silent <= ONLINE_MS, "survival_status": survival, "claimed": node.claimed,
        "reputation_score": rounded(node.reputation), "trust_level": trust_level,
        "reputation_penalty": rounded(decayed_until(node.penalty, node.penalty_at, now.0).0),
        "quarantine_strikes": node.strikes,
        "publish_cooldown_until": node.cooldown_until.filter(|until| *until > now.0).map(|until| Time(until).iso()),
        "total_published": node.published, "total_promoted": node.promoted, "total_rejected": node.rejected,
        "total_revoked": node.revoked, "capability_profile": { "level": level(node.reputation), "reputation": rounded(node.reputation) },
        "created_at": Time(node.created_at).iso(), "last_seen_at": Time(node.last_seen_at).iso(),
    })
}

fn not_found() -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        "The hub knows no node with this id.",
        "Check the id; GET /a2a/nodes lists the nodes. A node becomes known by POST /a2a/hello.",
    )
}

pub(crate) fn node(tx: &mut dyn Tx, node_id: &str) -> ApiResult<NodeListRow> {
    // The database takes no such character, and no node has it.
    if node_id.contains('\0') {
        return Err(not_found());
    }
    node_list::get(tx, node_id)?.ok_or_else(not_found)
}

/// One node: how it stands and what became of what it published.
#[utoipa::path(get, path = "/a2a/nodes/{node_id}", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id")),
    responses((status = 200, body = crate::http::openapi::nodes::Node), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn detail(State(hub): State<SharedHub>, PathId(id): PathId) -> ApiResult<JsonReply> {
    let now = hub.now();
    let found = hub.store.read::<_, ApiError, _>(move |tx| node(tx, &id)).await?;
    Ok(JsonReply::json(&to_view(&found, now)))
}

/// How many events.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NodeActivityParams {
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

/// What a node did lately: what it published and what it reported, newest first.
#[utoipa::path(get, path = "/a2a/nodes/{node_id}/activity", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id"), NodeActivityParams),
    responses((status = 200, body = crate::http::openapi::nodes::NodeActivity), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn activity(
    State(hub): State<SharedHub>,
    PathId(id): PathId,
    QueryParams(asked): QueryParams<NodeActivityParams>,
) -> ApiResult<JsonReply> {
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let (node_id, events) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let node = node(tx, &id)?;
            Ok((node.node_id, recent(tx, &id, limit)?))
        })
        .await?;
    Ok(JsonReply::json(
        &json!({ "node_id": node_id, "count": events.len(), "activity": events, "events": events }),
    ))
}

fn recent(tx: &mut dyn Tx, node_id: &str, limit: usize) -> ApiResult<Vec<Value>> {
    let published = asset_list::published_by(tx, node_id, None, None, i64::MAX, limit)?;
    let reported = list_reports::list(tx, None, Some(node_id), i64::MAX, 0, limit)?;
    let mut events: Vec<(i64, Value)> = published
        .into_iter()
        .map(|listed| {
            let asset = listed.asset;
            let at = asset.created_at;
            (at, json!({ "type": "publish", "asset_id": asset.asset_id, "asset_type": asset.asset_type.as_str(),
                "asset_status": asset.status.as_str(), "bundle_id": asset.bundle_id, "at": Time(at).iso() }))
        })
        .chain(reported.into_iter().map(|report| {
            (report.created_at, json!({ "type": "report", "asset_id": report.asset_id,
                "report_id": report.report_id, "overall_ok": report.overall_ok, "label": report.label,
                "at": Time(report.created_at).iso() }))
        }))
        .collect();
    events.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    events.truncate(limit);
    Ok(events.into_iter().map(|(_, event)| event).collect())
}
