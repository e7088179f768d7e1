//! `GET /admin/users`: the accounts, for an admin.

use crate::access::Credentials;
use crate::accounts;
use crate::envelope::Reply;
use crate::error::{ApiError, HubCode, Result};
use crate::query::Params;
use crate::routes::auth::shown;
use crate::state::Shared;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

/// Which part of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// How many, 1 to 200; 50 by default.
    limit: Option<i64>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

/// Lists the accounts.
#[utoipa::path(get, path = "/admin/users", tag = "admin", params(Page),
    responses((status = 200, body = crate::openapi::accounts::AccountPage), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn list(
    State(hub): State<Shared>,
    credentials: Credentials,
    Params(page): Params<Page>,
) -> Result<Reply> {
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
            accounts::require_admin(tx, &credentials, now)?;
            Ok::<_, ApiError>(capsid_store::accounts::list(tx, &after, limit + 1)?)
        })
        .await?;
    let more = users.len() as i64 > limit;
    users.truncate(limit as usize);
    let next = more.then(|| users.last().map(|user| user.user_id.clone())).flatten();
    let users: Vec<Value> = users.iter().map(shown).collect();
    Ok(Reply::json(&json!({ "users": users, "next_cursor": next })))
}
