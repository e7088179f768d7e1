//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::error::{ApiError, HubCode};
use crate::routes::{hello, publish, revoke};
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
