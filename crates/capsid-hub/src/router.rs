//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::error::{ApiError, HubCode};
use crate::middleware;
use crate::routes::openapi::Described;
use crate::routes::{discover, health, hello, openapi, publish, revoke};
use crate::state::Shared;
use axum::{Extension, Router};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(info(
    title = "Capsid hub",
    description = "A registry of what agents learned, speaking GEP-A2A 1.0.0."
))]
struct Head;

/// The router and its description.
pub fn router(hub: Shared) -> (Router, Document) {
    let (router, document) = routes().split_for_parts();
    let described = Described(Arc::new(serde_json::to_value(&document).unwrap_or_default()));
    let router = router.layer(Extension(described)).with_state(Arc::clone(&hub));
    (finish(router, &hub), document)
}

/// Every path. Only `routes` is used to add one, for it puts the path into the description too.
fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(Head::openapi())
        .routes(routes!(hello::hello))
        .routes(routes!(publish::publish))
        .routes(routes!(publish::validate))
        .routes(routes!(revoke::revoke))
        .routes(routes!(revoke::self_revoke))
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::openapi))
        .routes(routes!(discover::skill_page))
        .routes(routes!(discover::topic))
        .routes(routes!(discover::help))
        .routes(routes!(discover::policy))
        .routes(routes!(discover::model_tiers))
}

/// Puts around a router what every request goes through.
pub fn finish(router: Router, hub: &Shared) -> Router {
    middleware::around(router.fallback(no_route).method_not_allowed_fallback(no_route), hub)
}

async fn no_route() -> ApiError {
    ApiError::new(
        HubCode::RouteNotFound,
        "The hub has no such path, or not with this method.",
        "See /openapi.json for every path. Messages are sent with POST to /a2a/<type>, without a second /a2a.",
    )
}
