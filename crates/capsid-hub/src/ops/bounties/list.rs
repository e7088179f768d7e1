//! Listing bounties.

use super::view::BountyView;
use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::check_node_id;
use crate::http::{cursor, query, traced_id, validate};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::work::bounties::BountyStatus;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::work::bounties::BountyRow;
use capsid_store::work::bounties::list;
use capsid_store::work::bounties::list::BountyFilter;
use capsid_store::work::tasks::TaskRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    fn check(&self) -> ApiResult<BountyPageRequest> {
        let status = self.status.as_deref().filter(|status| !status.is_empty());
        let words = BountyStatus::ALL.map(BountyStatus::as_str);
        validate::word_or(status, "status", &words)?;
        let name = format!("bounties.{}", status.unwrap_or("all"));
        Ok(BountyPageRequest {
            filter: BountyFilter { status: status.and_then(BountyStatus::parse), creator: None },
            before: read_position(&name, self.cursor.as_deref())?,
            limit: query::limit(self.limit.as_deref(), 20, 100),
            name,
        })
    }
}

/// The position in a list that a cursor stands for.
pub fn read_position(list: &str, after: Option<&str>) -> ApiResult<i64> {
    match cursor::read_parts::<1>(list, after)? {
        None => Ok(i64::MAX),
        Some([seq]) => seq.parse().map_err(|_| {
            ApiError::new(
                HubCode::InvalidCursor,
                "The cursor was not given out by this hub for this list.",
                "Use `next_cursor` of the answer before as it is, or leave `cursor` out to begin again.",
            )
        }),
    }
}

/// A page of bounties.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BountyPage)]
pub struct ListBountiesResponse {
    count: i64,
    bounties: Vec<BountyView>,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
    total: i64,
}

/// Cuts a list, of which one row more than asked for was read, to a page, and gives the cursor of the next one.
pub fn cut_page(list: &str, found: &mut Vec<(BountyRow, TaskRow)>, limit: i64) -> Option<String> {
    let has_more = found.len() as i64 > limit;
    found.truncate(limit as usize);
    let last = found.last().filter(|_| has_more);
    last.map(|(last, _)| cursor::write_parts(&[list, &last.seq.to_string()]))
}

fn load_page(tx: &mut dyn Tx, page: &BountyPageRequest, now: Time) -> ApiResult<ListBountiesResponse> {
    let mut found = list::list(tx, &page.filter, page.before, page.limit + 1)?;
    let next_cursor = cut_page(&page.name, &mut found, page.limit);
    Ok(ListBountiesResponse {
        count: found.len() as i64,
        bounties: found.iter().map(|(bounty, task)| BountyView::from_rows(bounty, task, now)).collect(),
        has_more: next_cursor.is_some(),
        next_cursor,
        total: list::count(tx, &page.filter)?,
    })
}

/// Lists bounties, the newest first.
#[tracing::instrument(skip_all)]
pub async fn list_bounties(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListBountiesParams,
) -> ApiResult<ListBountiesResponse> {
    hub.limit_reads(credentials).await?;
    let (page, now) = (params.check()?, hub.now());
    hub.store.read::<_, ApiError, _>(move |tx| load_page(tx, &page, now)).await
}

/// Lists the bounties of the account that asks, or of one of its nodes, the newest first.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_own_bounties(
    hub: &SharedHub,
    credentials: Credentials,
    params: &ListBountiesParams,
) -> ApiResult<ListBountiesResponse> {
    hub.limit_reads(&credentials).await?;
    let (mut page, now) = (params.check()?, hub.now());
    match params.node_id.as_deref().filter(|id| !id.is_empty()) {
        Some(node_id) => {
            check_node_id(node_id, "node_id")?;
            page.filter.creator = Some(ledger::node_account(node_id));
            Sender::new(node_id, credentials).read(hub, move |tx, _| load_page(tx, &page, now)).await
        }
        None => {
            let load = move |tx: &mut dyn Tx| {
                let user = require_user(tx, &credentials, now)?;
                page.filter.creator = Some(ledger::user_account(&user.user_id));
                load_page(tx, &page, now)
            };
            hub.store.read::<_, ApiError, _>(load).await
        }
    }
}
