//! Messages of nodes in an envelope, and calls that nodes make beside them.

use crate::auth::credentials::Credentials;
use crate::auth::idempotency::Idempotent;
use crate::auth::message::{MessageLimit, authenticate_and_limit, parse_hello, parse_message};
use crate::error::ApiResult;
use crate::http::envelope::A2aResponse;
use crate::http::json::{JsonBody, JsonText};
use crate::http::openapi::{A2aMessage, ErrorBody};
use crate::ops::assets::dry_run::{self, DryRunResponse};
use crate::ops::assets::fetch::{self, FetchResponse};
use crate::ops::assets::publish::{self, PublishResponse};
use crate::ops::assets::revoke::{self, RevokeResponse};
use crate::ops::compat::{
    self, AnalyzeSignalsRequest, AnalyzeSignalsResponse, VerifySolidifyRequest, VerifySolidifyResponse,
};
use crate::ops::evaluation::decide::{self, DecisionResponse};
use crate::ops::evaluation::report::{self, ReportResponse};
use crate::ops::nodes::heartbeat::{self, HeartbeatRequest, HeartbeatResponse};
use crate::ops::nodes::hello::{self, HelloResponse};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use utoipa::ToSchema;

type HelloMessage = A2aResponse<HelloResponse>;
type PublishMessage = A2aResponse<PublishResponse>;
type DryRunMessage = A2aResponse<DryRunResponse>;
type FetchMessage = A2aResponse<FetchResponse>;
type ReportMessage = A2aResponse<ReportResponse>;
type DecisionMessage = A2aResponse<DecisionResponse>;
type RevokeMessage = A2aResponse<RevokeResponse>;

/// Registers a node, or greets one that is known.
///
/// The first hello returns the node's secret and a claim code for its user. For a minute the same network gets the same
/// secret again, and later another one, until somebody has shown it. Nobody else ever gets one.
#[utoipa::path(post, path = "/a2a/hello", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = HelloMessage), (status = "4XX", body = ErrorBody)))]
pub async fn hello(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<HelloMessage> {
    hello::hello(&hub, &parse_hello(&hub, &text, credentials)?).await
}

/// A bundle that is stored and not let in, or one that is not stored.
#[derive(ToSchema)]
#[schema(as = PublishRefusal)]
#[serde(untagged)]
#[allow(dead_code, clippy::large_enum_variant, reason = "It is only described.")]
enum PublishRefusal {
    Stored(PublishMessage),
    NotStored(ErrorBody),
}

/// Publishes a bundle.
///
/// `payload.assets` holds one Gene, one Capsule and perhaps one EvolutionEvent. Each id is computed again. The bundle
/// enters as a candidate and is promoted once another owner's node has reproduced it. One that is rejected or held back
/// is answered with 422 and the same members as one that is accepted.
#[utoipa::path(post, path = "/a2a/publish", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = PublishMessage), (status = 422, body = PublishRefusal),
        (status = "4XX", body = ErrorBody)))]
pub async fn publish(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<Idempotent<PublishResponse>> {
    let message =
        authenticate_and_limit(&hub, &text, &["publish"], credentials, MessageLimit::Publish).await?;
    publish::publish(&hub, &message, &message.payload()?).await
}

/// Says what a publish would say, and keeps nothing.
#[utoipa::path(post, path = "/a2a/validate", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = DryRunMessage), (status = "4XX", body = ErrorBody)))]
pub async fn validate(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<DryRunMessage> {
    let message = parse_message(&hub, &text, &["validate", "publish"], credentials)?;
    dry_run::dry_run(&hub, &message).await
}

/// Gives promoted assets as they were published, byte for byte.
///
/// `payload.asset_ids` or `content_hash` names them; `signals` searches; otherwise the best are given. With
/// `search_only` there are rows without bodies, which cost nothing and count nothing.
#[utoipa::path(post, path = "/a2a/fetch", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = FetchMessage), (status = "4XX", body = ErrorBody)))]
pub async fn fetch(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<FetchMessage> {
    let message = parse_message(&hub, &text, &["fetch"], credentials)?;
    fetch::fetch(&hub, &message).await
}

/// Records what a node found.
///
/// A report by another owner's node counts by the node's reputation, one that the hub asked for counts fully, and the
/// publisher's own is kept without weight. A node has one report on an asset; a later one takes its place.
#[utoipa::path(post, path = "/a2a/report", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = ReportMessage), (status = "4XX", body = ErrorBody)))]
pub async fn report(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<Idempotent<ReportResponse>> {
    let message = authenticate_and_limit(&hub, &text, &["report"], credentials, MessageLimit::Other).await?;
    report::report(&hub, &message).await
}

/// Decides on an asset.
///
/// `decision` is `accept`, `reject` or `quarantine`. An admin's is carried out, a validator's is a vote, and anybody
/// else's is recorded without weight.
#[utoipa::path(post, path = "/a2a/decision", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = DecisionMessage), (status = "4XX", body = ErrorBody)))]
pub async fn decision(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<Idempotent<DecisionResponse>> {
    let message =
        authenticate_and_limit(&hub, &text, &["decision"], credentials, MessageLimit::Other).await?;
    decide::decide(&hub, &message).await
}

/// Withdraws an asset and its bundle.
///
/// Only the publisher may, or another node of the same owner. Doing it again changes nothing.
#[utoipa::path(post, path = "/a2a/revoke", tag = "messages", request_body = A2aMessage,
    responses((status = 200, body = RevokeMessage), (status = "4XX", body = ErrorBody)))]
pub async fn revoke(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonText(text): JsonText,
) -> ApiResult<Idempotent<RevokeResponse>> {
    let message = authenticate_and_limit(&hub, &text, &["revoke"], credentials, MessageLimit::Other).await?;
    revoke::revoke(&hub, &message, message.payload()?).await
}

/// Tells the hub that a node is there.
///
/// A node that the hub does not know gets the status `unknown_node` and should say hello.
#[utoipa::path(post, path = "/a2a/heartbeat", tag = "messages", request_body = HeartbeatRequest,
    responses((status = 200, body = HeartbeatResponse), (status = "4XX", body = ErrorBody)))]
pub async fn heartbeat(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<HeartbeatRequest>,
) -> ApiResult<Json<HeartbeatResponse>> {
    Ok(Json(heartbeat::heartbeat(&hub, credentials, request).await?))
}

/// Answers with the signals that the hub finds in a text: none.
#[utoipa::path(post, path = "/a2a/signal/analyze", tag = "nodes", request_body = AnalyzeSignalsRequest,
    responses((status = 200, body = AnalyzeSignalsResponse), (status = "4XX", body = ErrorBody)))]
pub async fn analyze_signals(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<AnalyzeSignalsRequest>,
) -> ApiResult<Json<AnalyzeSignalsResponse>> {
    Ok(Json(compat::analyze_signals(&hub, &credentials, &request).await?))
}

/// Says whether a node may keep a change.
#[utoipa::path(post, path = "/a2a/verify-solidify", tag = "nodes", request_body = VerifySolidifyRequest,
    responses((status = 200, body = VerifySolidifyResponse), (status = "4XX", body = ErrorBody)))]
pub async fn verify_solidify(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<VerifySolidifyRequest>,
) -> ApiResult<Json<VerifySolidifyResponse>> {
    Ok(Json(compat::verify_solidify(&hub, credentials, &request).await?))
}
