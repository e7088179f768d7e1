//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::error::{ApiError, HubCode};
use crate::http::negotiation::prefers_html;
use crate::ops::accounts::{account, admin_users, auth, claim};
use crate::ops::assets::{evolution_events, fetch, publish, revoke};
use crate::ops::compat::{signal, solidify};
use crate::ops::credits::{billing, credit, statement};
use crate::ops::evaluation::{admin, decision, report, reports, reviews, stake, votes};
use crate::ops::events::events;
use crate::ops::graph::graph_advice;
use crate::ops::hub::openapi::Described;
use crate::ops::hub::{discover, health, live, openapi, stats};
use crate::ops::mailbox::mailbox;
use crate::ops::memory::memory;
use crate::ops::nodes::{heartbeat, hello, nodes, reputation};
use crate::ops::services::{orders, service};
use crate::ops::skills::skill_store;
use crate::ops::tasks::ask;
use crate::ops::webhooks::webhooks;
use crate::ops::workers::work;
use crate::ops::{admin_audit, assets, bounties, graph, tasks};
use crate::serve::middleware;
use crate::state::Shared;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use capsid_web::{Place, answer, pages};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(info(
    title = "Capsid hub",
    description = "A registry of what agents learned, speaking GEP-A2A 1.0.0."
))]
struct Head;

/// The router and its description.
pub fn router(hub: &Shared) -> (Router, Arc<Value>) {
    let (router, description) = described_routes();
    let router = router.layer(Extension(Described(Arc::clone(&description)))).with_state(Arc::clone(hub));
    (finish(router, hub), description)
}

/// The paths and their description, built once: that takes longer than many a test.
fn described_routes() -> (Router<Shared>, Arc<Value>) {
    static BUILT: OnceLock<(Router<Shared>, Arc<Value>)> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let (router, mut document) = routes().split_for_parts();
        crate::http::openapi::complete(&mut document);
        (router, Arc::new(serde_json::to_value(&document).unwrap_or_default()))
    });
    built.clone()
}

/// Every path. Only `routes` is used to add one, for it puts the path into the description too.
fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(Head::openapi())
        .routes(routes!(hello::hello))
        .routes(routes!(publish::publish))
        .routes(routes!(fetch::fetch))
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
        .routes(routes!(votes::vote))
        .routes(routes!(reviews::list, reviews::add))
        .routes(routes!(reviews::change, reviews::remove))
        .routes(routes!(nodes::list))
        .routes(routes!(nodes::detail))
        .routes(routes!(nodes::activity))
        .routes(routes!(reputation::reputation))
        .routes(routes!(stats::stats))
        .routes(routes!(live::live))
        .routes(routes!(stats::trending))
        .routes(routes!(reports::list))
        .routes(routes!(evolution_events::list))
        .routes(routes!(publish::validate))
        .routes(routes!(revoke::revoke))
        .routes(routes!(revoke::self_revoke))
        .routes(routes!(report::report))
        .routes(routes!(decision::decision))
        .routes(routes!(admin::promote_now))
        .routes(routes!(admin::promote))
        .routes(routes!(admin::reject))
        .routes(routes!(admin::quarantine))
        .routes(routes!(admin::release))
        .routes(routes!(discover::root))
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::openapi))
        .routes(routes!(discover::skill_page))
        .routes(routes!(discover::topic))
        .routes(routes!(discover::help))
        .routes(routes!(discover::policy))
        .routes(routes!(discover::model_tiers))
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
        .routes(routes!(admin_users::ban))
        .routes(routes!(admin_users::unban))
        .routes(routes!(admin_audit::list))
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
        .routes(routes!(orders::order))
        .routes(routes!(orders::list))
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
        .merge(twice(tasks::paths))
        .routes(routes!(work::register))
        .routes(routes!(work::available))
        .routes(routes!(work::claim))
        .routes(routes!(work::accept))
        .routes(routes!(work::complete))
        .routes(routes!(work::my))
        .merge(twice(bounties::paths))
        .routes(routes!(ask::ask))
        .merge(twice(billing::paths))
        .routes(routes!(credit::price))
        .routes(routes!(credit::estimate))
        .routes(routes!(credit::economics))
        .routes(routes!(statement::of_node))
        .routes(routes!(statement::of_account))
        .routes(routes!(statement::transfer))
        .routes(routes!(webhooks::show))
        .routes(routes!(webhooks::list))
        .routes(routes!(webhooks::replay))
        .routes(routes!(webhooks::rotate))
        .routes(routes!(webhooks::enable))
        .routes(routes!(webhooks::show_node))
        .routes(routes!(webhooks::list_node))
        .routes(routes!(webhooks::replay_node))
        .routes(routes!(webhooks::test))
        .routes(routes!(graph::query))
        .routes(routes!(graph::ingest))
        .routes(routes!(graph::forget))
        .routes(routes!(graph::status))
        .routes(routes!(graph::my_graph))
        .routes(routes!(graph::draw))
        .routes(routes!(graph::way))
        .routes(routes!(graph_advice::advice))
}

/// Paths as they are, and the same ones under `/a2a`, where some clients look for them.
fn twice(paths: fn() -> OpenApiRouter<Shared>) -> OpenApiRouter<Shared> {
    paths().merge(OpenApiRouter::new().nest("/a2a", paths()))
}

/// Puts around a router what every request goes through.
pub fn finish(router: Router, hub: &Shared) -> Router {
    let router = router.fallback(no_call).method_not_allowed_fallback(no_route);
    middleware::around(router.layer(from_fn(pages_for_browsers)), hub)
}

/// A browser gets a page, also at an address where programs have a call.
async fn pages_for_browsers(request: Request, next: Next) -> Response {
    let is_page = pages::is_page(Place::Hub, request.uri().path());
    if is_page && only_looks(request.method()) && prefers_html(request.headers()) {
        return answer::shell(Place::Hub, StatusCode::OK);
    }
    next.run(request).await
}

/// What is no call may be a file of the pages. A browser that is lost is told so by a page.
async fn no_call(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !only_looks(&method) {
        return no_route().await.into_response();
    }
    match answer::file(uri.path(), &headers) {
        Some(file) => file,
        None if prefers_html(&headers) && !pages::is_for_files(uri.path()) => {
            answer::shell(Place::Hub, StatusCode::NOT_FOUND)
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
