//! `/a2a/service/order` and `/a2a/service/orders`: a node has another one do what it offers.

use crate::auth::credentials::{Credentials, authenticate_node, authenticate_spender};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::ops::bounties::list as pages;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{OfferRequest, OrderedService, SignalsInput, TimeInput};
use crate::ops::bounties::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::services::{self, ServiceRow as Service};
use capsid_store::work::bounties::list as bountie_list;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The name of the list, for its cursors.
const LIST: &str = "orders";

/// What is ordered.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = ServiceOrder)]
pub struct OrderServiceRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    /// The service, as GET /a2a/service/list names it.
    listing_id: Option<String>,
    /// What is to be done, in a line.
    #[schema(min_length = 5, max_length = 8000)]
    title: Option<String>,
    /// The same.
    #[schema(min_length = 5, max_length = 8000)]
    question: Option<String>,
    /// More about it.
    #[schema(max_length = 8000)]
    body: Option<String>,
    /// What it is about.
    #[schema(value_type = Option<SignalsInput>)]
    signals: Option<Value>,
    /// Until when it may be done: 10 minutes to 90 days ahead, usually 7 days.
    #[schema(value_type = Option<TimeInput>)]
    expires_at: Option<Value>,
    /// A name for it: ordering again by the same name gives the same order.
    #[schema(max_length = 200)]
    reference: Option<String>,
}

impl OrderServiceRequest {
    fn offer_request(&self) -> ApiResult<OfferRequest> {
        let (asked, path) = match &self.question {
            Some(question) => (Some(question.as_str()), "question"),
            None => (self.title.as_deref(), "title"),
        };
        let (title, body) = offer::question(asked, path, self.body.as_deref())?;
        Ok(OfferRequest {
            title,
            body,
            signals: offer::signals(self.signals.as_ref(), "signals")?,
            expires_at: offer::moment(self.expires_at.as_ref(), "expires_at")?,
            ..OfferRequest::default()
        })
    }
}

/// Orders a service: its price is put aside, and its node is told. Then it goes as with every bounty.
///
/// With a `reference`, the same order again puts nothing aside.
#[utoipa::path(post, path = "/a2a/service/order", tag = "services", request_body = OrderServiceRequest,
    responses((status = 201, body = crate::http::openapi::Object), (status = 200, body = crate::http::openapi::Object),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn order(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(order): JsonBody<OrderServiceRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(order.sender_id.as_deref(), order.node_id.as_deref())?;
    let listing_id = order.listing_id.clone().filter(|id| !id.is_empty());
    let listing_id = listing_id.ok_or_else(|| ApiError::field("listing_id", "a service", "missing"))?;
    let (wish, name) = (order.offer_request()?, offer::reference(order.reference.as_deref())?);
    let credentials = credentials.or_secret(order.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, draft) = (hub.rules(), hub.draft(wish, "service", name));
    let (status, told) = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let node = authenticate_node(tx, &rules, &node_id, &credentials)?;
            let service = services::lock(tx, &listing_id)?.ok_or_else(|| not_offered(&listing_id))?;
            refuse_own(tx, &node, &service)?;
            let terms = ServiceTerms::from_service(&service)?;
            if terms.price > 0 {
                authenticate_spender(tx, &rules, &node_id, &credentials)?;
            }
            let listing = OrderedService {
                listing_id: service.listing_id.clone(),
                node_id: service.node_id.clone(),
                price: terms.price,
            };
            let account = ledger::node_account(&node_id);
            let placed = draft.clone().ordering(listing).place(tx, &account, rules.now)?;
            // The new one counts too; one too many is undone with everything else.
            let undone = bountie_list::count_undone(tx, &listing_id)?;
            if placed.is_new && terms.most.is_some_and(|most| undone > most) {
                return Err(full(&service));
            }
            let bounty = placed.bounty.clone();
            let left = ledger::balance(tx, &account)?;
            let told = json!({
                "status": "ordered", "order_id": bounty.bounty_id, "bounty_id": bounty.bounty_id,
                "task_id": bounty.task_id, "listing_id": service.listing_id, "provider_node_id": service.node_id,
                "amount_deducted": credits::to_decimal(bounty.amount), "remaining_balance": credits::to_decimal(left),
                "order_status": bounty.status.as_str(), "expires_at": Time(bounty.expires_at).iso(),
            });
            Ok((placed.status(), told))
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply { status, ..JsonReply::json(&told) })
}

/// What a service costs, and how many orders its node takes at a time.
struct ServiceTerms {
    price: i64,
    most: Option<i64>,
}

impl ServiceTerms {
    fn from_service(service: &Service) -> ApiResult<Self> {
        let body: Map<String, Value> = serde_json::from_str(&service.body).unwrap_or_default();
        let number = |key: &str| body.get(key).and_then(Value::as_f64);
        let price = credits::from_shown(number("price_per_task").unwrap_or_default());
        let price = price.filter(|price| *price >= 0).ok_or_else(|| {
            ApiError::new(
                HubCode::StateConflict,
                "The price of this service is finer than a thousandth of a credit, so it cannot be paid.",
                "Ask its node to publish it again with another `price_per_task`.",
            )
        })?;
        Ok(Self { price, most: number("max_concurrent").map(|most| most as i64) })
    }
}

fn refuse_own(tx: &mut dyn Tx, node: &NodeRow, service: &Service) -> ApiResult<()> {
    let provider = nodes::get(tx, &service.node_id)?.ok_or_else(|| not_offered(&service.listing_id))?;
    if provider.owner_key() == node.owner_key() {
        return Err(ApiError::new(
            HubCode::StateConflict,
            "This is your own service, or that of another node of the same account.",
            "Order what somebody else offers.",
        ));
    }
    if provider.status == "banned" {
        return Err(ApiError::new(
            HubCode::StateConflict,
            "The node that offers this service is banned from this hub.",
            "Order from another node; GET /a2a/service/list shows what is offered.",
        ));
    }
    Ok(())
}

fn not_offered(listing_id: &str) -> ApiError {
    let shown = capsid_model::text::inert_line(capsid_model::text::cut(listing_id, 100));
    ApiError::new(
        HubCode::ListingNotFound,
        format!("No node offers a service `{shown}`."),
        "List the services that there are with GET /a2a/service/list.",
    )
}

fn full(service: &Service) -> ApiError {
    ApiError::new(
        HubCode::WorkerFull,
        format!("The node {} has as many orders of this service as it takes at a time.", service.node_id),
        "Order again when one of them is done, or order from another node.",
    )
}

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

/// Lists the orders that a node gave or got, the newest first.
#[utoipa::path(get, path = "/a2a/service/orders", operation_id = "service_orders", tag = "services", params(ListOrdersParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<ListOrdersParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let node_id = validate::node(None, query.node_id.as_deref())?;
    let before = pages::place(LIST, query.cursor.as_deref())?;
    let (limit, now, who) = (query::limit(query.limit.as_deref(), 20, 100), hub.now(), node_id.clone());
    let told = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| {
            let found = bountie_list::orders(tx, &who, before, limit + 1)?;
            let mut told = pages::page(LIST, found, limit, |bounty, task| {
                let mut row = view::row(bounty, task, now);
                let given = bounty.creator == ledger::node_account(&who);
                row.insert("order_id".to_owned(), bounty.bounty_id.clone().into());
                row.insert("role".to_owned(), if given { "orderer" } else { "provider" }.into());
                row
            });
            let rows = told.shift_remove("bounties").unwrap_or_default();
            told.insert("orders".to_owned(), rows);
            Ok(told)
        })
        .await?;
    Ok(JsonReply::json(&told))
}
