//! Making the first admin with the link that the hub printed when it started.

use super::login::{LoginRequest, SessionResponse, begin_session};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::state::Hub;
use capsid_store::accounts::{self, AccountRole, NewUser, UserRow};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The first admin.
#[derive(Deserialize, ToSchema)]
#[schema(as = Welcome)]
pub struct WelcomeRequest {
    /// The key of the link: what stands behind `#k=`.
    #[schema(example = "0f1e2d3c4b5a69788796a5b4c3d2e1f0", max_length = 100)]
    pub key: String,
    /// The e-mail address.
    #[schema(example = "ann@example.org", max_length = 254)]
    pub email: String,
    /// The password.
    #[schema(example = "correct horse", min_length = 8, max_length = 200)]
    pub password: String,
}

/// Makes the first admin and begins a session. Only from this machine, once, and while there is no admin.
#[tracing::instrument(skip_all, fields(user.id))]
pub async fn create_first_admin(
    hub: &Hub,
    credentials: &Credentials,
    request: WelcomeRequest,
) -> ApiResult<SessionResponse> {
    if !credentials.is_from_loopback() || !hub.welcome.is_valid(&request.key, hub.now()) {
        return Err(link_invalid());
    }
    let login = LoginRequest { email: request.email, password: request.password }.checked()?;
    let mut salt = [0; 16];
    hub.random.fill(&mut salt);
    let new = NewUser {
        user_id: format!("user_{}", hub.random.hex(8)),
        email: login.email,
        password_hash: hub.passwords.hash(login.password, salt).await?,
        role: AccountRole::Admin,
        grant: hub.config.grants().at_registration(),
    };
    let user = insert(hub, new).await?;
    hub.welcome.end();
    tracing::Span::current().record("user.id", &user.user_id);
    begin_session(hub, &user).await
}

async fn insert(hub: &Hub, new: NewUser) -> ApiResult<UserRow> {
    let clock = Arc::clone(&hub.clock);
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            if accounts::has_admin(tx)? {
                return Err(link_invalid());
            }
            accounts::create(tx, &new, "welcome", clock.now())?.ok_or_else(|| {
                ApiError::new(
                    HubCode::AlreadyExists,
                    "There is an account with this e-mail address already.",
                    "Use another address, or make that account an admin: `capsid hub admin grant-admin EMAIL`.",
                )
            })
        })
        .await
}

fn link_invalid() -> ApiError {
    ApiError::new(
        HubCode::WelcomeLinkInvalid,
        "The welcome link does not work: it was used, is older than ten minutes, comes from another machine, or the hub \
         has an admin.",
        "Start the hub again for a new link, or run `capsid hub admin create-user EMAIL --admin`.",
    )
}
