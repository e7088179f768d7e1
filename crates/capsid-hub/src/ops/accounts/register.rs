//! Making an account.

use super::login::{LoginRequest, SessionResponse, begin_session};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_store::accounts::{self, AccountRole, NewUser, UserRow};

/// Makes an account, if this hub lets everybody make one, and begins a session.
#[tracing::instrument(skip_all, fields(user.id))]
pub async fn register(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<SessionResponse> {
    let user = create_account(hub, address, login).await?;
    tracing::Span::current().record("user.id", &user.user_id);
    begin_session(hub, &user).await
}

async fn create_account(hub: &Hub, address: &str, login: LoginRequest) -> ApiResult<UserRow> {
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
        grant: hub.config.grants().at_registration(),
    };
    let (now, actor) = (hub.now(), format!("user:{}", new.user_id));
    hub.store
        .write::<_, ApiError, _>(move |tx| Ok(accounts::create(tx, &new, &actor, now)?))
        .await?
        .ok_or_else(|| {
            ApiError::new(
                HubCode::AlreadyExists,
                "There is an account with this e-mail address already.",
                "Log in with POST /auth/login.",
            )
        })
}
