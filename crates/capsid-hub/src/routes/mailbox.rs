//! `/a2a/mailbox/*`: a proxy hands over what its agents send, and fetches what waits for them.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::{self, JsonBody, JsonText};
use crate::http::openapi::ErrorBody;
use crate::http::query::QueryParams;
use crate::ops::mailbox::receive::{
    self, MailboxAckRequest, MailboxAckResponse, MailboxReceiveRequest, MailboxReceiveResponse,
    MailboxStatusParams, MailboxStatusResponse,
};
use crate::ops::mailbox::send::{self, MailboxSendParams, MailboxSendResponse};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;

/// Takes messages of a node, 50 at most, and answers each of them.
///
/// A message that is sent again gets the same answer and has its effect once.
#[utoipa::path(post, path = "/a2a/mailbox/outbound", tag = "mailbox", params(MailboxSendParams),
    request_body = Object,
    responses((status = 200, body = MailboxSendResponse), (status = "4XX", body = ErrorBody)))]
pub async fn send(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<MailboxSendParams>,
    JsonText(text): JsonText,
) -> ApiResult<Json<MailboxSendResponse>> {
    let batch = json::read(&text, "")?;
    Ok(Json(send::send_messages(&hub, credentials, params, batch).await?))
}

/// Fetches what waits for a node. It goes on waiting until it is acknowledged.
#[utoipa::path(post, path = "/a2a/mailbox/inbound", tag = "mailbox", request_body = MailboxReceiveRequest,
    responses((status = 200, body = MailboxReceiveResponse), (status = "4XX", body = ErrorBody)))]
pub async fn receive(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<MailboxReceiveRequest>,
) -> ApiResult<Json<MailboxReceiveResponse>> {
    Ok(Json(receive::receive_messages(&hub, credentials, request).await?))
}

/// Notes that messages have arrived, so that they wait no longer.
#[utoipa::path(post, path = "/a2a/mailbox/ack", tag = "mailbox", request_body = MailboxAckRequest,
    responses((status = 200, body = MailboxAckResponse), (status = "4XX", body = ErrorBody)))]
pub async fn acknowledge(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<MailboxAckRequest>,
) -> ApiResult<Json<MailboxAckResponse>> {
    Ok(Json(receive::acknowledge_messages(&hub, credentials, request).await?))
}

/// Counts what waits for a node.
#[utoipa::path(get, path = "/a2a/mailbox/status", tag = "mailbox", params(MailboxStatusParams),
    responses((status = 200, body = MailboxStatusResponse), (status = "4XX", body = ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<MailboxStatusParams>,
) -> ApiResult<Json<MailboxStatusResponse>> {
    Ok(Json(receive::show_mailbox_status(&hub, &credentials, params).await?))
}
