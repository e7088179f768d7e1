//! `/auth/*`, `/account/*` and `/claim/*`: accounts of people and what belongs to them.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::openapi::ErrorBody;
use crate::http::query::PathId;
use crate::ops::accounts::agents::{self, ListAgentsResponse, ResetSecretResponse};
use crate::ops::accounts::api_keys::{
    self, CreateApiKeyRequest, CreateApiKeyResponse, ListApiKeysResponse, RevokeApiKeyResponse,
};
use crate::ops::accounts::claim::{self, ClaimNodeResponse, ShowClaimResponse};
use crate::ops::accounts::login::{self, LoginRequest, SessionResponse};
use crate::ops::accounts::password::{self, ChangePasswordRequest};
use crate::ops::accounts::profile::{self, ProfileResponse};
use crate::ops::accounts::register;
use crate::ops::accounts::view::DoneResponse;
use crate::ops::accounts::welcome::{self, WelcomeRequest};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Makes an account and begins a session.
#[utoipa::path(post, path = "/auth/register", tag = "accounts", request_body = LoginRequest,
    responses((status = 201, body = SessionResponse), (status = "4XX", body = ErrorBody)))]
pub async fn register(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(login): JsonBody<LoginRequest>,
) -> ApiResult<(StatusCode, Json<SessionResponse>)> {
    let session = register::register(&hub, &credentials.network, login).await?;
    Ok((StatusCode::CREATED, Json(session)))
}

/// Makes the first admin and begins a session, with the key of the link that `capsid up` printed.
///
/// The link works once, for ten minutes, from the machine of the hub, while there is no admin.
#[utoipa::path(post, path = "/auth/welcome", tag = "accounts", request_body = WelcomeRequest,
    responses((status = 201, body = SessionResponse), (status = "4XX", body = ErrorBody)))]
pub async fn welcome(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<WelcomeRequest>,
) -> ApiResult<(StatusCode, Json<SessionResponse>)> {
    let session = welcome::create_first_admin(&hub, &credentials, request).await?;
    Ok((StatusCode::CREATED, Json(session)))
}

/// Begins a session.
///
/// After five wrong passwords for one account from one address, that address has to wait for a quarter of an hour;
/// the owner of the account can still log in from elsewhere.
#[utoipa::path(post, path = "/auth/login", tag = "accounts", request_body = LoginRequest,
    responses((status = 200, body = SessionResponse), (status = "4XX", body = ErrorBody)))]
pub async fn login(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(login): JsonBody<LoginRequest>,
) -> ApiResult<Json<SessionResponse>> {
    Ok(Json(login::log_in(&hub, &credentials.address, login).await?))
}

/// Ends the session that is shown.
#[utoipa::path(post, path = "/auth/logout", tag = "accounts",
    responses((status = 200, body = DoneResponse), (status = "4XX", body = ErrorBody)))]
pub async fn logout(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<Json<DoneResponse>> {
    Ok(Json(login::log_out(&hub, credentials).await?))
}

/// The account, what it holds and its nodes.
#[utoipa::path(get, path = "/account/me", tag = "accounts",
    responses((status = 200, body = ProfileResponse), (status = "4XX", body = ErrorBody)))]
pub async fn me(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<Json<ProfileResponse>> {
    Ok(Json(profile::show_profile(&hub, credentials).await?))
}

/// The nodes of the account.
#[utoipa::path(get, path = "/account/agents", tag = "accounts",
    responses((status = 200, body = ListAgentsResponse), (status = "4XX", body = ErrorBody)))]
pub async fn agents(
    State(hub): State<SharedHub>,
    credentials: Credentials,
) -> ApiResult<Json<ListAgentsResponse>> {
    Ok(Json(agents::list_agents(&hub, credentials).await?))
}

/// Gives a node of the account another secret. The answer is the only place where it is shown.
///
/// A node that has shown its old secret must show the new one from now on.
#[utoipa::path(post, path = "/account/agents/{node_id}/reset-secret", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = ResetSecretResponse), (status = "4XX", body = ErrorBody)))]
pub async fn reset_secret(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<Json<ResetSecretResponse>> {
    Ok(Json(agents::reset_secret(&hub, credentials, node_id).await?))
}

/// Makes an API key. The answer is the only place where it is shown.
#[utoipa::path(post, path = "/account/api-keys", tag = "accounts", request_body = CreateApiKeyRequest,
    responses((status = 201, body = CreateApiKeyResponse), (status = "4XX", body = ErrorBody)))]
pub async fn create_api_key(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<CreateApiKeyRequest>,
) -> ApiResult<(StatusCode, Json<CreateApiKeyResponse>)> {
    Ok((StatusCode::CREATED, Json(api_keys::create_api_key(&hub, credentials, request).await?)))
}

/// The API keys of the account, without the keys themselves.
#[utoipa::path(get, path = "/account/api-keys", tag = "accounts",
    responses((status = 200, body = ListApiKeysResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list_api_keys(
    State(hub): State<SharedHub>,
    credentials: Credentials,
) -> ApiResult<Json<ListApiKeysResponse>> {
    Ok(Json(api_keys::list_api_keys(&hub, credentials).await?))
}

/// Ends an API key.
#[utoipa::path(delete, path = "/account/api-keys/{key_id}", tag = "accounts",
    params(("key_id" = String, Path, description = "The key's id, not the key.")),
    responses((status = 200, body = RevokeApiKeyResponse), (status = "4XX", body = ErrorBody)))]
pub async fn revoke_api_key(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(key_id): PathId,
) -> ApiResult<Json<RevokeApiKeyResponse>> {
    Ok(Json(api_keys::revoke_api_key(&hub, credentials, key_id).await?))
}

/// Gives the account another password and ends its other sessions.
#[utoipa::path(post, path = "/account/password", tag = "accounts", request_body = ChangePasswordRequest,
    responses((status = 200, body = DoneResponse), (status = "4XX", body = ErrorBody)))]
pub async fn change_password(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ChangePasswordRequest>,
) -> ApiResult<Json<DoneResponse>> {
    Ok(Json(password::change_password(&hub, credentials, request).await?))
}

/// Tells which node a code is for. A browser gets the page that claims it.
#[utoipa::path(get, path = "/claim/{code}", tag = "accounts",
    params(("code" = String, Path, description = "The code that the node shows, such as REEF-4X7K.")),
    responses(
        (status = 200, content((ShowClaimResponse = "application/json"), (String = "text/html"))),
        (status = "4XX", body = ErrorBody)))]
pub async fn show_claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(code): PathId,
) -> ApiResult<Json<ShowClaimResponse>> {
    Ok(Json(claim::show_claim(&hub, &credentials, &code).await?))
}

/// Makes the node of a code belong to the account that asks. Each code works once.
#[utoipa::path(post, path = "/claim/{code}", tag = "accounts",
    params(("code" = String, Path, description = "The code that the node shows, such as REEF-4X7K.")),
    responses((status = 200, body = ClaimNodeResponse), (status = "4XX", body = ErrorBody)))]
pub async fn claim_node(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(code): PathId,
) -> ApiResult<Json<ClaimNodeResponse>> {
    Ok(Json(claim::claim_node(&hub, credentials, &code).await?))
}
