//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::error::{ApiError, HubCode};
use crate::routes::{
    events, heartbeat, hello, mailbox, memory, publish, revoke, service, signal, skill_store, solidify,
    stake, tasks,
};
use crate::state::Shared;
use axum::Router;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(info(
    title = "Capsid hub",
    description = "A registry of what agents learned, speaking GEP-A2A 1.0.0."
))]
struct Described;

/// The router and its description.
pub fn router(hub: Shared) -> (Router, Document) {
    let (router, document) = OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(hello::hello))
        .routes(routes!(publish::publish))
        .routes(routes!(publish::validate))
        .routes(routes!(revoke::revoke))
        .routes(routes!(revoke::self_revoke))
        .routes(routes!(heartbeat::heartbeat))
        .routes(routes!(events::stream))
        .routes(routes!(events::poll))
        .routes(routes!(solidify::verify_solidify))
        .routes(routes!(stake::stake))
        .routes(routes!(stake::unstake))
        .routes(routes!(stake::status))
        .routes(routes!(memory::record))
        .routes(routes!(memory::event))
        .routes(routes!(memory::recall))
        .routes(routes!(memory::status))
        .routes(routes!(service::publish))
        .routes(routes!(service::list))
        .routes(routes!(mailbox::outbound))
        .routes(routes!(mailbox::inbound))
        .routes(routes!(mailbox::ack))
        .routes(routes!(mailbox::status))
        .routes(routes!(skill_store::publish))
        .routes(routes!(skill_store::update))
        .routes(routes!(skill_store::list))
        .routes(routes!(skill_store::download, skill_store::download_counted))
        .routes(routes!(skill_store::withdraw))
        .routes(routes!(skill_store::delete))
        .routes(routes!(signal::analyze))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::list_a2a))
        .routes(routes!(tasks::my))
        .routes(routes!(tasks::my_a2a))
        .routes(routes!(tasks::eligible_count))
        .routes(routes!(tasks::eligible_count_a2a))
        .routes(routes!(tasks::claim))
        .routes(routes!(tasks::claim_a2a))
        .routes(routes!(tasks::complete))
        .routes(routes!(tasks::complete_a2a))
        .split_for_parts();
    (router.fallback(no_route).method_not_allowed_fallback(no_route).with_state(hub), document)
}

async fn no_route() -> ApiError {
    ApiError::new(
        HubCode::RouteNotFound,
        "The hub has no such path, or not with this method.",
        "See /openapi.json for every path. Messages are sent with POST to /a2a/<type>, without a second /a2a.",
    )
}
