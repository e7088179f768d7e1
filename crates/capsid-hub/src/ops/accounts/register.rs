//! `/auth/*`: making an account, beginning a session and ending it.

use crate::auth::account;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::state::{Hub, SharedHub};
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::identity::accounts;
use capsid_rules::identity::accounts::{EMAIL_EXPECTED, PASSWORD_EXPECTED};
use capsid_store::accounts::{AccountRole, NewUser, UserRow, login_attempts, sessions};
use serde::Deserialize;
use serde_json::{Value, json};
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

/// A session that was begun just now.
struct SessionResponse {
    user: UserRow,
    token: String,
    expires_at: Time,
}

/// An account as everybody who may see it sees it.
pub fn user_view(user: &UserRow) -> Value {
    json!({
        "user_id": user.user_id, "email": user.email, "role": user.role,
        "created_at": Time(user.created_at).iso(), "banned_at": user.banned_at.map(|at| Time(at).iso()),
    })
}

/// Makes an account and begins a session.
#[utoipa::path(post, path = "/auth/register", tag = "accounts", request_body = LoginRequest,
    responses((status = 201, body = crate::http::openapi::accounts::Session), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn register(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(login): JsonBody<LoginRequest>,
) -> ApiResult<JsonReply> {
    let user = create_account(&hub, &credentials.address, login).await?;
    let session = begin_session(&hub, user).await?;
    Ok(JsonReply { status: 201, ..session_response(&session) })
}

/// Begins a session.
///
/// After five wrong passwords for one account from one address, that address has to wait for a quarter of an hour;
/// the owner of the account can still log in from elsewhere.
#[utoipa::path(post, path = "/auth/login", tag = "accounts", request_body = LoginRequest,
    responses((status = 200, body = crate::http::openapi::accounts::Session), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn login(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(login): JsonBody<LoginRequest>,
) -> ApiResult<JsonReply> {
    let user = prove(&hub, &credentials.address, login).await?;
    Ok(session_response(&begin_session(&hub, user).await?))
}

/// Ends the session that is shown.
#[utoipa::path(post, path = "/auth/logout", tag = "accounts",
    responses((status = 200, body = crate::http::openapi::accounts::Done), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn logout(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<JsonReply> {
    let now = hub.now();
    hub.store
        .write(move |tx| {
            account::require_session(tx, &credentials, now)?;
            let token = credentials.session.as_deref().unwrap_or_default();
            Ok::<_, ApiError>(sessions::close(tx, token)?)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "logged_out" })))
}

/// Makes an account of what somebody sent, if this hub lets everybody make one.
pub async fn create_account(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<UserRow> {
    if !hub.config.open_registration {
        return Err(ApiError::new(
            HubCode::RegistrationClosed,
            "The operator of this hub makes the accounts.",
            "Ask the operator for one: `capsid hub admin create-user EMAIL`.",
        ));
    }
    let login = login.checked()?;
    let limit = hub.config.limits.register;
    hub.limiter.check(&hub.store, HubCode::RateLimited, "register", address, limit, hub.now()).await?;
    let mut salt = [0; 16];
    hub.random.fill(&mut salt);
    let new = NewUser {
        user_id: format!("user_{}", hub.random.hex(8)),
        email: login.email,
        password_hash: hub.passwords.hash(login.password, salt).await?,
        role: AccountRole::User,
        grant: hub.config.account_grant,
    };
    let (now, actor) = (hub.now(), format!("user:{}", new.user_id));
    hub.store
        .write::<_, ApiError, _>(move |tx| Ok(capsid_store::accounts::create(tx, &new, &actor, now)?))
        .await?
        .ok_or_else(|| {
            ApiError::new(
                HubCode::AlreadyExists,
                "There is an account with this e-mail address already.",
                "Log in with POST /auth/login.",
            )
        })
}

/// Finds out whether somebody knows the password of an account. An account that does not exist gives the same answer
/// after the same time as a wrong password.
pub async fn prove(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<UserRow> {
    let login = login.checked()?;
    let (limit, now) = (hub.config.limits.wrong_credentials, hub.now());
    hub.limiter.check(&hub.store, HubCode::TooManyAttempts, "login", address, limit, now).await?;
    let user = check(hub, address, login).await?;
    hub.limiter.refund(&hub.store, "login", address, limit).await?;
    Ok(user)
}

async fn check(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<UserRow> {
    let (key, now) = (login_attempts::key(&login.email, address), hub.now());
    let (attempt, email) = (key.clone(), login.email);
    let found = hub
        .store
        .write(move |tx| {
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

async fn begin_session(hub: &Hub, user: UserRow) -> ApiResult<SessionResponse> {
    let (now, token) = (hub.now(), format!("sess_{}", hub.random.hex(32)));
    let (user_id, text) = (user.user_id.clone(), token.clone());
    let expires_at =
        hub.store.write::<_, ApiError, _>(move |tx| Ok(sessions::open(tx, &user_id, &text, now)?)).await?;
    Ok(SessionResponse { user, token, expires_at })
}

fn session_response(session: &SessionResponse) -> JsonReply {
    JsonReply::json(&json!({
        "user_id": session.user.user_id, "token": session.token, "expires_at": session.expires_at.iso(),
        "user": user_view(&session.user),
    }))
}
