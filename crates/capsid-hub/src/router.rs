//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::error::{ApiError, HubCode};
use crate::routes::{hello, publish, revoke};
use crate::state::Shared;
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
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
    let router = router.fallback(no_route).method_not_allowed_fallback(no_route).with_state(hub);
    (router.layer(from_fn(refuse_nul)), document)
}

/// No id, name or word has U+0000 in it, and PostgreSQL cannot be asked for such a text.
async fn refuse_nul(request: Request, next: Next) -> Response {
    if request.uri().to_string().contains("%00") {
        return ApiError::field("the address", "a path and a query without %00", "one with it")
            .into_response();
    }
    next.run(request).await
}

async fn no_route() -> ApiError {
    ApiError::new(
        HubCode::RouteNotFound,
        "The hub has no such path, or not with this method.",
        "See /openapi.json for every path. Messages are sent with POST to /a2a/<type>, without a second /a2a.",
    )
}
