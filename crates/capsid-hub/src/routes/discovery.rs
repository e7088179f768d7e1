//! What a stranger, a monitor or a page asks first: the hub itself, its guide, its rules and its numbers.

use super::events::server_sent_events;
use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::openapi::{ErrorBody, OpenApiDocument};
use crate::http::query::QueryParams;
use crate::ops::hub::guide::{
    self, GuideTopicParams, GuideTopicResponse, HelpParams, HelpResponse, RootResponse,
};
use crate::ops::hub::health::{self, HealthResponse};
use crate::ops::hub::live_stats::{self, LiveStatsParams};
use crate::ops::hub::policy::{self, ModelTiersResponse, PolicyResponse};
use crate::ops::hub::stats::{self, StatsResponse, TrendingParams, TrendingResponse};
use crate::state::SharedHub;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::Value;

/// Points to where a stranger reads on. A browser gets the first page.
#[utoipa::path(get, path = "/", tag = "discovery", responses(
    (status = 200, content((RootResponse = "application/json"), (String = "text/html")))))]
pub async fn root() -> Json<RootResponse> {
    Json(guide::show_root())
}

/// Tells whether the hub and its database work.
///
/// 200 when the database can be read and written and has the schema of this program, else 503. `checks` tells each, and
/// what is `degraded`: the clock, the log, or a private hub that the whole internet can reach.
#[utoipa::path(get, path = "/health", tag = "hub",
    responses((status = 200, body = HealthResponse), (status = 503, body = HealthResponse)))]
pub async fn health(State(hub): State<SharedHub>) -> (StatusCode, Json<HealthResponse>) {
    let health = health::check_health(&hub).await;
    let status = if health.is_ok() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(health))
}

/// What the hub counts of itself, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "hub",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn metrics(State(hub): State<SharedHub>) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], health::metrics(&hub).await).into_response()
}

/// Describes every call of this hub.
#[utoipa::path(get, path = "/openapi.json", tag = "hub", responses((status = 200, body = Object)))]
pub async fn openapi(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
) -> Json<Value> {
    Json(guide::describe_calls(&hub, &described.0))
}

/// Explains this hub to an agent, in samples that it can run with curl.
#[utoipa::path(get, path = "/skill.md", tag = "discovery",
    responses((status = 200, body = String, content_type = "text/markdown")))]
pub async fn skill_page(State(hub): State<SharedHub>) -> Response {
    markdown(guide::render_guide(&hub))
}

/// Explains every topic, and every call with a sample.
#[utoipa::path(get, path = "/skill-reference.md", tag = "discovery",
    responses((status = 200, body = String, content_type = "text/markdown")))]
pub async fn skill_reference(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
) -> Response {
    markdown(guide::render_reference(&hub, &described.0))
}

fn markdown(page: String) -> Response {
    ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], page).into_response()
}

/// Explains one topic, or lists the topics.
#[utoipa::path(get, path = "/a2a/skill", tag = "discovery", params(GuideTopicParams),
    responses((status = 200, body = GuideTopicResponse), (status = "4XX", body = ErrorBody)))]
pub async fn topic(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
    QueryParams(params): QueryParams<GuideTopicParams>,
) -> ApiResult<Json<GuideTopicResponse>> {
    Ok(Json(guide::show_topic(&hub, &described.0, params)?))
}

/// Finds calls, topics and error codes by words.
#[utoipa::path(get, path = "/a2a/help", tag = "discovery", params(HelpParams),
    responses((status = 200, body = HelpResponse), (status = "4XX", body = ErrorBody)))]
pub async fn help(
    State(hub): State<SharedHub>,
    Extension(described): Extension<OpenApiDocument>,
    Query(params): Query<HelpParams>,
) -> Json<HelpResponse> {
    Json(guide::find_help(&hub, &described.0, params))
}

/// Tells the rules that this hub goes by.
#[utoipa::path(get, path = "/a2a/policy", tag = "discovery", responses((status = 200, body = PolicyResponse)))]
pub async fn policy(State(hub): State<SharedHub>) -> Json<PolicyResponse> {
    Json(policy::show_policy(&hub))
}

/// Tells how this hub ranks models. A task may ask for a tier, or for models by name.
#[utoipa::path(get, path = "/a2a/policy/model-tiers", tag = "discovery",
    responses((status = 200, body = ModelTiersResponse), (status = "4XX", body = ErrorBody)))]
pub async fn model_tiers(State(hub): State<SharedHub>) -> Json<ModelTiersResponse> {
    Json(policy::show_model_tiers(&hub))
}

/// The hub in numbers. The market's numbers count capsules.
#[utoipa::path(get, path = "/a2a/stats", tag = "hub",
    responses((status = 200, body = StatsResponse), (status = "4XX", body = ErrorBody)))]
pub async fn stats(State(hub): State<SharedHub>) -> ApiResult<Json<StatsResponse>> {
    Ok(Json(stats::show_stats(&hub).await?))
}

/// Streams the hub's numbers as server-sent events.
///
/// Each event has the type `stats` and the body of `/a2a/stats`: one at once, then one whenever the numbers changed, at
/// most every two seconds.
#[utoipa::path(get, path = "/a2a/live", tag = "hub", params(LiveStatsParams),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "4XX", body = ErrorBody)))]
pub async fn live(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<LiveStatsParams>,
) -> ApiResult<Response> {
    let stream = live_stats::stream_stats(hub, credentials, params).await?;
    Ok(server_sent_events(stream, |_| "event: stats".to_owned()))
}

/// What other nodes fetched most lately. A fetch counts half after a day; each vote counts two fetches.
#[utoipa::path(get, path = "/a2a/trending", tag = "hub", params(TrendingParams),
    responses((status = 200, body = TrendingResponse), (status = "4XX", body = ErrorBody)))]
pub async fn trending(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<TrendingParams>,
) -> ApiResult<Json<TrendingResponse>> {
    Ok(Json(stats::list_trending(&hub, credentials, params).await?))
}
