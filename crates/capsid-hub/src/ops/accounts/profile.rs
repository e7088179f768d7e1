//! `/account/*`: what belongs to the account of whoever asks.

use crate::auth::account::{may_act_for, require_session, require_user};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query::PathId;
use crate::ops::accounts::register::{LoginRequest, check_password, prove, user_view};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::text::is_invisible;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::{AdminAction, AdminNodeRow};
use capsid_store::accounts::api_keys::{self, ApiKeyRow};
use capsid_store::{accounts, ledger, nodes};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The most nodes that are listed.
const MAX_AGENTS: i64 = 1000;
/// The longest name of a key, in characters.
const MAX_NAME: usize = 64;

/// The account, what it holds and its nodes.
#[utoipa::path(get, path = "/account/me", tag = "accounts",
    responses((status = 200, body = crate::http::openapi::accounts::AccountOverview), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn me(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<JsonReply> {
    let now = hub.now();
    let (user, balance, owned) = hub
        .store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            let balance = ledger::balance(tx, &ledger::user_account(&user.user_id))?;
            let owned = admin::nodes_of(tx, &user.user_id, MAX_AGENTS)?;
            Ok::<_, ApiError>((user, balance, owned))
        })
        .await?;
    let owned: Vec<Value> = owned.iter().map(agent).collect();
    Ok(JsonReply::json(&json!({
        "user": user_view(&user), "user_id": user.user_id, "email": user.email, "role": user.role,
        "credit_balance": credits::to_decimal(balance), "nodes": owned,
    })))
}

/// The nodes of the account.
#[utoipa::path(get, path = "/account/agents", tag = "accounts",
    responses((status = 200, body = crate::http::openapi::accounts::Agents), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn agents(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<JsonReply> {
    let now = hub.now();
    let owned = hub
        .store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            Ok::<_, ApiError>(admin::nodes_of(tx, &user.user_id, MAX_AGENTS)?)
        })
        .await?;
    let owned: Vec<Value> = owned.iter().map(agent).collect();
    Ok(JsonReply::json(&json!({ "agents": owned, "count": owned.len() })))
}

fn agent(node: &AdminNodeRow) -> Value {
    json!({
        "node_id": node.node_id, "name": node.name, "status": node.status, "secret_state": node.secret_state,
        "reputation": node.reputation, "total_published": node.total_published,
        "credit_balance": credits::to_decimal(node.balance), "created_at": Time(node.created_at).iso(),
        "last_seen_at": Time(node.last_seen_at).iso(), "claimed_at": node.claimed_at.map(|at| Time(at).iso()),
    })
}

/// Gives a node of the account another secret. The answer is the only place where it is shown.
///
/// A node that has shown its old secret must show the new one from now on.
#[utoipa::path(post, path = "/account/agents/{node_id}/reset-secret", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = crate::http::openapi::accounts::SecretReset), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn reset_secret(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<JsonReply> {
    let (now, secret) = (hub.now(), hub.random.hex(32));
    let (id, fresh) = (node_id.clone(), secret.clone());
    let version = hub
        .store
        .write(move |tx| {
            let user = require_session(tx, &credentials, now)?;
            // Whose node it is, is nobody else's business.
            let mine = nodes::get(tx, &id)?.is_some_and(|node| may_act_for(&user, &node));
            let by = AdminAction { actor: &user.actor(), reason: None, now };
            let version = if mine { admin::reset_secret(tx, &id, &fresh, by)? } else { None };
            version.ok_or_else(|| not_yours(&id))
        })
        .await?;
    Ok(JsonReply::json(&json!({
        "status": "reset", "node_id": node_id, "node_secret": secret, "node_secret_version": version,
    })))
}

fn not_yours(node_id: &str) -> ApiError {
    ApiError::new(
        HubCode::NodeNotFound,
        format!("The account has no node `{}`.", capsid_model::text::cut(node_id, 128)),
        "See GET /account/agents for the nodes of the account, and claim others with their claim code.",
    )
}

/// What a key is to be called.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = NewKey)]
pub struct CreateApiKeyRequest {
    /// A name, so that its owner can tell it from others.
    #[schema(example = "laptop", max_length = 64)]
    name: Option<String>,
}

/// Makes an API key. The answer is the only place where it is shown.
#[utoipa::path(post, path = "/account/api-keys", tag = "accounts", request_body = CreateApiKeyRequest,
    responses((status = 201, body = crate::http::openapi::accounts::ApiKeyMade), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn add_key(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(new): JsonBody<CreateApiKeyRequest>,
) -> ApiResult<JsonReply> {
    let name = new.name.unwrap_or_default();
    let odd = |c: char| c.is_control() || is_invisible(c);
    if name.chars().count() > MAX_NAME || name.chars().any(odd) {
        let expected = format!("a text of at most {MAX_NAME} visible characters");
        return Err(ApiError::field("name", expected, "something else"));
    }
    let (now, digits) = (hub.now(), hub.random.hex(24));
    let text = format!("ek_{digits}");
    let (head, tail) = (text.get(..7).unwrap_or_default(), text.get(47..).unwrap_or_default());
    let key = ApiKeyRow {
        key_id: format!("key_{}", hub.random.hex(8)),
        name,
        hint: format!("{head}…{tail}"),
        created_at: now.0,
        last_used_at: None,
    };
    let mut answer = key_shown(&key);
    answer["api_key"] = text.clone().into();
    hub.store
        .write(move |tx| {
            let user = require_session(tx, &credentials, now)?;
            if api_keys::add(tx, &user, &key, &text, now)? { Ok(()) } else { Err(too_many_keys()) }
        })
        .await?;
    Ok(JsonReply { status: 201, ..JsonReply::json(&answer) })
}

fn too_many_keys() -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        format!("The account has {} API keys, and more it may not have.", api_keys::MAX),
        "End one of them first with DELETE /account/api-keys/<key_id>.",
    )
    .with("limit", api_keys::MAX)
}

fn key_shown(key: &ApiKeyRow) -> Value {
    json!({
        "key_id": key.key_id, "name": key.name, "hint": key.hint, "created_at": Time(key.created_at).iso(),
        "last_used_at": key.last_used_at.map(|at| Time(at).iso()),
    })
}

/// The API keys of the account, without the keys themselves.
#[utoipa::path(get, path = "/account/api-keys", tag = "accounts",
    responses((status = 200, body = crate::http::openapi::accounts::ApiKeys), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list_keys(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<JsonReply> {
    let now = hub.now();
    let found = hub
        .store
        .read(move |tx| {
            let user = require_session(tx, &credentials, now)?;
            Ok::<_, ApiError>(api_keys::list(tx, &user.user_id)?)
        })
        .await?;
    let found: Vec<Value> = found.iter().map(key_shown).collect();
    Ok(JsonReply::json(&json!({ "api_keys": found, "limit": api_keys::MAX })))
}

/// Ends an API key.
#[utoipa::path(delete, path = "/account/api-keys/{key_id}", tag = "accounts",
    params(("key_id" = String, Path, description = "The key's id, not the key.")),
    responses((status = 200, body = crate::http::openapi::accounts::ApiKeyRevoked), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn revoke_key(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(key_id): PathId,
) -> ApiResult<JsonReply> {
    let (now, id) = (hub.now(), key_id.clone());
    hub.store
        .write(move |tx| {
            let user = require_session(tx, &credentials, now)?;
            if api_keys::revoke(tx, &user, &id, now)? { Ok(()) } else { Err(no_such_key()) }
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "revoked", "key_id": key_id })))
}

fn no_such_key() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "The account has no API key with this id.",
        "See GET /account/api-keys for those it has.",
    )
}

/// The old password and the new one.
#[derive(Deserialize, ToSchema)]
#[schema(as = NewPassword)]
pub struct ChangePasswordRequest {
    /// The one that holds now.
    #[schema(example = "correct horse", min_length = 8, max_length = 200)]
    current_password: String,
    /// The one that is to hold.
    #[schema(example = "battery staple", min_length = 8, max_length = 200)]
    new_password: String,
}

/// Gives the account another password and ends its other sessions.
#[utoipa::path(post, path = "/account/password", tag = "accounts", request_body = ChangePasswordRequest,
    responses((status = 200, body = crate::http::openapi::accounts::Done), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn password(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<ChangePasswordRequest>,
) -> ApiResult<JsonReply> {
    check_password("current_password", &asked.current_password)?;
    check_password("new_password", &asked.new_password)?;
    let (shows, now) = (credentials.clone(), hub.now());
    let (user, old_hash) = hub
        .store
        .read(move |tx| {
            let user = require_session(tx, &shows, now)?;
            let hash = accounts::by_email(tx, &user.email)?.map(|(_, hash)| hash);
            Ok::<_, ApiError>((user, hash.unwrap_or_default()))
        })
        .await?;
    // Whoever found a session may not try passwords either.
    let login = LoginRequest { email: user.email.clone(), password: asked.current_password };
    prove(&hub, &credentials.address, login).await?;
    let mut salt = [0; 16];
    hub.random.fill(&mut salt);
    let new_hash = hub.passwords.hash(asked.new_password, salt).await?;
    let session = credentials.session.unwrap_or_default();
    hub.store
        .write(move |tx| match accounts::change_password(tx, &user, [&old_hash, &new_hash], &session, now)? {
            true => Ok(()),
            false => Err(ApiError::new(
                HubCode::StateConflict,
                "The password was changed by somebody else meanwhile.",
                "Log in with the present password and try again.",
            )),
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "changed" })))
}
