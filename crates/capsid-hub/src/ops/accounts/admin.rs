//! The accounts, for an admin.

use super::view::AccountView;
use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::ops::evaluation::moderate::ReasonBody;
use crate::state::Hub;
use capsid_store::accounts;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::AdminAction;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Which part of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListUsersParams {
    /// How many, 1 to 200; 50 by default.
    limit: Option<i64>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

/// A page of accounts.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AccountPage)]
pub struct ListUsersResponse {
    users: Vec<AccountView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Lists the accounts.
#[tracing::instrument(skip_all)]
pub async fn list_users(
    hub: &Hub,
    credentials: Credentials,
    page: ListUsersParams,
) -> ApiResult<ListUsersResponse> {
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
            Ok::<_, ApiError>(accounts::list(tx, &after, limit + 1)?)
        })
        .await?;
    let more = users.len() as i64 > limit;
    users.truncate(limit as usize);
    let next = more.then(|| users.last().map(|user| user.user_id.clone())).flatten();
    Ok(ListUsersResponse { users: users.iter().map(AccountView::from).collect(), next_cursor: next })
}

/// Bans an account or lets it back. What is so already is not written down again.
#[tracing::instrument(skip_all, fields(user.id = traced_id(&user_id), banned))]
pub async fn set_user_banned(
    hub: &Hub,
    credentials: Credentials,
    user_id: String,
    why: ReasonBody,
    banned: bool,
) -> ApiResult<AccountView> {
    let (reason, clock) = (why.checked()?, Arc::clone(&hub.clock));
    let user = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let now = clock.now();
            let by = account::require_admin(tx, &credentials, now)?;
            accounts::lock(tx, &user_id)?;
            let user = accounts::get(tx, &user_id)?.ok_or_else(no_account)?;
            // An admin who bans the own account could not take it back.
            if by.user_id == user.user_id {
                return Err(conflict("This is the account that asks.", "Let another admin do it."));
            }
            if user.banned_at.is_some() != banned {
                let by = AdminAction { actor: &by.actor(), reason: reason.as_deref(), now };
                admin::set_user_banned(tx, &user_id, banned, by)?;
            }
            accounts::get(tx, &user_id)?.ok_or_else(no_account)
        })
        .await?;
    Ok(AccountView::from(&user))
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
