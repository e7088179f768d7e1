//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::error::{ApiError, HubCode};
use crate::http::negotiation::prefers_html;
use crate::ops::accounts::{admin as account_admin, claim, profile, register as account_register};
use crate::ops::events::stream;
use crate::ops::graph::advice;
use crate::ops::hub::openapi::OpenApiDocument;
use crate::ops::hub::{guide, health, live_stats, openapi, stats};
use crate::ops::mailbox::send;
use crate::ops::memory::record;
use crate::ops::skills::publish as skill_publish;
use crate::ops::webhooks::manage;
use crate::ops::{audit, graph};
use crate::routes::{
    admin, assets, bounties, credits, evaluation, messages, nodes, services, tasks, workers,
};
use crate::server::middleware;
use crate::state::SharedHub;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use capsid_web::{PageHost, pages, response};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(title = "Capsid hub", description = "A registry of what agents learned, speaking GEP-A2A 1.0.0."),
    components(schemas(crate::http::openapi::ErrorBody))
)]
struct ApiInfo;

/// The router and its description.
pub fn router(hub: &SharedHub) -> (Router, Arc<Value>) {
    let (router, description) = described_routes();
    let router =
        router.layer(Extension(OpenApiDocument(Arc::clone(&description)))).with_state(Arc::clone(hub));
    (finish(router, hub), description)
}

/// The paths and their description, built once: that takes longer than many a test.
fn described_routes() -> (Router<SharedHub>, Arc<Value>) {
    static BUILT: OnceLock<(Router<SharedHub>, Arc<Value>)> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let (router, mut document) = routes().split_for_parts();
        crate::http::openapi::complete(&mut document);
        (router, Arc::new(serde_json::to_value(&document).unwrap_or_default()))
    });
    built.clone()
}

/// Every path. Only `routes` is used to add one, for it puts the path into the description too.
fn routes() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::with_openapi(ApiInfo::openapi())
        // Messages of nodes.
        .routes(routes!(messages::hello))
        .routes(routes!(messages::publish))
        .routes(routes!(messages::validate))
        .routes(routes!(messages::fetch))
        .routes(routes!(messages::report))
        .routes(routes!(messages::decision))
        .routes(routes!(messages::revoke))
        .routes(routes!(messages::heartbeat))
        .routes(routes!(messages::analyze_signals))
        .routes(routes!(messages::verify_solidify))
        // Assets, for nodes and pages.
        .routes(routes!(assets::list))
        .routes(routes!(assets::facets))
        .routes(routes!(assets::search))
        .routes(routes!(assets::semantic_search))
        .routes(routes!(assets::ranked))
        .routes(routes!(assets::purchased))
        .routes(routes!(assets::published_by_me))
        .routes(routes!(assets::detail))
        .routes(routes!(assets::verify))
        .routes(routes!(assets::audit_trail))
        .routes(routes!(assets::lineage))
        .routes(routes!(assets::usage))
        .routes(routes!(assets::evolution_events))
        .routes(routes!(assets::self_revoke))
        // Evaluation, by nodes and accounts; validators stake.
        .routes(routes!(evaluation::vote))
        .routes(routes!(evaluation::list_reviews, evaluation::add_review))
        .routes(routes!(evaluation::change_review, evaluation::delete_review))
        .routes(routes!(evaluation::list_reports))
        .routes(routes!(evaluation::stake))
        .routes(routes!(evaluation::unstake))
        .routes(routes!(evaluation::stake_status))
        // Nodes, for pages and other nodes.
        .routes(routes!(nodes::list))
        .routes(routes!(nodes::detail))
        .routes(routes!(nodes::activity))
        .routes(routes!(nodes::reputation))
        // Moderation, by admins.
        .routes(routes!(admin::promote_now))
        .routes(routes!(admin::promote))
        .routes(routes!(admin::reject))
        .routes(routes!(admin::quarantine))
        .routes(routes!(admin::release))
        .routes(routes!(stats::stats))
        .routes(routes!(live_stats::live))
        .routes(routes!(stats::trending))
        .routes(routes!(guide::root))
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::openapi))
        .routes(routes!(guide::skill_page))
        .routes(routes!(guide::topic))
        .routes(routes!(guide::help))
        .routes(routes!(guide::policy))
        .routes(routes!(guide::model_tiers))
        .routes(routes!(account_register::register))
        .routes(routes!(account_register::login))
        .routes(routes!(account_register::logout))
        .routes(routes!(profile::me))
        .routes(routes!(profile::password))
        .routes(routes!(profile::add_key, profile::list_keys))
        .routes(routes!(profile::revoke_key))
        .routes(routes!(profile::agents))
        .routes(routes!(profile::reset_secret))
        .routes(routes!(claim::show, claim::claim))
        .routes(routes!(account_admin::list))
        .routes(routes!(account_admin::ban))
        .routes(routes!(account_admin::unban))
        .routes(routes!(audit::list))
        .routes(routes!(stream::stream))
        .routes(routes!(stream::poll))
        .routes(routes!(record::record))
        .routes(routes!(record::event))
        .routes(routes!(record::recall))
        .routes(routes!(record::status))
        // Services: nodes that work for each other.
        .routes(routes!(services::publish))
        .routes(routes!(services::list))
        .routes(routes!(services::order))
        .routes(routes!(services::orders))
        .routes(routes!(send::outbound))
        .routes(routes!(send::inbound))
        .routes(routes!(send::ack))
        .routes(routes!(send::status))
        .routes(routes!(skill_publish::publish))
        .routes(routes!(skill_publish::update))
        .routes(routes!(skill_publish::list))
        .routes(routes!(skill_publish::download, skill_publish::download_counted))
        .routes(routes!(skill_publish::withdraw))
        .routes(routes!(skill_publish::delete))
        // Tasks, bounties and workers: nodes that work, and nodes and people that ask.
        .merge(with_a2a_alias(tasks::paths))
        .routes(routes!(workers::register))
        .routes(routes!(workers::available))
        .routes(routes!(workers::claim))
        .routes(routes!(workers::accept))
        .routes(routes!(workers::complete))
        .routes(routes!(workers::my))
        .merge(with_a2a_alias(bounties::paths))
        .routes(routes!(tasks::ask))
        // Credits: nodes and people.
        .merge(with_a2a_alias(credits::billing_paths))
        .routes(routes!(credits::price))
        .routes(routes!(credits::estimate))
        .routes(routes!(credits::economics))
        .routes(routes!(credits::node_statement))
        .routes(routes!(credits::account_statement))
        .routes(routes!(credits::transfer))
        .routes(routes!(manage::show))
        .routes(routes!(manage::list))
        .routes(routes!(manage::replay))
        .routes(routes!(manage::rotate))
        .routes(routes!(manage::enable))
        .routes(routes!(manage::show_node))
        .routes(routes!(manage::list_node))
        .routes(routes!(manage::replay_node))
        .routes(routes!(manage::test))
        .routes(routes!(graph::query))
        .routes(routes!(graph::ingest))
        .routes(routes!(graph::forget))
        .routes(routes!(graph::status))
        .routes(routes!(graph::my_graph))
        .routes(routes!(graph::draw_graph))
        .routes(routes!(graph::find_path))
        .routes(routes!(advice::advice))
}

/// Paths as they are, and the same ones under `/a2a`, where some clients look for them.
fn with_a2a_alias(paths: fn() -> OpenApiRouter<SharedHub>) -> OpenApiRouter<SharedHub> {
    paths().merge(OpenApiRouter::new().nest("/a2a", paths()))
}

/// Puts around a router what every request goes through.
pub fn finish(router: Router, hub: &SharedHub) -> Router {
    let router = router.fallback(no_call).method_not_allowed_fallback(no_route);
    middleware::apply_middleware(router.layer(from_fn(pages_for_browsers)), hub)
}

/// A browser gets a page, also at an address where programs have a call.
async fn pages_for_browsers(request: Request, next: Next) -> Response {
    let is_page = pages::is_page(PageHost::Hub, request.uri().path());
    if is_page && only_looks(request.method()) && prefers_html(request.headers()) {
        return response::shell(PageHost::Hub, StatusCode::OK);
    }
    next.run(request).await
}

/// What is no call may be a file of the pages. A browser that is lost is told so by a page.
async fn no_call(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !only_looks(&method) {
        return no_route().await.into_response();
    }
    match response::file(uri.path(), &headers) {
        Some(file) => file,
        None if prefers_html(&headers) && !pages::is_for_files(uri.path()) => {
            response::shell(PageHost::Hub, StatusCode::NOT_FOUND)
        }
        None => no_route().await.into_response(),
    }
}

fn only_looks(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

async fn no_route() -> ApiError {
    ApiError::new(
        HubCode::RouteNotFound,
        "The hub has no such path, or not with this method.",
        "See /openapi.json for every path. Messages are sent with POST to /a2a/<type>, without a second /a2a.",
    )
}
