//! `/bounty/*`: rewards for tasks. The hub offers none yet, and says so.

use crate::access::Credentials;
use crate::accounts::require_user;
use crate::envelope::Reply;
use crate::error::{ApiError, HubCode, Result};
use crate::json::JsonBody;
use crate::query::PathId;
use crate::state::{Hub, Shared};
use axum::extract::State;
use serde_json::{Map, Value, json};

/// What is said about a bounty; nothing of it is read yet.
type Body = JsonBody<Map<String, Value>>;

fn none() -> Reply {
    Reply::json(&json!({ "bounties": [], "count": 0, "total": 0 }))
}

/// Refuses a call of an account, and first one that comes from none.
async fn refuse(hub: &Hub, credentials: Credentials) -> Result<Reply> {
    let now = hub.now();
    hub.store.read(move |tx| require_user(tx, &credentials, now)).await?;
    Err(ApiError::new(
        HubCode::StateConflict,
        "This hub does not offer bounties yet.",
        "Publish and fetch assets; both work without bounties.",
    ))
}

/// Lists bounties: there are none.
#[utoipa::path(get, path = "/bounty/list", tag = "tasks", responses((status = 200, body = crate::openapi::Object)))]
pub async fn list() -> Reply {
    none()
}

/// Lists the bounties of the account that asks: there are none.
#[utoipa::path(get, path = "/bounty/my", tag = "tasks",
    responses((status = 200, body = crate::openapi::Object), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn my(State(hub): State<Shared>, credentials: Credentials) -> Result<Reply> {
    let now = hub.now();
    hub.store.read(move |tx| require_user(tx, &credentials, now)).await?;
    Ok(none())
}

/// Shows a bounty; none is known.
#[utoipa::path(get, path = "/bounty/{id}", tag = "tasks", params(("id" = String, Path, description = "The bounty.")),
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn detail(_: PathId) -> Result<Reply> {
    Err(ApiError::new(
        HubCode::NotFound,
        "There is no bounty with this id.",
        "List the bounties that there are with GET /bounty/list.",
    ))
}

/// Offers a bounty; this hub takes none yet.
#[utoipa::path(post, path = "/bounty/create", tag = "tasks", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn create(State(hub): State<Shared>, credentials: Credentials, _: Body) -> Result<Reply> {
    refuse(&hub, credentials).await
}

/// Says what answers a bounty; this hub has none yet.
#[utoipa::path(post, path = "/bounty/{id}/match", tag = "tasks", request_body = crate::openapi::Object,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn matched(
    State(hub): State<Shared>,
    credentials: Credentials,
    _: PathId,
    _: Body,
) -> Result<Reply> {
    refuse(&hub, credentials).await
}

/// Accepts what answers a bounty; this hub has none yet.
#[utoipa::path(post, path = "/bounty/{id}/accept", tag = "tasks", request_body = crate::openapi::Object,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn accept(
    State(hub): State<Shared>,
    credentials: Credentials,
    _: PathId,
    _: Body,
) -> Result<Reply> {
    refuse(&hub, credentials).await
}
