//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::access;
use crate::error::{ApiError, HubCode};
use crate::routes::{account, admin_users, auth, claim, hello};
use crate::state::Shared;
use axum::Router;
use axum::middleware::from_fn_with_state;
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
        .merge(accounts())
        .split_for_parts();
    let router = router.layer(from_fn_with_state(hub.clone(), access::count_wrong_credentials));
    (router.fallback(no_route).method_not_allowed_fallback(no_route).with_state(hub), document)
}

/// Accounts and what belongs to them.
fn accounts() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(auth::register))
        .routes(routes!(auth::login))
        .routes(routes!(auth::logout))
        .routes(routes!(account::me))
        .routes(routes!(account::password))
        .routes(routes!(account::add_key, account::list_keys))
        .routes(routes!(account::revoke_key))
        .routes(routes!(account::agents))
        .routes(routes!(account::reset_secret))
        .routes(routes!(claim::show, claim::claim))
        .routes(routes!(admin_users::list))
}

async fn no_route() -> ApiError {
    ApiError::new(
        HubCode::RouteNotFound,
        "The hub has no such path, or not with this method.",
        "See /openapi.json for every path. Messages are sent with POST to /a2a/<type>, without a second /a2a.",
    )
}
