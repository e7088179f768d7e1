//! `/admin/users`: the accounts, for an admin.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::OptionalJsonBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::accounts::register::user_view;
use crate::ops::evaluation::decide::ReasonBody;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::AdminAction;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

/// Which part of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListUsersParams {
    /// How many, 1 to 200; 50 by default.
    limit: Option<i64>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

/// Lists the accounts.
#[utoipa::path(get, path = "/admin/users", tag = "admin", params(ListUsersParams),
    responses((status = 200, body = crate::http::openapi::accounts::AccountPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(page): QueryParams<ListUsersParams>,
) -> ApiResult<JsonReply> {
    let limit = page.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(ApiError::field("limit", "a whole number from 1 to 200", limit.to_string()));
    }
    let after = page.cursor.unwrap_or_default();
    if !after.is_empty() && !after.starts_with("user_") || after.contains('\0') {
        return Err(ApiError::new(
            HubCode::InvalidCursor,
            "The cursor was not given out by this hub.",
            "Send the `next_cursor` of the page before, or none for the first page.",
        ));
    }
    let now = hub.now();
    let mut users = hub
        .store
        .read(move |tx| {
            account::require_admin(tx, &credentials, now)?;
            Ok::<_, ApiError>(capsid_store::accounts::list(tx, &after, limit + 1)?)
        })
        .await?;
    let more = users.len() as i64 > limit;
    users.truncate(limit as usize);
    let next = more.then(|| users.last().map(|user| user.user_id.clone())).flatten();
    let users: Vec<Value> = users.iter().map(user_view).collect();
    Ok(JsonReply::json(&json!({ "users": users, "next_cursor": next })))
}

/// Bans an account: it can do nothing on this hub until it is let back.
#[utoipa::path(post, path = "/admin/users/{user_id}/ban", tag = "admin", request_body = Option<ReasonBody>,
    params(("user_id" = String, Path, description = "The account.")),
    responses((status = 200, body = crate::http::openapi::accounts::Account),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn ban(
    hub: State<SharedHub>,
    credentials: Credentials,
    user_id: PathId,
    why: OptionalJsonBody<ReasonBody>,
) -> ApiResult<JsonReply> {
    set_banned(hub, credentials, user_id, why, true).await
}

/// Lets a banned account back.
#[utoipa::path(post, path = "/admin/users/{user_id}/unban", tag = "admin", request_body = Option<ReasonBody>,
    params(("user_id" = String, Path, description = "The account.")),
    responses((status = 200, body = crate::http::openapi::accounts::Account),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn unban(
    hub: State<SharedHub>,
    credentials: Credentials,
    user_id: PathId,
    why: OptionalJsonBody<ReasonBody>,
) -> ApiResult<JsonReply> {
    set_banned(hub, credentials, user_id, why, false).await
}

async fn set_banned(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(user_id): PathId,
    OptionalJsonBody(why): OptionalJsonBody<ReasonBody>,
    banned: bool,
) -> ApiResult<JsonReply> {
    let (reason, now) = (why.checked()?, hub.now());
    let user = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let by = account::require_admin(tx, &credentials, now)?;
            capsid_store::accounts::lock(tx, &user_id)?;
            let user = capsid_store::accounts::get(tx, &user_id)?.ok_or_else(no_account)?;
            // An admin who bans the own account could not take it back.
            if by.user_id == user.user_id {
                return Err(conflict("This is the account that asks.", "Let another admin do it."));
            }
            // What is so already is not written down again.
            if user.banned_at.is_some() != banned {
                let by = AdminAction { actor: &by.actor(), reason: reason.as_deref(), now };
                admin::set_user_banned(tx, &user_id, banned, by)?;
            }
            capsid_store::accounts::get(tx, &user_id)?.ok_or_else(no_account)
        })
        .await?;
    Ok(JsonReply::json(&user_view(&user)))
}

fn no_account() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "There is no account with this id.",
        "See GET /admin/users for all accounts.",
    )
}

fn conflict(problem: &str, fix: &str) -> ApiError {
    ApiError::new(HubCode::StateConflict, problem, fix)
}
