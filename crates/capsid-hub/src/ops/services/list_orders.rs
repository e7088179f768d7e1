//! Which orders a node gave or got.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::ApiResult;
use crate::http::{query, traced_id, validate};
use crate::ops::bounties::list as bounty_pages;
use crate::ops::bounties::view::BountyView;
use crate::state::SharedHub;
use capsid_store::ledger;
use capsid_store::work::bounties::list as bounty_list;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The name of the list, for its cursors.
const LIST: &str = "orders";

/// Whose orders are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListOrdersParams {
    /// The node that gave or got them.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// Where to go on: `next_cursor` of the answer before.
    cursor: Option<String>,
}

/// A page of orders.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListOrdersResponse {
    count: i64,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
    orders: Vec<OrderView>,
}

/// An order, which is a bounty for one node.
#[derive(Debug, Serialize, ToSchema)]
pub struct OrderView {
    #[serde(flatten)]
    bounty: BountyView,
    order_id: String,
    /// orderer or provider.
    role: &'static str,
}

/// Lists the orders that a node gave or got, the newest first.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_orders(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListOrdersParams,
) -> ApiResult<ListOrdersResponse> {
    hub.limit_reads(credentials).await?;
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let before = bounty_pages::read_position(LIST, params.cursor.as_deref())?;
    let (limit, now, who) = (query::limit(params.limit.as_deref(), 20, 100), hub.now(), node_id.clone());
    Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, _| {
            let mut found = bounty_list::orders(tx, &who, before, limit + 1)?;
            let next_cursor = bounty_pages::cut_page(LIST, &mut found, limit);
            let account = ledger::node_account(&who);
            let orders = found.iter().map(|(bounty, task)| OrderView {
                bounty: BountyView::from_rows(bounty, task, now),
                order_id: bounty.bounty_id.clone(),
                role: if bounty.creator == account { "orderer" } else { "provider" },
            });
            Ok(ListOrdersResponse {
                count: found.len() as i64,
                has_more: next_cursor.is_some(),
                next_cursor,
                orders: orders.collect(),
            })
        })
        .await
}
