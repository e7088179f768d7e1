//! Ordering a service: a node has another one do what it offers.

use super::publish::ServiceTerms;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::auth::sender_fields::sender_fields;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::ops::bounties::offer;
use crate::ops::bounties::offer::{
    OfferRequest, OrderedService, Placed, PlacedBounty, SignalsInput, TimeInput,
};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::work::bounties::BountyStatus;
use capsid_store::db::tx::Tx;
use capsid_store::ledger;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::services::{self, ServiceRow};
use capsid_store::work::bounties::list as bounty_list;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use utoipa::ToSchema;

/// What is ordered.
#[derive(Debug, Deserialize, ToSchema)]
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

sender_fields!(OrderServiceRequest);

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

/// A service that was ordered.
#[derive(Debug, Serialize, ToSchema)]
pub struct OrderServiceResponse {
    status: &'static str,
    order_id: String,
    bounty_id: String,
    task_id: String,
    listing_id: String,
    provider_node_id: String,
    #[schema(value_type = f64)]
    amount_deducted: Number,
    #[schema(value_type = f64)]
    remaining_balance: Number,
    order_status: BountyStatus,
    expires_at: String,
}

/// Orders a service: its price is held in escrow, and its node is notified. Then it goes as with every bounty.
#[tracing::instrument(skip_all, fields(node.id = request.sender().traced(), listing.id = request.listing_id.as_deref().map(traced_id)))]
pub async fn order_service(
    hub: &SharedHub,
    credentials: Credentials,
    request: &OrderServiceRequest,
) -> ApiResult<Placed<OrderServiceResponse>> {
    let node_id = request.sender().node_id()?;
    let listing_id = request.listing_id.clone().filter(|id| !id.is_empty());
    let listing_id = listing_id.ok_or_else(|| ApiError::field("listing_id", "a service", "missing"))?;
    let (offer, name) = (request.offer_request()?, offer::reference(request.reference.as_deref())?);
    let sender = Sender::new(&node_id, request.sender().credentials(credentials));
    hub.limit_calls(&sender).await?;
    let (context, draft) = (hub.context(), hub.draft(offer, "service", name));
    let placed = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let node = sender.lock(tx, &context)?;
            let service = services::lock(tx, &listing_id)?.ok_or_else(|| not_offered(&listing_id))?;
            refuse_own(tx, &node, &service)?;
            let terms = ServiceTerms::from_row(&service)?;
            let price = price(&terms)?;
            if price > 0 {
                sender.check_spender(tx, &context, &node)?;
            }
            let listing = OrderedService {
                listing_id: service.listing_id.clone(),
                node_id: service.node_id.clone(),
                price,
            };
            let account = ledger::node_account(&node_id);
            let PlacedBounty { bounty, is_new } =
                draft.clone().ordering(listing).place(tx, &account, context.now)?;
            // The new one counts too; one too many is undone with everything else.
            let undone = bounty_list::count_undone(tx, &listing_id)?;
            let most = terms.max_concurrent.as_ref().and_then(Number::as_f64).map(|most| most as i64);
            if is_new && most.is_some_and(|most| undone > most) {
                return Err(full(&service));
            }
            let left = ledger::balance(tx, &account)?;
            let response = OrderServiceResponse {
                status: "ordered",
                order_id: bounty.bounty_id.clone(),
                bounty_id: bounty.bounty_id,
                task_id: bounty.task_id,
                listing_id: service.listing_id,
                provider_node_id: service.node_id,
                amount_deducted: credits::to_decimal(bounty.amount),
                remaining_balance: credits::to_decimal(left),
                order_status: bounty.status,
                expires_at: Time(bounty.expires_at).iso(),
            };
            Ok(Placed { is_new, response })
        })
        .await?;
    hub.events.notify();
    Ok(placed)
}

/// What a service costs, in milli-credits.
fn price(terms: &ServiceTerms) -> ApiResult<i64> {
    let price = terms.price_per_task.as_ref().and_then(Number::as_f64).unwrap_or_default();
    credits::from_shown(price).filter(|price| *price >= 0).ok_or_else(|| {
        ApiError::new(
            HubCode::StateConflict,
            "The price of this service is finer than a thousandth of a credit, so it cannot be paid.",
            "Ask its node to publish it again with another `price_per_task`.",
        )
    })
}

fn refuse_own(tx: &mut dyn Tx, node: &NodeRow, service: &ServiceRow) -> ApiResult<()> {
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

fn full(service: &ServiceRow) -> ApiError {
    ApiError::new(
        HubCode::WorkerFull,
        format!("The node {} has as many orders of this service as it takes at a time.", service.node_id),
        "Order again when one of them is done, or order from another node.",
    )
}
