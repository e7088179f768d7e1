//! Looking at bounties.

use super::not_found;
use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::query;
use crate::http::query::{PathId, QueryParams};
use crate::http::{cursor, validate};
use crate::ops::bounties::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::work::bounties::BountyStatus;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::work::bounties;
use capsid_store::work::bounties::BountyRow;
use capsid_store::work::bounties::list;
use capsid_store::work::bounties::list::BountyFilter;
use capsid_store::work::tasks;
use capsid_store::work::tasks::TaskRow;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Which bounties are wanted.
#[derive(Debug, Clone, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListBountiesParams {
    /// Only those that stand so: open, claimed, matched, accepted, expired or cancelled.
    status: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// Where to go on: `next_cursor` of the answer before.
    cursor: Option<String>,
    /// For your own bounties: those of this node instead of the account's.
    node_id: Option<String>,
}

/// A page that was asked for.
#[derive(Debug, Clone)]
struct BountyPageRequest {
    filter: BountyFilter,
    before: i64,
    limit: i64,
    name: String,
}

impl ListBountiesParams {
    fn page(&self) -> ApiResult<BountyPageRequest> {
        let status = self.status.as_deref().filter(|status| !status.is_empty());
        let words = BountyStatus::ALL.map(BountyStatus::as_str);
        validate::word_or(status, "status", &words)?;
        let name = format!("bounties.{}", status.unwrap_or("all"));
        Ok(BountyPageRequest {
            filter: BountyFilter { status: status.and_then(BountyStatus::parse), creator: None },
            before: place(&name, self.cursor.as_deref())?,
            limit: query::limit(self.limit.as_deref(), 20, 100),
            name,
        })
    }
}

/// The place in a list that a cursor stands for.
pub fn place(list: &str, after: Option<&str>) -> ApiResult<i64> {
    match cursor::read_parts::<1>(list, after)? {
        None => Ok(i64::MAX),
        Some([seq]) => seq.parse().map_err(|_| {
            ApiError::new(
                crate::error::HubCode::InvalidCursor,
                "The cursor was not given out by this hub for this list.",
                "Use `next_cursor` of the answer before as it is, or leave `cursor` out to begin again.",
            )
        }),
    }
}

/// A page of bounties, of which one more than asked for was read.
pub fn page(
    list: &str,
    mut found: Vec<(BountyRow, TaskRow)>,
    limit: i64,
    show: impl Fn(&BountyRow, &TaskRow) -> Map<String, Value>,
) -> Map<String, Value> {
    let more = found.len() as i64 > limit;
    found.truncate(limit as usize);
    let next =
        found.last().filter(|_| more).map(|(last, _)| cursor::write_parts(&[list, &last.seq.to_string()]));
    let rows: Vec<Value> = found.iter().map(|(bounty, task)| show(bounty, task).into()).collect();
    let mut told = Map::new();
    told.insert("count".to_owned(), rows.len().into());
    told.insert("bounties".to_owned(), rows.into());
    told.insert("has_more".to_owned(), more.into());
    told.insert("next_cursor".to_owned(), next.into());
    told
}

fn read(tx: &mut dyn Tx, asked: &BountyPageRequest, now: Time) -> ApiResult<Map<String, Value>> {
    let found = list::list(tx, &asked.filter, asked.before, asked.limit + 1)?;
    let mut told = page(&asked.name, found, asked.limit, |bounty, task| view::row(bounty, task, now));
    told.insert("total".to_owned(), list::count(tx, &asked.filter)?.into());
    Ok(told)
}

/// Lists bounties, the newest first.
#[utoipa::path(get, path = "/bounty/list", operation_id = "bounty_list", tag = "bounties", params(ListBountiesParams),
    responses((status = 200, body = crate::http::openapi::bounties::BountyPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListBountiesParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (page, now) = (query.page()?, hub.now());
    let told = hub.store.read::<_, ApiError, _>(move |tx| read(tx, &page, now)).await?;
    Ok(JsonReply::json(&told))
}

/// Lists the bounties of the account that asks, or of one of its nodes, the newest first.
#[utoipa::path(get, path = "/bounty/my", operation_id = "bounty_my", tag = "bounties", params(ListBountiesParams),
    responses((status = 200, body = crate::http::openapi::bounties::BountyPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn my(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListBountiesParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (mut page, now) = (query.page()?, hub.now());
    let told = match query.node_id.filter(|id| !id.is_empty()) {
        Some(node_id) => {
            check_node_id(&node_id, "node_id")?;
            page.filter.creator = Some(ledger::node_account(&node_id));
            hub.authenticate_reader(&node_id, &credentials, move |tx, _| read(tx, &page, now)).await?
        }
        None => {
            let read = move |tx: &mut dyn Tx| {
                let user = require_user(tx, &credentials, now)?;
                page.filter.creator = Some(ledger::user_account(&user.user_id));
                read(tx, &page, now)
            };
            hub.store.read::<_, ApiError, _>(read).await?
        }
    };
    Ok(JsonReply::json(&told))
}

/// Shows a bounty, what was handed in for it, and what became of the credits.
#[utoipa::path(get, path = "/bounty/{id}", operation_id = "bounty_detail", tag = "bounties",
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = crate::http::openapi::bounties::BountyDetail), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn detail(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let now = hub.now();
    let told = hub.store.read::<_, ApiError, _>(move |tx| load_bounty_view(tx, &bounty_id, now)).await?;
    Ok(JsonReply::json(&told))
}

/// A bounty with all that is known of it.
pub fn load_bounty_view(tx: &mut dyn Tx, bounty_id: &str, now: Time) -> ApiResult<Value> {
    let bounty = bounties::get(tx, bounty_id)?.ok_or_else(|| not_found(bounty_id))?;
    let task = tasks::get(tx, &bounty.task_id)?.ok_or_else(|| not_found(bounty_id))?;
    Ok(json!(view::detail(tx, &bounty, &task, now)?))
}
