//! Making an account.

use super::login::{LoginRequest, SessionResponse, begin_session};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_rules::identity::network::Network;
use capsid_store::accounts::{self, AccountRole, NewUser, UserRow};
use std::sync::Arc;

/// Makes an account, if this hub lets everybody make one, and begins a session.
#[tracing::instrument(skip_all, fields(user.id))]
pub async fn register(hub: &Hub, network: &Network, login: LoginRequest) -> ApiResult<SessionResponse> {
    let user = create_account(hub, network, login).await?;
    tracing::Span::current().record("user.id", &user.user_id);
    begin_session(hub, &user).await
}

async fn create_account(hub: &Hub, network: &Network, login: LoginRequest) -> ApiResult<UserRow> {
    if !hub.config.open_registration {
        return Err(ApiError::new(
            HubCode::RegistrationClosed,
            "The operator of this hub makes the accounts.",
            "Ask the operator for one: `capsid hub admin create-user EMAIL`.",
        ));
    }
    let login = login.checked()?;
    // Who has one address often has all of its network.
    let (limit, who) = (hub.config.limits.register, network.as_str());
    hub.limiter.check(&hub.store, HubCode::RateLimited, "register", who, limit, hub.now()).await?;
    let mut salt = [0; 16];
    hub.random.fill(&mut salt);
    let new = NewUser {
        user_id: format!("user_{}", hub.random.hex(8)),
        email: login.email,
        password_hash: hub.passwords.hash(login.password, salt).await?,
        role: AccountRole::User,
        grant: hub.config.grants().at_registration(),
    };
    let (clock, actor) = (Arc::clone(&hub.clock), format!("user:{}", new.user_id));
    hub.store
        .write::<_, ApiError, _>(move |tx| Ok(accounts::create(tx, &new, &actor, clock.now())?))
        .await?
        .ok_or_else(|| {
            ApiError::new(
                HubCode::AlreadyExists,
                "There is an account with this e-mail address already.",
                "Log in with POST /auth/login.",
            )
        })
}
