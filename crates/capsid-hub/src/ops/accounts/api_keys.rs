//! The API keys of an account.

use crate::auth::account::require_session;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::state::Hub;
use capsid_model::text::is_invisible;
use capsid_model::time::Time;
use capsid_store::accounts::api_keys::{self, ApiKeyRow};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The longest name of a key, in characters.
const MAX_NAME: usize = 64;

/// An API key without the key itself.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
pub struct ApiKeyView {
    key_id: String,
    name: String,
    hint: String,
    created_at: String,
    #[schema(required)]
    last_used_at: Option<String>,
}

impl From<&ApiKeyRow> for ApiKeyView {
    fn from(key: &ApiKeyRow) -> Self {
        Self {
            key_id: key.key_id.clone(),
            name: key.name.clone(),
            hint: key.hint.clone(),
            created_at: Time(key.created_at).iso(),
            last_used_at: key.last_used_at.map(|at| Time(at).iso()),
        }
    }
}

/// What a key is to be called.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = NewKey)]
pub struct CreateApiKeyRequest {
    /// A name, so that its owner can tell it from others.
    #[schema(example = "laptop", max_length = 64)]
    name: Option<String>,
}

/// An API key that was made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKeyMade)]
pub struct CreateApiKeyResponse {
    #[serde(flatten)]
    key: ApiKeyView,
    /// The only place where it is shown.
    api_key: String,
}

/// Makes an API key.
#[tracing::instrument(skip_all)]
pub async fn create_api_key(
    hub: &Hub,
    credentials: Credentials,
    request: CreateApiKeyRequest,
) -> ApiResult<CreateApiKeyResponse> {
    let name = request.name.unwrap_or_default();
    let odd = |c: char| c.is_control() || is_invisible(c);
    if name.chars().count() > MAX_NAME || name.chars().any(odd) {
        let expected = format!("a text of at most {MAX_NAME} visible characters");
        return Err(ApiError::field("name", expected, "something else"));
    }
    let (now, digits) = (hub.now(), hub.random.hex(24));
    let clock = Arc::clone(&hub.clock);
    let text = format!("ek_{digits}");
    let (head, tail) = (text.get(..7).unwrap_or_default(), text.get(47..).unwrap_or_default());
    let key = ApiKeyRow {
        key_id: format!("key_{}", hub.random.hex(8)),
        name,
        hint: format!("{head}…{tail}"),
        created_at: now.0,
        last_used_at: None,
    };
    let response = CreateApiKeyResponse { key: ApiKeyView::from(&key), api_key: text.clone() };
    hub.store
        .write(move |tx| {
            let now = clock.now();
            let user = require_session(tx, &credentials, now)?;
            if api_keys::add(tx, &user, &key, &text, now)? { Ok(()) } else { Err(too_many_keys()) }
        })
        .await?;
    Ok(response)
}

fn too_many_keys() -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        format!("The account has {} API keys, and more it may not have.", api_keys::MAX),
        "End one of them first with DELETE /account/api-keys/<key_id>.",
    )
    .with("limit", api_keys::MAX)
}

/// The API keys of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKeys)]
pub struct ListApiKeysResponse {
    api_keys: Vec<ApiKeyView>,
    /// How many it may have.
    limit: i64,
}

/// Lists the API keys of an account, without the keys themselves.
#[tracing::instrument(skip_all)]
pub async fn list_api_keys(hub: &Hub, credentials: Credentials) -> ApiResult<ListApiKeysResponse> {
    let now = hub.now();
    let found = hub
        .store
        .read(move |tx| {
            let user = require_session(tx, &credentials, now)?;
            Ok::<_, ApiError>(api_keys::list(tx, &user.user_id)?)
        })
        .await?;
    Ok(ListApiKeysResponse { api_keys: found.iter().map(ApiKeyView::from).collect(), limit: api_keys::MAX })
}

/// An API key that works no more.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKeyRevoked)]
pub struct RevokeApiKeyResponse {
    status: &'static str,
    key_id: String,
}

/// Ends an API key.
#[tracing::instrument(skip_all, fields(key.id = traced_id(&key_id)))]
pub async fn revoke_api_key(
    hub: &Hub,
    credentials: Credentials,
    key_id: String,
) -> ApiResult<RevokeApiKeyResponse> {
    let (clock, id) = (Arc::clone(&hub.clock), key_id.clone());
    hub.store
        .write(move |tx| {
            let now = clock.now();
            let user = require_session(tx, &credentials, now)?;
            if api_keys::revoke(tx, &user, &id, now)? { Ok(()) } else { Err(no_such_key()) }
        })
        .await?;
    Ok(RevokeApiKeyResponse { status: "revoked", key_id })
}

fn no_such_key() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "The account has no API key with this id.",
        "See GET /account/api-keys for those it has.",
    )
}
