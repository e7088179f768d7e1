//! Another password.

use super::login::{LoginRequest, check_password, verify_password};
use super::view::DoneResponse;
use crate::auth::account::require_session;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_store::accounts;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

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

/// Gives an account another password and ends its other sessions.
#[tracing::instrument(skip_all, fields(user.id))]
pub async fn change_password(
    hub: &Hub,
    credentials: Credentials,
    request: ChangePasswordRequest,
) -> ApiResult<DoneResponse> {
    check_password("current_password", &request.current_password)?;
    check_password("new_password", &request.new_password)?;
    let (shows, now) = (credentials.clone(), hub.now());
    let clock = Arc::clone(&hub.clock);
    let (user, old_hash) = hub
        .store
        .read(move |tx| {
            let user = require_session(tx, &shows, now)?;
            let hash = accounts::by_email(tx, &user.email)?.map(|(_, hash)| hash);
            Ok::<_, ApiError>((user, hash.unwrap_or_default()))
        })
        .await?;
    tracing::Span::current().record("user.id", &user.user_id);
    // Whoever found a session may not try passwords either.
    let login = LoginRequest { email: user.email.clone(), password: request.current_password };
    verify_password(hub, &credentials.address, login).await?;
    let mut salt = [0; 16];
    hub.random.fill(&mut salt);
    let new_hash = hub.passwords.hash(request.new_password, salt).await?;
    let session = credentials.session.unwrap_or_default();
    hub.store
        .write(move |tx| {
            match accounts::change_password(tx, &user, [&old_hash, &new_hash], &session, clock.now())? {
                true => Ok(()),
                false => Err(ApiError::new(
                    HubCode::StateConflict,
                    "The password was changed by somebody else meanwhile.",
                    "Log in with the present password and try again.",
                )),
            }
        })
        .await?;
    Ok(DoneResponse { status: "changed" })
}
