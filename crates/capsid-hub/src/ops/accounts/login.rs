//! Beginning a session and ending it.

use super::view::{AccountView, DoneResponse};
use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_rules::identity::accounts;
use capsid_rules::identity::accounts::{EMAIL_EXPECTED, PASSWORD_EXPECTED};
use capsid_store::accounts::{UserRow, login_attempts, sessions};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Who somebody says to be.
#[derive(Deserialize, ToSchema)]
#[schema(as = Login)]
pub struct LoginRequest {
    /// The e-mail address.
    #[schema(example = "ann@example.org", max_length = 254)]
    pub email: String,
    /// The password.
    #[schema(example = "correct horse", min_length = 8, max_length = 200)]
    pub password: String,
}

impl LoginRequest {
    /// The same with the e-mail address in the form that it is kept in.
    pub fn checked(mut self) -> ApiResult<Self> {
        self.email = accounts::email(&self.email)
            .ok_or_else(|| ApiError::field("email", EMAIL_EXPECTED, "something else"))?;
        check_password("password", &self.password)?;
        Ok(self)
    }
}

/// Checks that a password is neither too short nor too long. Its text is never repeated.
pub fn check_password(field: &str, password: &str) -> ApiResult<()> {
    if accounts::is_password(password) {
        return Ok(());
    }
    Err(ApiError::field(field, PASSWORD_EXPECTED, format!("{} characters", password.chars().count())))
}

/// A session that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionResponse {
    user_id: String,
    /// The only place where it is shown.
    token: String,
    expires_at: String,
    user: AccountView,
}

/// Begins a session for whoever knows the password of an account.
#[tracing::instrument(skip_all, fields(user.id))]
pub async fn log_in(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<SessionResponse> {
    let user = verify_password(hub, address, login).await?;
    tracing::Span::current().record("user.id", &user.user_id);
    begin_session(hub, &user).await
}

/// Ends the session that is shown.
#[tracing::instrument(skip_all)]
pub async fn log_out(hub: &Hub, credentials: Credentials) -> ApiResult<DoneResponse> {
    let clock = Arc::clone(&hub.clock);
    hub.store
        .write(move |tx| {
            let now = clock.now();
            account::require_session(tx, &credentials, now)?;
            let token = credentials.session.as_deref().unwrap_or_default();
            Ok::<_, ApiError>(sessions::close(tx, token)?)
        })
        .await?;
    Ok(DoneResponse { status: "logged_out" })
}

/// Finds out whether somebody knows the password of an account. An account that does not exist gives the same answer
/// after the same time as a wrong password.
pub async fn verify_password(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<UserRow> {
    let login = login.checked()?;
    let (limit, now) = (hub.config.limits.wrong_credentials, hub.now());
    hub.limiter.check(&hub.store, HubCode::TooManyAttempts, "login", address, limit, now).await?;
    let user = attempt(hub, address, login).await?;
    hub.limiter.refund(&hub.store, "login", address, limit).await?;
    Ok(user)
}

async fn attempt(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<UserRow> {
    let (key, clock) = (login_attempts::key(&login.email, address), Arc::clone(&hub.clock));
    let (attempt, email) = (key.clone(), login.email);
    let found = hub
        .store
        .write(move |tx| {
            let now = clock.now();
            if let Err(wait) = login_attempts::begin(tx, &attempt, now)? {
                return Err(too_many_attempts(wait));
            }
            Ok(capsid_store::accounts::by_email(tx, &email)?)
        })
        .await?;
    let (user, hash) = found.unzip();
    let right = hub.passwords.is_right(login.password, hash).await?;
    let Some(user) = user.filter(|_| right) else {
        return Err(ApiError::new(
            HubCode::InvalidCredentials,
            "E-mail address and password do not belong together.",
            "Check both, or make an account with POST /auth/register.",
        ));
    };
    hub.store.write::<_, ApiError, _>(move |tx| Ok(login_attempts::succeeded(tx, &key)?)).await?;
    match user.banned_at {
        Some(_) => Err(account::banned(&user)),
        None => Ok(user),
    }
}

fn too_many_attempts(wait: i64) -> ApiError {
    ApiError::new(
        HubCode::TooManyAttempts,
        "Too many wrong passwords for this account from this address.",
        format!("Wait {} seconds and try again, or log in from elsewhere.", (wait as u64).div_ceil(1000)),
    )
    .retry_after(wait)
}

/// Begins a session of an account.
pub async fn begin_session(hub: &Hub, user: &UserRow) -> ApiResult<SessionResponse> {
    let (clock, token) = (Arc::clone(&hub.clock), format!("sess_{}", hub.random.hex(32)));
    let (user_id, text) = (user.user_id.clone(), token.clone());
    let expires_at = hub
        .store
        .write::<_, ApiError, _>(move |tx| Ok(sessions::open(tx, &user_id, &text, clock.now())?))
        .await?;
    Ok(SessionResponse {
        user_id: user.user_id.clone(),
        token,
        expires_at: expires_at.iso(),
        user: AccountView::from(user),
    })
}
