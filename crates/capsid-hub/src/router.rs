//! Every path of the hub, in one list. The OpenAPI document is made from the same list.

use crate::http::openapi::OpenApiDocument;
use crate::routes::{
    accounts, admin, assets, bounties, credits, discovery, evaluation, events, graph, mailbox, memory,
    messages, nodes, pages, runner, services, skills, tasks, webhooks, workers,
};
use crate::server::middleware;
use crate::state::SharedHub;
use axum::middleware::from_fn;
use axum::{Extension, Router};
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
    // The hub's own runner is no client, so its calls are not described.
    let router = router.merge(runner::routes());
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
        .routes(routes!(nodes::identity))
        .routes(routes!(nodes::attestation))
        .routes(routes!(nodes::audit))
        .routes(routes!(nodes::refuse_claim))
        // Moderation, accounts and the audit, by admins.
        .routes(routes!(admin::promote_now))
        .routes(routes!(admin::show_starter_pack, admin::load_starter_pack))
        .routes(routes!(admin::promote))
        .routes(routes!(admin::reject))
        .routes(routes!(admin::quarantine))
        .routes(routes!(admin::release))
        .routes(routes!(admin::list_users))
        .routes(routes!(admin::ban_user))
        .routes(routes!(admin::unban_user))
        .routes(routes!(admin::list_audit))
        .routes(routes!(admin::moderation_cases))
        .routes(routes!(admin::decide_case))
        .routes(routes!(admin::appeal))
        // Strangers, monitors and the pages call these: the hub itself, its guide, rules and numbers.
        .routes(routes!(discovery::root))
        .routes(routes!(discovery::health))
        .routes(routes!(discovery::metrics))
        .routes(routes!(discovery::openapi))
        .routes(routes!(discovery::skill_page))
        .routes(routes!(discovery::skill_reference))
        .routes(routes!(discovery::topic))
        .routes(routes!(discovery::help))
        .routes(routes!(discovery::policy))
        .routes(routes!(discovery::model_tiers))
        .routes(routes!(discovery::stats))
        .routes(routes!(discovery::live))
        .routes(routes!(discovery::trending))
        // Proxies call these for the agents behind them.
        .routes(routes!(mailbox::send))
        .routes(routes!(mailbox::receive))
        .routes(routes!(mailbox::acknowledge))
        .routes(routes!(mailbox::status))
        // Nodes call these to hear what is new.
        .routes(routes!(events::stream))
        .routes(routes!(events::poll))
        // Nodes and their owners call these: what becomes of calls to a node's webhook.
        .routes(routes!(webhooks::show))
        .routes(routes!(webhooks::list_deliveries))
        .routes(routes!(webhooks::replay_delivery))
        .routes(routes!(webhooks::rotate_secret))
        .routes(routes!(webhooks::enable))
        .routes(routes!(webhooks::show_node))
        .routes(routes!(webhooks::list_node_deliveries))
        .routes(routes!(webhooks::replay_node_delivery))
        .routes(routes!(webhooks::send_test_event))
        // Nodes call these: skills that they share, and what they remember.
        .routes(routes!(skills::publish))
        .routes(routes!(skills::update))
        .routes(routes!(skills::list))
        .routes(routes!(skills::fetch))
        .routes(routes!(skills::download, skills::download_as))
        .routes(routes!(skills::withdraw))
        .routes(routes!(skills::delete))
        .routes(routes!(memory::record))
        .routes(routes!(memory::event))
        .routes(routes!(memory::recall))
        .routes(routes!(memory::status))
        // People and the pages call these: an account, its keys and its nodes.
        .routes(routes!(accounts::register))
        .routes(routes!(accounts::welcome))
        .routes(routes!(accounts::login))
        .routes(routes!(accounts::logout))
        .routes(routes!(accounts::me))
        .routes(routes!(accounts::change_password))
        .routes(routes!(accounts::create_api_key, accounts::list_api_keys))
        .routes(routes!(accounts::revoke_api_key))
        .routes(routes!(accounts::agents))
        .routes(routes!(accounts::reset_secret))
        .routes(routes!(accounts::show_claim, accounts::claim_node))
        // Services: nodes that work for each other.
        .routes(routes!(services::publish))
        .routes(routes!(services::list))
        .routes(routes!(services::order))
        .routes(routes!(services::orders))
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
        // Nodes, people and the pages call these: the knowledge graph.
        .routes(routes!(graph::query))
        .routes(routes!(graph::ingest))
        .routes(routes!(graph::forget))
        .routes(routes!(graph::status))
        .routes(routes!(graph::list_own))
        .routes(routes!(graph::draw))
        .routes(routes!(graph::find_path))
        .routes(routes!(graph::advice))
}

/// Paths as they are, and the same ones under `/a2a`, where some clients look for them.
fn with_a2a_alias(paths: fn() -> OpenApiRouter<SharedHub>) -> OpenApiRouter<SharedHub> {
    paths().merge(OpenApiRouter::new().nest("/a2a", paths()))
}

/// Puts around a router what every request goes through.
pub fn finish(router: Router, hub: &SharedHub) -> Router {
    let router = router.fallback(pages::serve_file).method_not_allowed_fallback(pages::no_route);
    middleware::apply_middleware(router.layer(from_fn(pages::serve_browser)), hub)
}
